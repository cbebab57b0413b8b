//! The task of `mendit bench`, `bench real` and `bench mine`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::agents::resolve_agent;
use super::files::{make_folder, temporary, to_json, write_file};
use super::flags::{Args, repair_level, request, share, word};
use super::open::listen;
use super::{App, AppError, Result};
use crate::bench::{
    BenchAgent, BenchCase, BenchFile, BenchOptions, Heading, MineOptions, compare, load_fixtures,
    load_sets, merge, mine, pairs, parse_partition, part_of, prediction_lines, real_cases,
    run_cases, score,
};
use crate::exec::Temporary;
use crate::git::Repository;
use crate::model::{
    AtPath as _, BenchDocument, BenchPairs, Code, FixtureOutcome, Level, MineDocument,
    WorkplaceMode,
};
use crate::repair::AgentCommand;

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
    /// Agent replies to try for each fixture [default: 6]
    #[arg(long, value_name = "N")] max_attempts: Option<u32>;
    /// The highest context level, 0 to 3 [default: 3]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = repair_level)] max_level: Option<Level>;
    /// Compare with an earlier --save; a fixture that no longer passes is a failure
    #[arg(long, value_name = "FILE")] baseline: Option<PathBuf>;
    /// Also write the JSON document here
    #[arg(long, value_name = "FILE")] save: Option<PathBuf>;
    /// Write the patches here as predictions of SWE-bench, which `mendit check --batch` reads
    #[arg(long, value_name = "FILE")] predictions: Option<PathBuf>;
    /// Fail if a smaller share passes, from 0 to 1; by default only a regression, a leak or an unsafe
    /// fix fails
    #[arg(long, value_name = "X", value_parser = share)] min_rate: Option<f64>;
    /// Run the K-th of N parts, as in a job array
    #[arg(long, value_name = "K/N")] partition: Option<String>;
    /// Fixtures at a time
    #[arg(long, value_name = "N")] jobs: Option<NonZeroUsize>;
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

/// Runs fixtures. `None` when it was interrupted. `done` gets each fixture that ended and how
/// many there are.
///
/// # Errors
/// Fixtures that cannot be read, or a document that cannot be read or written.
pub fn run_bench(
    app: &App,
    request: &BenchRequest,
    done: &(dyn Fn(&FixtureOutcome, usize) + Sync),
) -> Result<Option<BenchDocument>> {
    let settings = app.settings();
    let agent = choose_agent(app, request);
    let partition = request.partition.as_deref().filter(|text| *text != "all");
    let partition = partition.map(parse_partition).transpose()?;
    let stop = listen()?;
    let (home, _passing) = make_home(request.keep.as_deref())?;
    let redactor = app.redactor();
    let workplace = settings.sandbox.workplace.unwrap_or_default();
    let cases: Vec<BenchCase<'_>> = match &request.real {
        None => load_fixtures(&request.fixtures)?
            .into_iter()
            .map(BenchCase::from_folder)
            .collect(),
        Some(_) if agent == BenchAgent::Replay => {
            let message = "fixes of real histories have no recorded replies";
            return Err(AppError::usage(message).hint("name another agent with `--agent`"));
        }
        Some(real) => {
            let work = real.work.clone().unwrap_or_else(|| home.join("work"));
            let (sets, work) = (load_sets(&real.sets)?, make_folder(&work)?);
            real_cases(&sets, &real.clones, &work, workplace, redactor)
        }
    };
    let cases = part_of(cases, partition);
    let baseline = request.baseline.as_deref().map(read_bench).transpose()?;
    let options = BenchOptions {
        agent,
        agent_timeout: settings.agent.timeout.0.as_secs_f64().max(1.0),
        max_level: request.max_level.unwrap_or(Level::Requested),
        // Replies of the agent to try for each fixture.
        max_attempts: request.max_attempts.unwrap_or(6),
        workplace,
        jobs: jobs(request.jobs),
    };
    let all = cases.len();
    let outcomes = run_cases(&cases, &options, &home, redactor, &stop, &|outcome| {
        done(outcome, all);
    });
    if stop.requested() {
        return Ok(None);
    }
    let heading = Heading {
        agent: redactor.mask(options.agent.name()),
        max_level: options.max_level,
        partition,
    };
    if let Some(path) = &request.predictions {
        write_file(path, prediction_lines(&heading.agent, &outcomes))?;
    }
    compare_and_save(score(heading, outcomes), baseline, request.save.as_deref()).map(Some)
}

// Compares a document with an earlier one and keeps it.
fn compare_and_save(
    mut document: BenchDocument,
    before: Option<BenchDocument>,
    save: Option<&Path>,
) -> Result<BenchDocument> {
    document.comparison = before.map(|before| compare(&document, &before));
    if let Some(path) = save {
        write_file(path, to_json(&document)?)?;
    }
    Ok(document)
}

/// Two benches over the same cases, case by case.
///
/// # Errors
/// Documents that cannot be read.
pub fn compare_benches(first: &Path, second: &Path) -> Result<BenchPairs> {
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
) -> Result<BenchDocument> {
    let documents: Result<Vec<_>> = files.iter().map(|file| read_bench(file)).collect();
    compare_and_save(
        merge(documents?)?,
        baseline.map(read_bench).transpose()?,
        save,
    )
}

fn read_bench(path: &Path) -> Result<BenchDocument> {
    serde_json::from_slice(&std::fs::read(path).at(path)?).map_err(|error| {
        let message = format!("`{}` is not a bench document: {error}", path.display());
        AppError::new(Code::F305, message).hint("`mendit bench FIXTURES --save FILE` writes one")
    })
}

fn choose_agent(app: &App, request: &BenchRequest) -> BenchAgent {
    match request.agent.as_deref().unwrap_or("builtin") {
        "builtin" => BenchAgent::Builtin,
        "oracle" => BenchAgent::Oracle,
        "replay" => BenchAgent::Replay,
        name => BenchAgent::Command {
            name: name.to_owned(),
            command: AgentCommand {
                writable: Vec::new(),
                ..resolve_agent(name, app.settings())
            },
        },
    }
}

pub(super) fn jobs(wanted: Option<NonZeroUsize>) -> usize {
    let all = std::thread::available_parallelism();
    wanted.or(all.ok()).map_or(1, NonZeroUsize::get)
}

// The folder of the copies: where a person says, else one that is gone with the value.
fn make_home(keep: Option<&Path>) -> Result<(PathBuf, Option<Temporary>)> {
    let Some(keep) = keep else {
        let passing = temporary()?;
        return Ok((passing.path().to_owned(), Some(passing)));
    };
    Ok((make_folder(keep)?, None))
}

request! {
/// Search a history for fixes whose tests fail before and pass after.
MineRequest {
    /// The repository, a clone of it or a bare one
    #[arg(value_name = "REPO", default_value = ".")] repository: PathBuf;
    /// Setup and test commands, as docs/bench.md describes them
    #[arg(long, value_name = "FILE")] environment: PathBuf;
    /// The folder for fixes.json
    #[arg(long, value_name = "DIR")] to: PathBuf;
    /// Checkouts and environments [default: DIR/work]
    #[arg(long, value_name = "DIR")] work: Option<PathBuf>;
    /// Where the search begins
    #[arg(long, value_name = "REV", default_value = "HEAD")] revision: String;
    /// Stop after this many fixes
    #[arg(long, value_name = "N")] limit: Option<usize>;
    /// Candidates at a time, each in a checkout and environment of its own
    #[arg(long, value_name = "N")] jobs: Option<NonZeroUsize>;
    /// Where tests run [setting: sandbox.workplace]
    #[arg(long, value_name = "auto|overlay|copy|in-place", value_parser = word::<WorkplaceMode>)] workplace: Option<WorkplaceMode> => set sandbox.workplace;
}
}

/// Mines a history. `None` when it was interrupted. `watch` gets a line for each candidate that was tried.
///
/// # Errors
/// A repository or description that cannot be used, a set-up that fails, or a history of which
/// nothing is here.
pub fn mine_fixes(
    app: &App,
    request: &MineRequest,
    watch: &(dyn Fn(&str) + Sync),
) -> Result<Option<MineDocument>> {
    let named = request.repository.display();
    let clone = Repository::discover(&request.repository)?.ok_or_else(|| {
        AppError::new(Code::U204, format!("`{named}` is not in a git repository"))
    })?;
    let file = BenchFile::read(&request.environment)?;
    let to = make_folder(&request.to)?;
    let work = request.work.clone().unwrap_or_else(|| to.join("work"));
    let options = MineOptions {
        revision: request.revision.clone(),
        work: make_folder(&work)?,
        to,
        limit: request.limit,
        jobs: jobs(request.jobs),
        workplace: app.settings().sandbox.workplace.unwrap_or_default(),
    };
    let stop = listen()?;
    let found = mine(&clone, &file, &options, app.redactor(), &stop, watch)?;
    if found.commits == 0 {
        let message = "this clone contains no commit with its files and its parent";
        return Err(AppError::new(Code::F401, message)
            .hint("`git fetch --unshallow`, or `git fetch --refetch --no-filter`"));
    }
    Ok((!stop.requested()).then_some(found))
}
