use super::global::Global;
use super::{AppError, Exit, Output, open};
use crate::app::{InitOutcome, InitRequest, init_names, init_target};
use crate::report::{diff_text, table};

/// Connect an agent, an editor or a CI host to mendit
///
/// Writes the files that the named tool reads: how to run tests through mendit, a command, the MCP
/// server, or a workflow. Existing files are extended, or left alone and named. Without a name,
/// the supported names are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit init claude                     skill, command and MCP server of Claude Code
  mendit init codex --dry-run            show the changes and write nothing
  mendit init github --test 'npm test'   a workflow that reports failed runs
  mendit init claude --remove            remove the same files and entries

Exit codes: 0 done · 2 it could not be written · 4 a file was left alone")]
pub(crate) struct Args {
    #[command(flatten)]
    request: InitRequest,
}

/// Writes or removes the files of one row of the table.
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = &args.request;
    if request.name.is_none() {
        output.text(&format!("{}\n", init_names().join("\n")))?;
        return Ok(Exit::Yes);
    }
    let files = init_target(&open(global, &())?, request)?;
    let mut exit = Exit::Yes;
    let mut rows = Vec::new();
    for file in &files {
        if request.dry_run && !file.diff.is_empty() {
            output.painted(|color| diff_text(&file.diff, color))?;
        }
        let outcome = match &file.outcome {
            InitOutcome::Written => "written".to_owned(),
            InitOutcome::Removed => "removed".to_owned(),
            InitOutcome::Unchanged => "unchanged".to_owned(),
            InitOutcome::Left(why) => {
                exit = Exit::PersonMustAct;
                format!("left alone: {why}")
            }
        };
        rows.push([file.path.clone(), outcome]);
    }
    if !request.dry_run || exit != Exit::Yes {
        output.text(&table(&rows, &[]))?;
    }
    Ok(exit)
}
