//! Floor 11: the command line. The only module that names clap, stdout and stderr.

mod agent;
mod apply;
mod args;
mod ask_model;
mod bench;
mod bench_mine;
mod bug;
mod check;
mod ci;
mod clean;
mod completions;
mod config;
mod context;
mod diagnose;
mod explain;
mod fix;
mod fix_ci;
mod git_apply;
mod global;
mod heal;
mod heartbeat;
mod hint;
mod hook;
mod imports;
mod init;
mod input;
mod man;
mod mcp;
mod mistakes;
mod output;
mod patch_args;
mod redact;
mod repair;
mod repair_choices;
mod report;
mod run;
mod schema;
mod split;
mod stats;
mod values;
mod why;

use std::ffi::OsStr;
use std::num::NonZeroU16;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use global::Global;
use output::Output;

use crate::app::settings::{self, Settings};
use crate::app::{self, App, AppError, AppOptions, SettingsChoice};
use crate::model::{Code, Exit};

/// Parses the command line, runs the command, prints what went wrong, and says how it ended.
#[must_use]
pub fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|it| it == "__sup") {
        return u8::try_from(app::supervise()).unwrap_or(70).into();
    }
    app::guard_environment();
    if let Some(program) = app::own_program() {
        app::set_supervisor(program);
    }
    bug::announce();
    bug::caught(start)
}

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
        Err(error) => return args::report(&error),
    };
    let entered = enter(cli.global.directory.as_deref());
    let printing = printing(&cli.global);
    let threads = printing.threads.map(|it| usize::from(it.get()));
    cli.global.threads = cli.global.threads.or(threads);
    let output = Output::new(&cli.global, printing.color);
    let started = entered
        .and_then(|()| app::find_settings(cli.global.config.as_deref()))
        .and_then(|()| set_threads(cli.global.threads))
        .and_then(|()| run(&cli, &output));
    match started {
        Ok(exit) => exit.code().into(),
        Err(error) => output.fail(&error).code().into(),
    }
}

fn run(cli: &Cli, output: &Output) -> Result<Exit, AppError> {
    let global = &cli.global;
    let Some(command) = &cli.command else {
        output.aside(|_, _| args::FIRST.to_owned());
        return Ok(Exit::Environment);
    };
    match command {
        Command::Agent(args) => agent::run(args, global, output),
        Command::Apply(args) => apply::run(args, global, output),
        Command::Bench(args) => bench::run(args, global, output),
        Command::Check(args) => check::run(args, global, output),
        Command::Clean(args) => clean::run(args, global, output),
        Command::Config(args) => config::run(args, global, output),
        Command::Context(args) => context::run(args, global, output),
        Command::Diagnose(args) => diagnose::run(args, global, output),
        Command::Fix(args) => fix::run(args, global, output),
        Command::GitApply(args) => git_apply::run(args, global, output),
        Command::Explain(args) => explain::run(args, output),
        Command::Repair(args) => repair::run(args, global, output),
        Command::Report(args) => report::run(args, global, output),
        Command::Redact(args) => redact::run(args, global, output),
        Command::Hint(args) => hint::run(args, global, output),
        Command::Imports(args) => imports::run(args, global, output),
        Command::Doctor(args) => heal::run(args, global, output),
        Command::Mcp(args) => mcp::run(args, global, output),
        Command::Schema(args) => schema::run(args, output),
        Command::Init(args) => init::run(args, global, output),
        Command::AskModel(args) => ask_model::run(args, output),
        Command::Hook(args) => hook::run(args, global, output),
        Command::Ci(args) => ci::run(args, output),
        Command::FixCi(args) => fix_ci::run(args, global, output),
        Command::Completions(args) => completions::run(args, Cli::command(), output),
        Command::Man(args) => man::run(args, Cli::command(), output),
        Command::Run(args) => run::run(args, global, output),
        Command::Split(args) => split::run(args, global, output),
        Command::Stats(args) => stats::run(args, output),
        Command::Why(args) => why::run(args, global, output),
    }
}

/// What the command's task stands on; `merge` puts its flags before what the settings say.
fn open(global: &Global, merge: impl FnOnce(&mut Settings)) -> Result<App, AppError> {
    let options = AppOptions {
        directory: ".".into(),
        settings: choice(global),
    };
    App::open(&options, |settings| {
        take_global(global, settings);
        merge(settings);
    })
}

// What the flags say of the settings' file.
fn choice(global: &Global) -> SettingsChoice {
    SettingsChoice {
        file: global.config.clone(),
        trust: global.trust_config,
    }
}

// How to print, before anything else is known: the repository has no say, and settings that are
// wrong are told by the command that needs them.
fn printing(global: &Global) -> settings::Output {
    let mut settings = app::own_settings(global.config.as_deref());
    take_global(global, &mut settings);
    settings.output.clone()
}

fn take_global(global: &Global, settings: &mut Settings) {
    let threads = global
        .threads
        .and_then(|it| NonZeroU16::new(u16::try_from(it).ok()?));
    if threads.is_some() && threads != settings.output.threads {
        settings.output.threads = threads;
        settings.say_flag("output.threads");
    }
    if let Some(color) = global.color {
        settings.output.color = color;
        settings.say_flag("output.color");
    }
}

// As `git -C`: every relative path is then relative to that directory.
fn enter(directory: Option<&std::path::Path>) -> Result<(), AppError> {
    let Some(directory) = directory else {
        return Ok(());
    };
    std::env::set_current_dir(directory).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such folder".to_owned(),
            std::io::ErrorKind::NotADirectory => "it is a file".to_owned(),
            kind => kind.to_string(),
        };
        AppError::new(
            Code::U304,
            format!("cannot enter `{}`: {why}", directory.display()),
        )
        .hint("`-C DIR` starts where you stand, and names a folder that is there")
    })
}

fn set_threads(threads: Option<usize>) -> Result<(), AppError> {
    let Some(threads) = threads else {
        return Ok(());
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| AppError::environment(format!("cannot start {threads} threads: {error}")))
}
