use std::io::IsTerminal as _;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::global::Global;
use super::values::{Flag as _, share};
use super::{AppError, Exit, Output, bench_mine, open};
use crate::app::settings::{RepairLevel, Seconds, Settings};
use crate::app::{
    App, BenchRequest, NewFixtureRequest, ProofDocument, RealSets, bench_failure,
    benches_all_agents, broken_fixtures, compare_benches, make_fixture, merge_bench,
    prove_fixtures, run_all_agents, run_bench,
};
use crate::model::{AgentProtocol, BenchDocument, FixtureOutcome, FixtureResult, WorkplaceMode};
use crate::report::{
    Parts, agents_markdown, agents_text, bench_markdown, bench_text, pairs_markdown, pairs_text,
    parts_github, parts_slurm,
};

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
    #[command(flatten)]
    how: How,
    /// Prove the fixtures instead: broken they fail, repaired they pass, undone they fail again
    #[arg(long)]
    verify: bool,
}

/// Who is asked, within what, and how it is told.
#[derive(Debug, clap::Args)]
struct How {
    /// builtin, oracle, replay, all (of these), or a command that writes patches
    /// [default: builtin]
    /// [setting: bench.agent]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// How a command is spoken to [default: json] [setting: agent.protocol]
    #[arg(long, value_enum)]
    agent_protocol: Option<AgentProtocol>,
    /// Seconds for one call of the agent [default: 300] [setting: agent.timeout]
    #[arg(long, value_name = "S")]
    agent_timeout: Option<Seconds>,
    /// Hand this variable on to the agent: NAME or NAME=VALUE; can be given again
    /// [setting: agent.env]
    #[arg(long, value_name = "NAME")]
    agent_env: Vec<String>,
    /// Replies of the agent to try for each fixture [default: 6] [setting: bench.max-attempts]
    #[arg(long, value_name = "N")]
    max_attempts: Option<u32>,
    /// The highest level of context, 0 to 3 [default: 3] [setting: bench.max-level]
    #[arg(long, value_name = "N")]
    max_level: Option<RepairLevel>,
    /// Estimated tokens of the files of each packet; 0 is no limit [setting: context.max-tokens]
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
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
    /// Run the K-th of N parts, or `all`; without it the variables of a job array of Slurm are
    /// read
    #[arg(long, value_name = "K/N")]
    partition: Option<String>,
    /// Fixtures at a time [setting: bench.jobs]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Where commands and agents run [default: auto] [setting: repair.workplace]
    #[arg(long, value_enum)]
    workplace: Option<WorkplaceMode>,
    /// Keep the copies and the runs' folders here
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum BenchCommand {
    Compare(CompareArgs),
    Merge(MergeArgs),
    Mine(bench_mine::Args),
    New(NewArgs),
    Parts(PartsArgs),
    Real(RealArgs),
}

const EXITS: &str = "Exit codes: 0 as it should be · 1 a regression, a wrong heal, a trick that \
was taken for a repair, a share below --min-rate, or a fixture that does not hold · 2 it could not be run · 5 something forbidden has \
left · 130 interrupted";

/// How a document is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    match &args.command {
        Some(BenchCommand::Compare(args)) => return compare(args, output),
        Some(BenchCommand::Merge(args)) => return merge_parts(args, output),
        Some(BenchCommand::Mine(args)) => return bench_mine::run(args, global, output),
        Some(BenchCommand::New(args)) => return new_fixture(args, global, output),
        Some(BenchCommand::Parts(args)) => return print_parts(args, output),
        Some(BenchCommand::Real(args)) => return real_fixes(args, global, output),
        None => {}
    }
    let request = BenchRequest {
        fixtures: args.fixtures.clone().unwrap_or_else(|| "fixtures".into()),
        ..args.how.request()
    };
    if args.verify {
        let app = open(global, |settings| args.how.merge(settings))?;
        return verify(&app, &request, args.how.format, output);
    }
    perform(&args.how, &request, global, output)
}

/// Runs what is asked for and prints it.
fn perform(
    how: &How,
    request: &BenchRequest,
    global: &Global,
    output: &Output,
) -> Result<Exit, AppError> {
    let app = open(global, |settings| how.merge(settings))?;
    let bar = Bar::new(global, output);
    let told = |outcome: &FixtureOutcome, all| bar.step(outcome, all);
    if benches_all_agents(&app) {
        return all_agents(&app, request, how, &told, output);
    }
    match run_bench(&app, request, &told, output)? {
        Some(document) => conclude(&document, how.format, how.min_rate, output),
        None => Ok(Exit::Interrupted),
    }
}

impl How {
    /// What is asked for, without what it is asked of.
    fn request(&self) -> BenchRequest {
        BenchRequest {
            baseline: self.baseline.clone(),
            save: self.save.clone(),
            partition: self.partition.clone(),
            keep: self.keep.clone(),
            ..BenchRequest::default()
        }
    }

    fn merge(&self, settings: &mut Settings) {
        self.agent.over(&mut settings.bench.agent);
        self.max_attempts.over(&mut settings.bench.max_attempts);
        self.max_level.over(&mut settings.bench.max_level);
        self.max_tokens.over(&mut settings.context.max_tokens);
        self.jobs.over(&mut settings.bench.jobs);
        self.agent_protocol.over(&mut settings.agent.protocol);
        self.workplace.over(&mut settings.repair.workplace);
        self.agent_timeout.over(&mut settings.agent.timeout);
        settings.agent.env.extend_from_slice(&self.agent_env);
    }
}

// The built-in agents beside each other; the first that is not as it should be says so.
fn all_agents(
    app: &App,
    request: &BenchRequest,
    args: &How,
    told: &(dyn Fn(&FixtureOutcome, usize) + Sync),
    output: &Output,
) -> Result<Exit, AppError> {
    if !matches!(args.format, Format::Text | Format::Json | Format::Markdown) {
        return Err(AppError::usage(
            "`--agent all` prints text, json or markdown",
        ));
    }
    if args.min_rate.is_some() {
        let said = "`--min-rate` is asked of one agent";
        return Err(AppError::usage(said).hint("name it with `--agent`"));
    }
    let Some((documents, agents)) = run_all_agents(app, request, told, output)? else {
        return Ok(Exit::Interrupted);
    };
    match args.format {
        Format::Json => output.json(&agents)?,
        Format::Markdown => output.text(&agents_markdown(&agents))?,
        Format::Text => output.text(&agents_text(&agents))?,
    }
    if let Some(error) = documents.iter().find_map(|it| bench_failure(it, None)) {
        return Err(error);
    }
    let broken = documents.iter().map(broken_fixtures).sum::<usize>();
    Ok(if broken > 0 {
        Exit::Environment
    } else {
        Exit::Yes
    })
}

/// Prints a document and gives its exit code.
fn conclude(
    document: &BenchDocument,
    format: Format,
    min_rate: Option<f64>,
    output: &Output,
) -> Result<Exit, AppError> {
    match format {
        Format::Text => output.text(&bench_text(document))?,
        Format::Json => output.json(document)?,
        Format::Markdown => output.text(&bench_markdown(document))?,
    }
    if let Some(error) = bench_failure(document, min_rate) {
        return Err(error);
    }
    let broken = broken_fixtures(document);
    if broken > 0 {
        output.note(&format!("fixtures that could not be run: {broken}"));
        return Ok(Exit::Environment);
    }
    Ok(Exit::Yes)
}

// A bar on a terminal, nothing elsewhere.
struct Bar<'a> {
    output: &'a Output,
    done: AtomicUsize,
    failed: AtomicUsize,
    drawn: bool,
}

impl<'a> Bar<'a> {
    fn new(global: &Global, output: &'a Output) -> Self {
        Self {
            output,
            done: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            drawn: !global.no_progress && !global.quiet && std::io::stderr().is_terminal(),
        }
    }

    fn step(&self, outcome: &FixtureOutcome, all: usize) {
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
        let full = (done * WIDTH).checked_div(all).unwrap_or(0).min(WIDTH);
        let bar = format!("{}{}", "#".repeat(full), ".".repeat(WIDTH - full));
        let end = if done == all { "\r\x1b[K" } else { "" };
        self.output.raw_error(
            format!(
                "\r\x1b[K[{bar}] {done}/{} failed {failed} {}{end}",
                all, outcome.id
            )
            .as_bytes(),
        );
    }
}

/// Compare two benches case by case.
///
/// Takes two documents that `--save` wrote, of two agents or two versions over the same cases, and
/// says which cases only one of them repaired and how likely such a difference is by chance alone
/// (the exact test for paired shares).
#[derive(Debug, clap::Args)]
struct CompareArgs {
    /// The first document
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The second
    #[arg(value_name = "B")]
    second: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: PairsFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PairsFormat {
    Text,
    Json,
    Markdown,
}

fn compare(args: &CompareArgs, output: &Output) -> Result<Exit, AppError> {
    let pairs = compare_benches(&args.first, &args.second)?;
    match args.format {
        PairsFormat::Text => output.text(&pairs_text(&pairs))?,
        PairsFormat::Json => output.json(&pairs)?,
        PairsFormat::Markdown => output.text(&pairs_markdown(&pairs))?,
    }
    Ok(Exit::Yes)
}

/// Join the documents that `--save` wrote in each part of one run.
#[derive(Debug, clap::Args)]
struct MergeArgs {
    /// The documents of all parts, in any order
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Compare with what --save wrote earlier
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the joined document here
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Fail when a smaller share passes, from 0 to 1
    #[arg(long, value_name = "X")]
    min_rate: Option<f64>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

fn merge_parts(args: &MergeArgs, output: &Output) -> Result<Exit, AppError> {
    let document = merge_bench(&args.files, args.baseline.as_deref(), args.save.as_deref())?;
    conclude(&document, args.format, args.min_rate, output)
}

/// Print what runs a bench in N parts on many machines.
///
/// Each part is `mendit bench ... --partition K/N --save part-K.json`; `mendit bench merge` joins them
/// and names a part that is missing, which is then run alone. Nothing is run here.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mendit bench parts --count 8 --engine github -- real benches/real --clones clones --agent oracle")]
struct PartsArgs {
    /// How many parts
    #[arg(long, value_name = "N")]
    count: NonZeroU32,
    /// What runs them
    #[arg(long, value_enum)]
    engine: Engine,
    /// What follows `mendit bench`
    #[arg(value_name = "ARGS", last = true, required = true)]
    words: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    /// A workflow with a matrix
    Github,
    /// A job array
    Slurm,
}

fn print_parts(args: &PartsArgs, output: &Output) -> Result<Exit, AppError> {
    let parts = Parts {
        count: args.count.get(),
        words: &args.words,
    };
    output.text(&match args.engine {
        Engine::Github => parts_github(&parts),
        Engine::Slurm => parts_slurm(&parts),
    })?;
    Ok(Exit::Yes)
}

/// Make a fixture from a failing repository.
///
/// Runs the test in FROM, copies its files (those that git would not ignore), and writes a
/// fixture.toml with what the failing test shows. The reference patch is yours to add.
#[derive(Debug, clap::Args)]
struct NewArgs {
    /// The failing repository
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// The test that fails in it, as a line for the shell
    #[arg(long, value_name = "CMD")]
    test: String,
    /// The fixture's folder; its name is the fixture's
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Seconds for the test
    #[arg(long, value_name = "S", default_value = "120")]
    timeout: u32,
}

fn new_fixture(args: &NewArgs, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = NewFixtureRequest {
        from: args.from.clone(),
        test: args.test.clone(),
        to: args.to.clone(),
        timeout: Duration::from_secs(u64::from(args.timeout)),
    };
    let (kind, end) = make_fixture(&open(global, |_| {})?, &request)?;
    let to = args.to.display();
    output.text(&format!(
        "wrote {to}/fixture.toml: {kind} ({end})\n\
         next:\n  \
         1. repair a copy of it and write `git diff` to {to}/reference.patch\n  \
         2. correct title, needed and level in {to}/fixture.toml\n  \
         3. mendit bench --verify {to}\n"
    ))?;
    Ok(Exit::Yes)
}

/// Say how often fixes of real histories are repaired.
///
/// Takes what `mendit bench mine` writes. Each fix is laid out from a clone below --clones, its tests
/// run in the environment that the set describes, and what a run calls fixed is judged by tests that
/// no run sees. Commands come from the sets: run only sets that you trust. Clones are only read.
#[derive(Debug, clap::Args)]
#[command(after_help = EXITS)]
struct RealArgs {
    /// Sets of fixes: files, or folders of such
    #[arg(value_name = "FILE|DIR", required = true)]
    sets: Vec<PathBuf>,
    /// The folder with the clones: OWNER+NAME, OWNER/NAME or NAME
    #[arg(long, value_name = "DIR")]
    clones: PathBuf,
    /// Keep checkouts and environments here, so that they are set up once
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

fn real_fixes(args: &RealArgs, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = BenchRequest {
        real: Some(RealSets {
            sets: args.sets.clone(),
            clones: args.clones.clone(),
            work: args.work.clone(),
        }),
        ..args.how.request()
    };
    perform(&args.how, &request, global, output)
}

/// Proves fixtures both ways and prints what does not hold.
fn verify(
    app: &App,
    request: &BenchRequest,
    format: Format,
    output: &Output,
) -> Result<Exit, AppError> {
    if !matches!(format, Format::Text | Format::Json) {
        return Err(AppError::usage("`--verify` prints text or json"));
    }
    let Some(proof) = prove_fixtures(app, request, output)? else {
        return Ok(Exit::Interrupted);
    };
    if format == Format::Json {
        output.json(&proof)?;
    } else {
        output.text(&proof_text(&proof))?;
    }
    let wrong = proof.fixtures.iter().any(|row| row.result == "wrong");
    Ok(if wrong { Exit::No } else { Exit::Yes })
}

fn proof_text(proof: &ProofDocument) -> String {
    let count = |result| {
        let rows = proof.fixtures.iter();
        rows.filter(|row| row.result == result).count()
    };
    let (holds, skipped, wrong) = (count("holds"), count("skipped"), count("wrong"));
    let mut text = String::new();
    for row in &proof.fixtures {
        text.push_str(&format!("{:<8} {}\n", row.result, row.id));
        if !row.missing.is_empty() {
            text.push_str(&format!("  not here: {}\n", row.missing.join(", ")));
        }
        for said in &row.problems {
            text.push_str(&format!("  {}: {}\n", said.code, said.message));
        }
    }
    text.push_str(&format!(
        "\n{holds} hold, {skipped} skipped, {wrong} wrong\n"
    ));
    text
}
