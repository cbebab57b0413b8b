use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::agents::resolve_agent;
use super::files::{to_json, write_file};
use super::flags::{Args, repair_level, request, share};
use super::open::listen;
use super::{App, AppError, Progress};
use crate::bench::{
    BenchAgent, BenchError, BenchOptions, Case, Clones, Fixture, Heading, Proof, ProofProblem,
    compare, in_parallel, load_fixtures, load_sets, merge, pairs, parse_partition, part_of,
    partition_from_environment, real_cases, run_cases, score, verify,
};
use crate::config::Seconds;
use crate::model::{
    AgentProtocol, BenchDocument, BenchPairs, Code, FixtureOutcome, FixtureResult, Level,
    Partition, RealFixes, SCHEMA_VERSION, WorkplaceMode,
};

request! {
/// Say how often broken repositories with a known repair are repaired.
#[derive(Default)]
BenchRequest {
    /// A folder of fixtures, or one of them.
    #[arg(skip)] fixtures: PathBuf;
    /// Fixes of real histories instead of fixtures.
    #[arg(skip)] real: Option<RealSets>;
    /// builtin, oracle, replay, or a command that writes patches [default: builtin]
    #[arg(long, value_name = "AGENT")] agent: Option<String>;
    /// The protocol of a command [default: json] [setting: agent.protocol]
    #[arg(hide_short_help = true, long, value_enum)] agent_protocol: Option<AgentProtocol> => set agent.protocol;
    /// Seconds for one call of the agent [default: 300] [setting: agent.timeout]
    #[arg(hide_short_help = true, long, value_name = "S")] agent_timeout: Option<Seconds> => set agent.timeout;
    /// Pass an environment variable to the agent (NAME) or set it (NAME=VALUE); repeatable
    /// [setting: agent.env]
    #[arg(hide_short_help = true, long, value_name = "NAME")] agent_env: Vec<String> => add agent.env;
    /// Agent replies to try for each fixture [default: 6]
    #[arg(long, value_name = "N")] max_attempts: Option<u32>;
    /// The highest context level, 0 to 3 [default: 3]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = repair_level)] max_level: Option<Level>;
    /// Estimated tokens of the files of each packet; 0 is no limit [setting: context.max-tokens]
    #[arg(hide_short_help = true, long, value_name = "N")] max_tokens: Option<u64> => set context.max_tokens;
    /// Compare with an earlier --save; a fixture that no longer passes is a failure
    #[arg(long, value_name = "FILE")] baseline: Option<PathBuf>;
    /// Write the document here, whatever is printed
    #[arg(long, value_name = "FILE")] save: Option<PathBuf>;
    /// Fail if a smaller share passes, from 0 to 1; by default only a regression, a leak or an unsafe
    /// fix fails
    #[arg(long, value_name = "X", value_parser = share)] min_rate: Option<f64>;
    /// Run the K-th of N parts, or `all`; by default a Slurm job array chooses the part
    #[arg(long, value_name = "K/N")] partition: Option<String>;
    /// Fixtures at a time
    #[arg(long, value_name = "N")] jobs: Option<NonZeroUsize>;
    /// Where commands and agents run [setting: sandbox.workplace]
    #[arg(hide_short_help = true, long, value_enum)] workplace: Option<WorkplaceMode> => set sandbox.workplace;
    /// Keep the copies and the runs' folders here
    #[arg(hide_short_help = true, long, value_name = "DIR")] keep: Option<PathBuf>;
}
}

/// Sets of fixes by reference, and where what they refer to is.
#[derive(Debug, Clone, Default, Args)]
pub struct RealSets {
    /// Sets of fixes: files, or folders of such
    #[arg(value_name = "FILE|DIR", required = true)]
    pub sets: Vec<PathBuf>,
    /// The folder with the clones: OWNER+NAME, OWNER/NAME or NAME
    #[arg(long, value_name = "DIR")]
    pub clones: PathBuf,
    /// Keep checkouts and environments here, so that they are set up once
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
}

/// Runs fixtures. `None` when it was interrupted. `done` is told each fixture that ended and how
/// many there are.
///
/// # Errors
/// Fixtures that cannot be read, or a document that cannot be read or written.
pub fn run_bench(
    app: &App,
    request: &BenchRequest,
    done: &(dyn Fn(&FixtureOutcome, usize) + Sync),
    progress: &dyn Progress,
) -> Result<Option<BenchDocument>, AppError> {
    let settings = app.settings();
    let (agent, agent_environment) = agent(app, request);
    let partition = partition(request, progress)?;
    let stop = listen()?;
    let home = Home::make(request.keep.as_deref())?;
    let redactor = app.redactor();
    let workplace = settings.sandbox.workplace.unwrap_or_default();
    let cases: Vec<Case<'_>> = match &request.real {
        None => {
            let fixtures = part_of(load_fixtures(&request.fixtures)?, partition);
            fixtures.into_iter().map(Case::of_folder).collect()
        }
        Some(_) if agent == BenchAgent::Replay => {
            let message = "fixes of real histories have no recorded replies";
            return Err(AppError::usage(message).hint("name another agent with `--agent`"));
        }
        Some(real) => {
            let sets = parts_of_sets(load_sets(&real.sets)?, partition);
            let clones = Clones {
                folder: real.clones.clone(),
            };
            let work = real
                .work
                .clone()
                .unwrap_or_else(|| home.path().join("work"));
            real_cases(&sets, &clones, &absolute(&work)?, workplace, redactor)
        }
    };
    let before = request.baseline.as_deref().map(read_bench).transpose()?;
    let options = BenchOptions {
        agent,
        agent_environment,
        agent_timeout: settings.agent.timeout.0.as_secs_f64().max(1.0),
        max_level: request.max_level.unwrap_or(Level::Requested),
        max_attempts: request.max_attempts.unwrap_or(USUAL_ATTEMPTS),
        workplace,
        jobs: jobs(request.jobs),
    };
    let all = cases.len();
    let report = |outcome: &FixtureOutcome| done(outcome, all);
    let outcomes = run_cases(&cases, &options, home.path(), redactor, &stop, &report);
    if stop.requested() {
        return Ok(None);
    }
    let heading = Heading {
        agent: redactor.redact(options.agent.name()).text.into_owned(),
        measures: options.agent.measures().to_owned(),
        max_level: options.max_level,
        partition,
    };
    let mut document = score(heading, outcomes);
    document.comparison = before.map(|before| compare(&document, &before));
    if let Some(path) = &request.save {
        write_file(path, to_json(&document)?)?;
    }
    Ok(Some(document))
}

// Every N-th of all fixes, whatever sets they stand in.
fn parts_of_sets(mut sets: Vec<RealFixes>, partition: Option<Partition>) -> Vec<RealFixes> {
    let ids = sets
        .iter()
        .flat_map(|set| set.fixes.iter().map(|it| it.id.clone()));
    let mine: BTreeSet<String> = part_of(ids.collect(), partition).into_iter().collect();
    for set in &mut sets {
        set.fixes.retain(|fix| mine.contains(&fix.id));
    }
    sets
}

/// A folder by its full path, made if it is missing.
pub(super) fn absolute(folder: &Path) -> Result<PathBuf, AppError> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot make `{}`: {}", folder.display(), error.kind());
        AppError::new(Code::F101, message)
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    folder.canonicalize().map_err(failed)
}

/// Two benches over the same cases, case by case.
///
/// # Errors
/// Documents that cannot be read.
pub fn compare_benches(first: &Path, second: &Path) -> Result<BenchPairs, AppError> {
    Ok(pairs(&read_bench(first)?, &read_bench(second)?))
}

/// Joins the documents of all parts of one run.
///
/// # Errors
/// Documents that cannot be read or are not the parts of one run.
pub fn merge_bench(
    files: &[PathBuf],
    baseline: Option<&Path>,
    save: Option<&Path>,
) -> Result<BenchDocument, AppError> {
    let documents: Result<Vec<_>, _> = files.iter().map(|it| read_bench(it)).collect();
    let before = baseline.map(read_bench).transpose()?;
    let mut document = merge(documents?)?;
    document.comparison = before.map(|before| compare(&document, &before));
    if let Some(path) = save {
        write_file(path, to_json(&document)?)?;
    }
    Ok(document)
}

/// How a document ends the process, and the first reason when it is not a yes.
#[must_use]
pub fn bench_failure(document: &BenchDocument, min_rate: Option<f64>) -> Option<AppError> {
    let no = |code: Code, message: String| Some(AppError::new(code, message));
    if document.leaks > 0 {
        let message = format!(
            "fixtures from which something forbidden has left: {}",
            document.leaks
        );
        return no(Code::F302, message);
    }
    if document.wrong_heals > 0 {
        let message = format!("wrong heals: {}", document.wrong_heals);
        return no(Code::F304, message);
    }
    if let Some(comparison) = &document.comparison
        && !comparison.regressed.is_empty()
    {
        let message = format!("no longer repaired: {}", comparison.regressed.join(", "));
        return no(Code::F301, message);
    }
    if let Some(least) = min_rate
        && document.totals.rate < least
    {
        let message = format!(
            "the pass rate is {:.4}, and {least} was asked for",
            document.totals.rate
        );
        return no(Code::F307, message);
    }
    None
}

/// How many fixtures could not be run.
#[must_use]
pub fn broken_fixtures(document: &BenchDocument) -> usize {
    let broken = |it: &&FixtureOutcome| it.result == FixtureResult::Error;
    document.fixtures.iter().filter(broken).count()
}

/// The proof of fixtures, both ways.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProofDocument {
    schema_version: u32,
    document: &'static str,
    /// A row for each fixture.
    pub fixtures: Vec<ProofRow>,
}

/// Whether one fixture is what it says.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProofRow {
    /// Its name.
    pub id: String,
    /// `holds`, `skipped` or `wrong`.
    pub result: &'static str,
    /// Programs that it needs and that are not here.
    pub missing: Vec<String>,
    /// What does not hold.
    pub problems: Vec<ProofProblem>,
}

/// Proves fixtures: broken they fail, repaired they pass, undone they fail again. `None` when it
/// was interrupted.
///
/// # Errors
/// Fixtures that cannot be read or copied.
pub fn prove_fixtures(
    request: &BenchRequest,
    progress: &dyn Progress,
) -> Result<Option<ProofDocument>, AppError> {
    let partition = partition(request, progress)?;
    let fixtures = part_of(load_fixtures(&request.fixtures)?, partition);
    let stop = listen()?;
    let home = Home::make(request.keep.as_deref())?;
    let rows = in_parallel(&fixtures, jobs(request.jobs), &stop, |fixture| {
        let proof = verify(fixture, &home.path().join(&fixture.id), &stop)?;
        Ok::<_, BenchError>(row(fixture, proof))
    });
    let rows = rows.into_iter().collect::<Result<_, _>>()?;
    Ok((!stop.requested()).then_some(ProofDocument {
        schema_version: SCHEMA_VERSION,
        document: "bench-verify",
        fixtures: rows,
    }))
}

fn read_bench(path: &Path) -> Result<BenchDocument, AppError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| AppError::unreadable(&name, &error))?;
    let document: Result<BenchDocument, _> = serde_json::from_slice(&bytes);
    match document {
        Ok(document) if document.document == "bench" => Ok(document),
        Ok(document) => {
            let message = format!(
                "`{name}` is a `{}` document, not `bench`",
                document.document
            );
            Err(AppError::new(Code::F305, message))
        }
        Err(error) => {
            let message = format!("`{name}` is no bench document: {error}");
            Err(AppError::new(Code::F305, message)
                .hint("`mendit bench FIXTURES --save FILE` writes one"))
        }
    }
}

fn partition(
    request: &BenchRequest,
    progress: &dyn Progress,
) -> Result<Option<Partition>, AppError> {
    match request.partition.as_deref() {
        Some("all") => Ok(None),
        Some(text) => Ok(Some(parse_partition(text)?)),
        None => {
            let found = partition_from_environment(|name| std::env::var(name).ok())?;
            if let Some(part) = found {
                progress.note(&format!(
                    "part {} of {} is run, as SLURM_ARRAY_TASK_ID says (hint: `--partition all`)",
                    part.index, part.count
                ));
            }
            Ok(found)
        }
    }
}

// Replies of the agent to try for each fixture.
const USUAL_ATTEMPTS: u32 = 6;

fn agent(app: &App, request: &BenchRequest) -> (BenchAgent, Vec<String>) {
    let agent = match request.agent.as_deref().unwrap_or("builtin") {
        "builtin" => BenchAgent::Builtin,
        "oracle" => BenchAgent::Oracle,
        "replay" => BenchAgent::Replay,
        name => {
            let agent = resolve_agent(name, app.settings());
            let command = BenchAgent::Command {
                name: name.to_owned(),
                command: agent.command,
                protocol: agent.protocol,
                adapter: agent.adapter,
            };
            return (command, agent.env);
        }
    };
    (agent, app.settings().agent.env.clone())
}

pub(super) fn jobs(wanted: Option<NonZeroUsize>) -> usize {
    wanted.map_or_else(
        || std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        NonZeroUsize::get,
    )
}

// Where the copies are: kept where a person says, else gone with this value.
enum Home {
    Kept(PathBuf),
    Passing(tempfile::TempDir),
}

impl Home {
    fn make(keep: Option<&Path>) -> Result<Self, AppError> {
        let failed = |error: std::io::Error| {
            AppError::new(
                Code::F101,
                format!("cannot make a folder for the copies: {}", error.kind()),
            )
        };
        let Some(keep) = keep else {
            return tempfile::tempdir().map(Self::Passing).map_err(failed);
        };
        std::fs::create_dir_all(keep).map_err(failed)?;
        let path = keep.canonicalize().map_err(failed)?;
        if path.read_dir().map_err(failed)?.next().is_some() {
            let message = format!("`{}` is not empty", path.display());
            return Err(AppError::usage(message).hint("name a new folder with `--keep DIR`"));
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

fn row(fixture: &Fixture, proof: Proof) -> ProofRow {
    ProofRow {
        id: fixture.id.clone(),
        result: match &proof {
            proof if proof.holds() => "holds",
            proof if !proof.missing.is_empty() => "skipped",
            _ => "wrong",
        },
        missing: proof.missing,
        problems: proof.problems,
    }
}
