//! The commands `why`, `diagnose`, `context`, `hint` and `imports`.

use std::path::Path;

use super::args::{Form, Global, comment_forms, place_forms, plain_forms};
use super::{AppError, Exit, Output, open_app, yes_if};
use crate::app::{
    ContextRequest, DiagnoseRequest, HintRequest, ImportsRequest, Input, WhyRequest, build_context,
    diagnose_log, find_cause, find_imports, is_piped, list_imports, summarise_diagnosis,
};
use crate::model::{DiagnosisDocument, FailureKind, WhyReason, WhyVerdict};
use crate::report::{
    context_markdown, context_text, diagnosis_text, imports_paths, imports_text, summary_github,
    summary_sarif, why_page,
};

/// Find the change that broke the tests
///
/// mendit reverts changes in an isolated copy and reruns the failing tests until it finds the smallest set of
/// changes whose revert makes them pass: uncommitted changes first, otherwise commits since a good one. The
/// worktree is not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/why.txt").trim_ascii_end())]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    request: WhyRequest,
    /// Output format
    #[arg(long, value_parser = comment_forms(), default_value = "text")]
    format: Form,
}

impl WhyArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let mut app = open_app(global, &self.request, output)?;
        let document = find_cause(&mut app, &self.request)?;
        output.print_comment(self.format, &document, why_page)?;
        Ok(match (document.verdict, document.reason) {
            (WhyVerdict::Caused, _) | (_, Some(WhyReason::Passes)) => Exit::Yes,
            (_, Some(WhyReason::Interrupted)) => Exit::Interrupted,
            (_, Some(WhyReason::Budget)) => Exit::TimedOut,
            (WhyVerdict::NotRun, _) => Exit::Environment,
            _ => Exit::No,
        })
    }
}

/// Classify a failure from its log
///
/// Exits with 1 when the log does not explain the failure, and with 0 when nothing failed.
#[derive(Debug, clap::Args)]
pub(crate) struct DiagnoseArgs {
    #[command(flatten)]
    request: DiagnoseRequest,
    /// Output format
    #[arg(long, value_parser = place_forms(), default_value = "text")]
    format: Form,
}

impl DiagnoseArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let app = open_app(global, &(), output)?;
        let mut request = self.request.clone();
        if request.log.is_none() && request.junit.is_empty() && is_piped() {
            request.log = Some(Input::standard());
        }
        let found = diagnose_log(&app, &request)?;
        let diagnosis = &found.diagnosis;
        let document = DiagnosisDocument::new(diagnosis);
        match self.format {
            Form::Github => {
                output.print_text(&summary_github(&summarise_diagnosis(&app, &found)?))?;
            }
            Form::Sarif => {
                output.print_json(&summary_sarif(&summarise_diagnosis(&app, &found)?))?;
            }
            format => output.print_document(format, &document, |_, color| {
                diagnosis_text(diagnosis, color)
            })?,
        }
        Ok(yes_if(diagnosis.kind != FailureKind::Unknown))
    }
}

/// Build the packet for a failure
///
/// Diagnoses the log, chooses the level and selects the files. Without a target, the files are taken from the log. The
/// packet is printed (`--format json`, `markdown`) or written to `--out DIR`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/context.txt").trim_ascii_end())]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    request: ContextRequest,
    /// Output format
    #[arg(long, value_parser = comment_forms(), default_value = "text", help_heading = "Result")]
    format: Form,
}

impl ContextArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let app = open_app(global, &self.request, output)?;
        let mut targets = self.request.targets.iter();
        let log = targets.find(|target| Path::new(target).extension() == Some("log".as_ref()));
        if let Some(target) = log.filter(|_| self.request.log.is_none()) {
            output.note(&format!(
                "`{target}` is shown as a file; `mendit context --log {target}` reads it as the log"
            ));
        }
        let packed = build_context(&app, &self.request)?;
        let context = &packed.context;
        match self.format {
            Form::Json => output.print_json(context)?,
            Form::Markdown => output.print_data(&context_markdown(context, &packed.packet))?,
            _ => output.print_text(&context_text(context, packed.prompt_tokens()))?,
        }
        Ok(Exit::Yes)
    }
}

/// Suggest imports for undefined names
///
/// Exits with 1 when nothing is suggested or, with `--fix`, no import is certain enough for a patch.
#[derive(Debug, clap::Args)]
pub(crate) struct HintArgs {
    #[command(flatten)]
    request: HintRequest,
    /// Output format
    #[arg(long, value_parser = plain_forms(), default_value = "text")]
    format: Form,
}

impl HintArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let app = open_app(global, &(), output)?;
        let request = &self.request;
        if let Some(file) = request.names.iter().find(|name| Path::new(name).is_file()) {
            let other = request.names.iter().find(|name| *name != file);
            let name = other.map_or("NAME", String::as_str);
            let error = AppError::usage(format!("expected a name, but `{file}` is a file"));
            return Err(error
                .hint(format!(
                    "`mendit hint {name} --file {file}` looks for a name"
                ))
                .hint(format!("`mendit hint --log {file}` reads a log")));
        }
        let hinted = find_imports(&app, request)?;
        let is_patch = request.fix || request.apply;
        if is_patch && hinted.found && self.format == Form::Text {
            output.print_data(hinted.document.patch.as_deref().unwrap_or_default())?;
        } else {
            if is_patch && !hinted.found {
                output.note("no import is certain enough for a patch");
            }
            output.print_document(self.format, &hinted.document, |_, _| hinted.lines())?;
        }
        Ok(yes_if(hinted.found))
    }
}

/// List what files import and what imports them
#[derive(Debug, clap::Args)]
pub(crate) struct ImportsArgs {
    #[command(flatten)]
    request: ImportsRequest,
    /// Output format
    #[arg(long, value_parser = plain_forms(), default_value = "text")]
    format: Form,
}

impl ImportsArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let document = list_imports(&open_app(global, &(), output)?, &self.request)?;
        let is_list = self.request.tests;
        output.print_document(self.format, &document, |_, _| match is_list {
            true => imports_paths(&document),
            false => imports_text(&document),
        })?;
        Ok(Exit::Yes)
    }
}
