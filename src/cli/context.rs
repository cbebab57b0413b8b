use std::path::Path;

use super::global::Global;
use super::values::{COMMENT, Form};
use super::{AppError, Exit, Output, open};
use crate::app::{ContextRequest, build_context};
use crate::report::{context_markdown, context_text};

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let app = open(global, &args.request)?;
    let mut targets = args.request.targets.iter();
    let log = targets.find(|it| Path::new(it).extension() == Some("log".as_ref()));
    if let Some(target) = log.filter(|_| args.request.log.is_none()) {
        output.note(&format!(
            "`{target}` is shown as a file; `mendit context --log {target}` reads it as the log"
        ));
    }
    let request = ContextRequest {
        shown: args.format == Form::Text,
        ..args.request.clone()
    };
    let packed = build_context(&app, &request, output)?;
    let (context, packet) = (&packed.context, &packed.packet);
    match args.format {
        Form::Json => output.json(context)?,
        Form::Markdown => output.data(&context_markdown(context, packet))?,
        _ => output.prose(&context_text(context, packed.prompt_tokens()))?,
    }
    Ok(Exit::Yes)
}

/// Build the packet for a failure
///
/// It diagnoses the log, chooses the level and picks the files. Without a target the log says which files the failure is about. The packet is printed
/// (`--format json`) and written to `--out DIR`; in text format it goes to `.mendit/context/`
/// of the worktree when no directory is named.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    request: ContextRequest,
    /// How to print it
    #[arg(long, value_parser = COMMENT, default_value = "text", help_heading = "Result")]
    format: Form,
}

const EXAMPLES: &str = "Examples:
  mendit context                                    the last run, as a table
  mendit context --format markdown | my-agent       the last run, as a prompt
  pnpm test 2>&1 | mendit context --log -           what is piped in
  mendit context --issue issue.md                   where an issue leads
  mendit context --max-tokens 20000 src/app.ts      a file, in so many tokens";
