//! The commands `redact`, `explain`, `schema` and `completions`.

use clap::CommandFactory as _;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::args::{Cli, Form, Global, plain_forms};
use super::{AppError, Exit, Output, open_app, yes_if};
use crate::app::{RedactRequest, explain_word, redact_text};
use crate::model::{DOCUMENTS, code_pages, schema};

/// Print a text with its secrets redacted
#[derive(Debug, clap::Args)]
pub(crate) struct RedactArgs {
    /// Print the places of secrets (never their values) as JSON; exit with 1 if there are any
    #[arg(long)]
    findings: bool,
    #[command(flatten)]
    request: RedactRequest,
}

impl RedactArgs {
    pub(crate) fn run(&self, global: &Global, output: &Output) -> Result<Exit, AppError> {
        let masked = redact_text(&open_app(global, &(), output)?, &self.request)?;
        if !self.findings {
            output.print_bytes(&masked.bytes)?;
            return Ok(Exit::Yes);
        }
        output.print_json(&masked.findings)?;
        Ok(yes_if(masked.findings.is_empty()))
    }
}

/// Explain a code and what to do about it
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// A code such as C101, or a kind, category, level, stop reason or verdict; without one, all codes
    #[arg(value_name = "CODE")]
    word: Vec<String>,
    /// Output format
    #[arg(long, value_parser = plain_forms(), default_value = "text")]
    format: Form,
}

impl ExplainArgs {
    pub(crate) fn run(&self, _: &Global, output: &Output) -> Result<Exit, AppError> {
        if self.word.is_empty() {
            let pages = code_pages();
            output.print_document(self.format, &pages, |_, _| {
                pages.iter().map(|page| format!("{}  {}\n", page.name, page.title)).collect()
            })?;
            return Ok(Exit::Yes);
        }
        // The name of a page may have blanks in it; else each word is one.
        let pages = match explain_word(&self.word.join(" ")) {
            Ok(page) => vec![page],
            Err(error) if self.word.len() == 1 => return Err(error),
            Err(_) => self.word.iter().map(|word| explain_word(word)).collect::<Result<_, _>>()?,
        };
        for page in &pages {
            output.print_document(self.format, page, |_, _| {
                format!("{}: {}\n\n{}\n", page.name, page.title, page.body)
            })?;
        }
        Ok(Exit::Yes)
    }
}

/// Print the JSON Schema of a document
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// A document such as context; without one, all are listed
    #[arg(value_name = "DOC", value_parser = PossibleValuesParser::new(DOCUMENTS.iter().map(|row| row.name)))]
    document: Option<String>,
}

impl SchemaArgs {
    pub(crate) fn run(&self, _: &Global, output: &Output) -> Result<Exit, AppError> {
        match self.document.as_deref().and_then(schema) {
            Some(document) => output.print_json(&document.schema())?,
            None => {
                let rows = DOCUMENTS.iter().map(|row| format!("{:<16}{}\n", row.name, row.about));
                output.print_data(&rows.collect::<String>())?;
            }
        }
        Ok(Exit::Yes)
    }
}

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to write for
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(&self, _: &Global, output: &Output) -> Result<Exit, AppError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "mendit", &mut script);
        output.print_bytes(&script)?;
        Ok(Exit::Yes)
    }
}
