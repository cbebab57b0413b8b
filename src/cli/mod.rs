//! Layer 11: the command line. The only module that names clap, stdout and stderr.

mod analyze;
mod args;
mod bench;
mod fix;
mod git_apply;
mod output;
mod patch;
mod progress;
mod reference;
mod relay;
mod report;
mod run;
mod setup;

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::num::NonZeroU16;
use std::panic::{self, UnwindSafe};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Global};
use output::Output;

use crate::app::settings::{self, Settings};
use crate::app::{self, App, AppError, AppOptions, Flags};
use crate::model::{AtPath as _, Code, Exit};

/// Parses the command line, runs the command, prints what went wrong, and says how it ended.
pub fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|arg| arg == "__sup") {
        return u8::try_from(app::supervise()).unwrap_or(70).into();
    }
    app::guard_environment();
    if let Some(program) = app::own_program() {
        app::set_supervisor(program);
    }
    announce_bugs();
    catch_bugs(start)
}

// Says of a panic that it is a bug of ours.
fn announce_bugs() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |found| {
        // Without standard error there is nowhere to print it.
        let _ = io::stderr().write_all(BUG.as_bytes());
        before(found);
    }));
}

// Runs the program; a panic in it ends with 70.
fn catch_bugs(program: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    panic::catch_unwind(program).unwrap_or(ExitCode::from(70))
}

const BUG: &str = include_str!("help/bug.txt");

/// Reads a command line, the program's name first, as [`main`] does, and runs nothing.
///
/// # Errors
/// The message that [`main`] would print when the line is not understood.
pub fn parse<T: AsRef<OsStr>>(line: &[T]) -> Result<(), String> {
    match Cli::try_parse_from(line.iter().map(AsRef::as_ref)) {
        Err(error) if error.use_stderr() => Err(error.to_string()),
        _ => Ok(()),
    }
}

fn start() -> ExitCode {
    let mut cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return args::report_usage(&error),
    };
    let entered = enter_directory(cli.global.directory.as_deref());
    let printing = print_settings(&cli.global);
    cli.global.threads = cli.global.threads.or(printing.threads);
    let output = Output::new(&cli.global, printing.color);
    let started = entered
        .and_then(|()| app::find_settings(cli.global.config.as_deref()))
        .and_then(|()| output::start_log(cli.global.verbose))
        .and_then(|()| set_threads(cli.global.threads))
        .and_then(|()| run(&cli, &output));
    match started {
        Ok(exit) => exit.code().into(),
        Err(error) => output.print_error(&error).code().into(),
    }
}

fn run(cli: &Cli, output: &Output) -> Result<Exit, AppError> {
    let Some(command) = &cli.command else {
        output.print_aside(|_| args::FIRST.to_owned());
        return Ok(Exit::Environment);
    };
    command.run(&cli.global, output)
}

/// Opens the repository and settings of a command; its flags override the settings.
fn open_app<'a>(
    global: &Global,
    flags: &dyn Flags,
    output: &'a Output,
) -> Result<App<'a>, AppError> {
    let options = AppOptions {
        directory: ".".into(),
        settings: global.settings_choice(),
    };
    App::open(&options, output, |settings| {
        take_global(global, settings);
        flags.merge(settings);
    })
}

// Maps an answer to an exit code.
fn yes_if(answer: bool) -> Exit {
    if answer { Exit::Yes } else { Exit::No }
}

// How to print, before anything else is known: the repository has no say, and settings that are
// wrong are reported by the command that needs them.
fn print_settings(global: &Global) -> settings::Output {
    let mut settings = app::own_settings(global.config.as_deref());
    take_global(global, &mut settings);
    settings.output.clone()
}

fn take_global(global: &Global, settings: &mut Settings) {
    let threads = global.threads.or(settings.output.threads);
    if threads != settings.output.threads {
        settings.output.threads = threads;
        settings.say_flag("output.threads");
    }
    if let Some(color) = global.color {
        settings.output.color = color;
        settings.say_flag("output.color");
    }
}

// As `git -C`: every relative path is then relative to that directory.
fn enter_directory(directory: Option<&std::path::Path>) -> Result<(), AppError> {
    let Some(directory) = directory else {
        return Ok(());
    };
    std::env::set_current_dir(directory).at(directory).map_err(|error| {
        AppError::new(Code::U302, format!("cannot enter {error}"))
            .hint("`-C DIR` is relative to the current directory and must exist")
    })
}

fn set_threads(threads: Option<NonZeroU16>) -> Result<(), AppError> {
    let started = threads.map_or(Ok(()), |threads| app::set_threads(threads.get().into()));
    started.map_err(|error| AppError::environment(format!("cannot start threads: {error}")))
}

#[cfg(test)]
mod tests {
    use std::process::ExitCode;

    use super::catch_bugs;

    #[test]
    fn ends_with_70_after_a_panic() {
        assert_eq!(catch_bugs(|| ExitCode::from(3)), ExitCode::from(3));
        assert_eq!(catch_bugs(|| panic!("on purpose")), ExitCode::from(70));
    }
}
