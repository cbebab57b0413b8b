use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::bench_document::{Format, conclude, print, read_document};
use super::global::Global;
use super::output::{to_json, write_file};
use super::values::{Where, highest_level, share};
use super::{CliError, Exit, Output, bench_merge, bench_new, bench_verify, settings};
use crate::agent::Protocol;
use crate::bench::{
    BenchAgent, BenchOptions, Fixture, FixtureError, Heading, PartitionError, compare,
    load_fixtures, parse_partition, part_of, partition_from_environment, run_fixtures, score,
};
use crate::exec::Stop;
use crate::model::{Code, FixtureOutcome, FixtureResult, Level, Partition};
use crate::policy::Redactor;

/// Say how often broken repositories with a known repair are repaired
///
/// Each fixture gets a copy of its own; nothing is written into FIXTURES. Commands come from the
/// fixtures: run only fixtures that you trust.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXITS)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// A folder of fixtures, or one of them
    #[arg(value_name = "FIXTURES", required = true)]
    fixtures: Option<PathBuf>,
    /// builtin, oracle, replay, or a command that writes patches
    #[arg(long, value_name = "AGENT", default_value = "builtin")]
    agent: String,
    /// How a command is spoken to
    #[arg(long, value_enum, default_value = "json")]
    agent_protocol: ProtocolChoice,
    /// Seconds for one call of the agent
    #[arg(long, value_name = "S", default_value = "300")]
    agent_timeout: f64,
    /// Hand this variable on to the agent: NAME or NAME=VALUE; can be given again
    #[arg(long, value_name = "NAME")]
    agent_env: Vec<String>,
    /// Replies of the agent to try for each fixture
    #[arg(long, value_name = "N", default_value = "6")]
    max_attempts: u32,
    /// The highest level of context, 0 to 3
    #[arg(long, value_name = "N", default_value = "3", value_parser = highest_level)]
    max_level: Level,
    /// Prove the fixtures instead: broken they fail, repaired they pass, undone they fail again
    #[arg(long)]
    verify: bool,
    /// Compare with what --save wrote earlier; a fixture that no longer passes is a failure
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the document here, whatever is printed
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Fail when a smaller share passes, from 0 to 1; without it only a regression, a leak or a
    /// wrong heal fails
    #[arg(long, value_name = "X", value_parser = share)]
    min_rate: Option<f64>,
    /// Run the K-th of N parts, or `all`; without it the variables of a CI matrix or a job array
    /// are read
    #[arg(long, value_name = "K/N")]
    partition: Option<String>,
    /// Fixtures at a time
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Where commands and agents run
    #[arg(long, value_enum, default_value = "auto")]
    workplace: Where,
    /// Keep the copies and the runs' folders here
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum BenchCommand {
    Merge(bench_merge::Args),
    New(bench_new::Args),
}

const EXITS: &str = "Exit codes: 0 as it should be · 1 a regression, a wrong heal, a share below \
--min-rate, or a fixture that does not hold · 2 it could not be run · 5 something forbidden has \
left · 130 interrupted";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ProtocolChoice {
    /// The packet on stdin, a repair packet on stdout
    Json,
    /// A prompt on stdin, any text with a patch on stdout
    Prompt,
    /// The agent edits a copy; the difference is the patch
    Edit,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    match &args.command {
        Some(BenchCommand::Merge(args)) => return bench_merge::run(args, output),
        Some(BenchCommand::New(args)) => return bench_new::run(args, global, output),
        None => {}
    }
    let directory = args.fixtures.as_deref().unwrap_or(Path::new("fixtures"));
    let partition = partition(args, output)?;
    let fixtures = part_of(load_fixtures(directory)?, partition);
    let stop = Stop::install()
        .map_err(|error| CliError::environment(format!("cannot listen to Ctrl-C: {error}")))?;
    let home = Home::make(args.keep.as_deref())?;
    let jobs = args.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        NonZeroUsize::get,
    );
    if args.verify {
        return bench_verify::run(&fixtures, home.path(), jobs, args.format, &stop, output);
    }
    let before = args.baseline.as_deref().map(read_document).transpose()?;
    let options = BenchOptions {
        agent: agent(args),
        agent_environment: args.agent_env.clone(),
        agent_timeout: args.agent_timeout.max(1.0),
        max_level: args.max_level,
        max_attempts: args.max_attempts,
        workplace: args.workplace.into(),
        jobs,
    };
    let redactor = Redactor::new(std::env::vars_os().filter_map(settings::utf8));
    let progress = Progress::new(&fixtures, global, output);
    let outcomes = run_fixtures(&fixtures, &options, home.path(), &redactor, &stop, &|it| {
        progress.step(it);
    });
    if stop.requested() {
        return Ok(Exit::Interrupted);
    }
    let heading = Heading {
        agent: redactor.redact(options.agent.name()).text.into_owned(),
        measures: options.agent.measures().to_owned(),
        max_level: args.max_level,
        partition,
    };
    let mut document = score(heading, outcomes);
    document.comparison = before.map(|before| compare(&document, &before));
    if let Some(path) = &args.save {
        write_file(path, to_json(&document)?)?;
    }
    print(&document, args.format, output)?;
    conclude(&document, args.min_rate, output)
}

fn agent(args: &Args) -> BenchAgent {
    match args.agent.as_str() {
        "builtin" => BenchAgent::Builtin,
        "oracle" => BenchAgent::Oracle,
        "replay" => BenchAgent::Replay,
        command => BenchAgent::Command(
            command.to_owned(),
            match args.agent_protocol {
                ProtocolChoice::Json => Protocol::Json,
                ProtocolChoice::Prompt => Protocol::Prompt,
                ProtocolChoice::Edit => Protocol::Edit,
            },
        ),
    }
}

fn partition(args: &Args, output: &Output) -> Result<Option<Partition>, CliError> {
    match args.partition.as_deref() {
        Some("all") => Ok(None),
        Some(text) => Ok(Some(parse_partition(text)?)),
        None => {
            let found = partition_from_environment(|name| std::env::var(name).ok())?;
            if let Some((part, variable)) = found {
                output.note(&format!(
                    "part {} of {} is run, as {variable} says (hint: `--partition all`)",
                    part.index, part.count
                ));
            }
            Ok(found.map(|(part, _)| part))
        }
    }
}

// Where the copies are: kept where a person says, else gone with this value.
enum Home {
    Kept(PathBuf),
    Passing(tempfile::TempDir),
}

impl Home {
    fn make(keep: Option<&Path>) -> Result<Self, CliError> {
        let failed = |error: std::io::Error| {
            CliError::new(
                Code::F105,
                format!("cannot make a folder for the copies: {}", error.kind()),
            )
        };
        let Some(keep) = keep else {
            return tempfile::tempdir().map(Self::Passing).map_err(failed);
        };
        std::fs::create_dir_all(keep).map_err(failed)?;
        let path = keep.canonicalize().map_err(failed)?;
        if path.read_dir().map_err(failed)?.next().is_some() {
            let said = format!("`{}` is not empty", path.display());
            return Err(CliError::usage(said).hint("name a new folder with `--keep DIR`"));
        }
        Ok(Self::Kept(path))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Passing(directory) => directory.path(),
        }
    }
}

// A bar on a terminal, nothing elsewhere.
struct Progress<'a> {
    output: &'a Output,
    all: usize,
    done: AtomicUsize,
    failed: AtomicUsize,
    drawn: bool,
}

impl<'a> Progress<'a> {
    fn new(fixtures: &[Fixture], global: &Global, output: &'a Output) -> Self {
        Self {
            output,
            all: fixtures.len(),
            done: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            drawn: !global.no_progress && !global.quiet && std::io::stderr().is_terminal(),
        }
    }

    fn step(&self, outcome: &FixtureOutcome) {
        const WIDTH: usize = 30;
        let done = self.done.fetch_add(1, Ordering::SeqCst) + 1;
        let failed = match outcome.result {
            FixtureResult::Failed | FixtureResult::Error => {
                self.failed.fetch_add(1, Ordering::SeqCst) + 1
            }
            _ => self.failed.load(Ordering::SeqCst),
        };
        if !self.drawn {
            return;
        }
        let full = (done * WIDTH).checked_div(self.all).unwrap_or(0).min(WIDTH);
        let bar = format!("{}{}", "#".repeat(full), ".".repeat(WIDTH - full));
        let end = if done == self.all { "\r\x1b[K" } else { "" };
        self.output.raw_error(&format!(
            "\r\x1b[K[{bar}] {done}/{} failed {failed} {}{end}",
            self.all, outcome.id
        ));
    }
}

impl From<FixtureError> for CliError {
    fn from(error: FixtureError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error {
            FixtureError::None { .. } => said.hint("`mendit bench new FROM` makes one"),
            FixtureError::Format { .. } | FixtureError::Dangling { .. } => {
                said.hint("docs/bench.md lists every key")
            }
            _ => said,
        }
    }
}

impl From<PartitionError> for CliError {
    fn from(error: PartitionError) -> Self {
        Self::new(error.code(), error.to_string()).hint("`--partition all` runs everything here")
    }
}
