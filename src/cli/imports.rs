use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::{ImportsRequest, list_imports};
use crate::report::{imports_paths, imports_text};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    request: ImportsRequest,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let document = list_imports(&open(global, &())?, &args.request, output)?;
    let text = if args.request.tests {
        imports_paths
    } else {
        imports_text
    };
    output.document(args.format, &document, text)?;
    Ok(Exit::Yes)
}
