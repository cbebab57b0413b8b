use std::path::Path;

use super::global::Global;
use super::{AppError, Exit, Output, open};
use crate::app::settings::{FILE_NAMES, commented_defaults};
use crate::app::{SET_UP_AGENTS, SetUp, set_up_agent, write_file};
use crate::model::Code;
use crate::report::table;

/// Set up an agent, or write a configuration file with every default, commented out
///
/// With the name of an agent it writes what that agent reads of this repository: how to run tests
/// through mendit, a command `fix-tests`, its hook and the MCP server, as far as it has such things. A
/// file that is there is added to, or left alone and told.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mendit init claude      skill, command, hook and MCP server of Claude Code
  mendit init codex       AGENTS.md, a skill, a hook and the MCP server
  mendit init             mendit.toml with every default, commented out")]
pub(crate) struct Args {
    /// The agent; without one a configuration file is written
    #[arg(value_name = "AGENT", value_parser = clap::builder::PossibleValuesParser::new(SET_UP_AGENTS))]
    agent: Option<String>,
    /// Replace files of the same name that differ
    #[arg(long, requires = "agent")]
    force: bool,
    /// Print the configuration file instead of writing it
    #[arg(long, conflicts_with = "agent")]
    stdout: bool,
}

/// Sets an agent up, or writes a configuration file that says every default, each commented out.
pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    if let Some(name) = &args.agent {
        let app = open(global, &())?;
        let mut left = false;
        let mut rows = Vec::new();
        for file in set_up_agent(&app, name, args.force)? {
            let message = match file.done {
                SetUp::Written => "written".to_owned(),
                SetUp::Added => "added to".to_owned(),
                SetUp::Same => "as it shall be".to_owned(),
                SetUp::Left(why) => {
                    left = true;
                    format!("left alone: {why}")
                }
            };
            rows.push([file.path, message]);
        }
        output.text(&table(&rows, &[]))?;
        return Ok(if left { Exit::PersonMustAct } else { Exit::Yes });
    }
    let text = commented_defaults();
    if args.stdout {
        output.data(&text)?;
        return Ok(Exit::Yes);
    }
    let there = |name: &&&str| Path::new(name).symlink_metadata().is_ok();
    if let Some(name) = FILE_NAMES.iter().find(there) {
        return Err(
            AppError::new(Code::U105, format!("`{name}` is already there"))
                .hint("`mendit init --stdout` prints the defaults"),
        );
    }
    let name = FILE_NAMES[0];
    write_file(Path::new(name), text)?;
    output.note(&format!("wrote {name}"));
    Ok(Exit::Yes)
}
