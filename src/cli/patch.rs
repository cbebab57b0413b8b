//! The commands `check` and `apply`.

use std::path::PathBuf;

use super::args::{Form, Global, place_forms};
use super::{AppError, Exit, Output, open_app};
use crate::app::{
    Input, Judged, PatchRequest, Recovered, Target, apply_patch, check_batch, check_patch,
    recover_apply, to_json_line, write_file, write_objects,
};
use crate::report::{patch_github, patch_sarif, patch_text};

/// What `check` and `apply` share.
#[derive(Debug, clap::Args)]
pub(crate) struct PatchArgs {
    /// The patch, in any accepted format; `-` reads standard input
    #[arg(value_name = "PATCH")]
    patch: Option<Input>,
    #[command(flatten)]
    request: PatchRequest,
    /// Write the same change as a git patch with true line numbers and blob ids
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_parser = place_forms(), default_value = "text")]
    format: Form,
}

/// Validate a patch without applying it
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    patch: PatchArgs,
    /// Read JSON lines `{"id", "patch"}` and write one verdict per line
    #[arg(long, conflicts_with = "three_way")]
    batch: bool,
}

/// Validate a patch, then apply it atomically
#[derive(Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    patch: PatchArgs,
    /// Change only the index
    #[arg(long, conflicts_with_all = ["index", "tree", "commit"])]
    cached: bool,
    /// Write the tree object, print its id and change nothing else
    #[arg(long, conflicts_with_all = ["index", "commit"])]
    tree: bool,
    /// Write a commit on top of `--rev` or HEAD, print its id and change nothing else
    #[arg(long, requires = "message", conflicts_with = "index")]
    commit: bool,
    /// The message of --commit
    #[arg(short = 'm', long, value_name = "MSG", requires = "commit")]
    message: Option<String>,
    /// Undo an interrupted apply
    #[arg(long, conflicts_with = "patch")]
    recover: bool,
    /// Validate and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl CheckArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let request = self.patch.build_request()?;
        let app = open_app(global, &self.patch.request, output)?;
        if self.batch {
            let mut worst = Exit::Yes;
            check_batch(&app, &request, &mut |answers| {
                let mut text = String::new();
                for answer in &answers {
                    text.push_str(&to_json_line(answer)?);
                    if answer.verdict.exit() != Exit::Yes {
                        worst = Exit::No;
                    }
                }
                output.print_data(&text)
            })?;
            return Ok(worst);
        }
        let mut judged = check_patch(&app, &request)?;
        self.patch.report(&request.patch, &mut judged, output)?;
        let exit = judged.verdict.exit();
        // The process ends here, because freeing the memory of a large patch takes time.
        std::mem::forget(judged);
        Ok(exit)
    }
}

impl ApplyArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let patch = &self.patch;
        let app = open_app(global, &patch.request, output)?;
        if self.recover {
            output.print_text(match recover_apply(&app)? {
                Recovered::Nothing => "nothing was interrupted\n",
                Recovered::Undone => "rolled back the interrupted apply; all files are as before\n",
            })?;
            return Ok(Exit::Yes);
        }
        if self.tree || self.commit {
            let request = patch.build_request()?;
            let (mut judged, written) = write_objects(&app, &request, self.message.as_deref())?;
            patch.report(&request.patch, &mut judged, output)?;
            if let Some(id) = written.filter(|_| patch.format == Form::Text) {
                output.print_data(&format!("{id}\n"))?;
            }
            return Ok(judged.verdict.exit());
        }
        if patch.request.rev.is_some() && !self.dry_run {
            return Err(AppError::usage("`--rev` goes with `--tree` or `--commit`"));
        }
        let (target, place) = match () {
            () if self.dry_run => (Target::DryRun, None),
            () if self.cached => (Target::Cached, Some("the index")),
            () if patch.request.index => (Target::Index, Some("the worktree and the index")),
            () => (Target::Worktree, Some("the worktree")),
        };
        let mut request = patch.build_request()?;
        request.index |= self.cached;
        let mut judged = apply_patch(&app, &request, target)?;
        patch.report(&request.patch, &mut judged, output)?;
        if patch.format == Form::Text {
            let wrote = judged.verdict.verdict.applies() && !judged.changes.is_empty();
            if let Some(place) = place.filter(|_| wrote) {
                output.print_data(&format!("applied to {place}\n"))?;
            }
        }
        Ok(judged.verdict.exit())
    }
}

impl PatchArgs {
    // Returns the patch and how to validate it.
    fn build_request(&self) -> Result<PatchRequest, AppError> {
        let standard = Input::standard();
        Ok(PatchRequest {
            patch: self.patch.as_ref().unwrap_or(&standard).bytes()?,
            ..self.request.clone()
        })
    }

    // Prints the verdict and writes `--output`.
    fn report(&self, input: &[u8], judged: &mut Judged, output: &Output) -> Result<(), AppError> {
        let name = match self.patch.as_ref().map(Input::name) {
            None | Some("-") => "<stdin>",
            Some(name) => name,
        };
        if judged.verdict.verdict.applies() {
            if let Some(file) = &self.output {
                write_file(file, judged.canonical_patch())?;
            }
            if self.format == Form::Json {
                judged.verdict.canonical_patch = String::from_utf8(judged.canonical_patch()).ok();
            }
        }
        let verdict = &judged.verdict;
        match self.format {
            Form::Sarif => output.print_json(&patch_sarif(verdict, name)),
            format => output.print_document(format, verdict, |format, color| match format {
                Form::Github => patch_github(verdict, name),
                _ => patch_text(verdict, name, input, color),
            }),
        }
    }
}
