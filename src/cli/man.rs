use std::path::PathBuf;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::args::Cli;
use super::global::Global;
use super::{AppError, Exit, Output};
use crate::app::write_file;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write the pages of all commands here, instead of printing the first
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the manual page, or writes one for each command.
pub(crate) fn run(args: &Args, _: &Global, output: &Output) -> Result<Exit, AppError> {
    let mut program = Cli::command();
    program.build();
    let Some(directory) = &args.out else {
        output.bytes(&page(program)?)?;
        return Ok(Exit::Yes);
    };
    let mut open = vec![program];
    while let Some(command) = open.pop() {
        let named = |it: &&Command| it.get_name() != "help" && !it.is_hide_set();
        open.extend(command.get_subcommands().filter(named).cloned());
        let name = command.get_display_name().unwrap_or(command.get_name());
        let file = directory.join(format!("{name}.1"));
        write_file(&file, page(command)?)?;
    }
    Ok(Exit::Yes)
}

fn page(command: Command) -> Result<Vec<u8>, AppError> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let version = env!("CARGO_PKG_VERSION");
    let head = format!(".TH {name} 1 \"{}\" \"mendit {version}\"", date());
    let mut page = Vec::new();
    Man::new(command)
        .render(&mut page)
        .map_err(|error| AppError::environment(format!("cannot write the page: {error}")))?;
    // The generator leaves the date out without its place, and breaks lines around empty ones.
    let page = String::from_utf8_lossy(&page).replace("\n.br\n\n.br\n", "\n.sp\n");
    let lines = page.lines().map(|line| {
        if line.starts_with(".TH ") {
            head.as_str()
        } else {
            line
        }
    });
    Ok((lines.collect::<Vec<_>>().join("\n") + "\n").into_bytes())
}

// Empty before the first release.
const RELEASED: &str = env!("MENDIT_RELEASED");

// The day of the sources, as whoever prints the page or built the program names it: the same pages
// come of the same sources. Else the day of the last release.
fn date() -> String {
    let seconds = std::env::var("SOURCE_DATE_EPOCH").ok();
    let seconds = seconds.as_deref().or(option_env!("SOURCE_DATE_EPOCH"));
    let day = seconds
        .and_then(|seconds| jiff::Timestamp::from_second(seconds.trim().parse().ok()?).ok())
        .map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date().to_string());
    day.unwrap_or_else(|| RELEASED.to_owned())
}
