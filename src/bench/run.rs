//! Runs the fix loop on each case, in parallel.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::agent::{oracle_reply, recorded_reply};
use super::judge::{CaseRun, Record, judge_run};
use super::layout::LaidOut;
use super::stage::Hidden;
use super::{BenchAgent, BenchCase, BenchError, Fixture, missing_programs};
use crate::context::Request;
use crate::exec::Stop;
use crate::git::Repository;
use crate::model::{
    AtPath as _, FixtureOutcome, FixtureResult, Level, Profile, RunResult, SandboxMode,
    WorkplaceMode,
};
use crate::policy::{Allowed, ReadPolicy, ReadRules, Redactor};
use crate::repair::{Agent, Commands, Policy, Setup, Task, repair};
use crate::source::Worktree;
use crate::state::Known;

/// How fixtures are run.
#[derive(Debug, Clone)]
pub struct BenchOptions {
    /// Who is asked.
    pub agent: BenchAgent,
    /// Seconds for one call of it.
    pub agent_timeout: f64,
    /// The highest level.
    pub max_level: Level,
    /// Replies to try.
    pub max_attempts: u32,
    /// Where commands and agents run.
    pub workplace: WorkplaceMode,
    /// How many fixtures at a time; at least one.
    pub jobs: usize,
}

/// Runs the loop on each case; what it writes is below `home`. Outcomes come in the order of
/// the cases; `done` hears of each as it ends, from any thread.
pub fn run_cases(
    cases: &[BenchCase<'_>],
    options: &BenchOptions,
    home: &Path,
    redactor: &Redactor,
    stop: &Stop,
    done: &(dyn Fn(&FixtureOutcome) + Sync),
) -> Vec<FixtureOutcome> {
    in_parallel(cases, options.jobs, stop, |case| {
        let outcome = run_case(case, options, home, redactor, stop);
        done(&outcome);
        outcome
    })
}

/// Works on at most `jobs` items at a time and returns the results in the order of the items.
/// Items not begun before a stop are left out.
pub fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    stop: &Stop,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let queue = Mutex::new(items.iter().enumerate());
    let results = Mutex::new(BTreeMap::new());
    let work = || {
        while !stop.requested() {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((at, item)) = next else { break };
            let result = work(item);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.insert(at, result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    results.into_inner().unwrap_or_default().into_values().collect()
}

/// Runs the loop on one case with a folder below `home` that is named as it. What the run wrote
/// stays there under `run`.
fn run_case(
    case: &BenchCase<'_>,
    options: &BenchOptions,
    home: &Path,
    redactor: &Redactor,
    stop: &Stop,
) -> FixtureOutcome {
    let started = Instant::now();
    let fixture = &case.fixture;
    let mut outcome = blank_outcome(fixture);
    let missing = missing_programs(fixture);
    if !missing.is_empty() {
        outcome.result = FixtureResult::Skipped;
        outcome.why = vec![format!("not installed: {}", missing.join(", "))];
        return outcome;
    }
    match run_fixture(case, options, &home.join(&fixture.id), redactor, stop) {
        Ok(ran) => judge_run(fixture, &options.agent, ran, &mut outcome),
        Err(error) => {
            outcome.result = FixtureResult::Error;
            outcome.why = vec![format!("{}: {error}", error.code())];
        }
    }
    outcome.seconds = started.elapsed().as_millis() as f64 / 1000.0;
    outcome
}

fn blank_outcome(fixture: &Fixture) -> FixtureOutcome {
    FixtureOutcome {
        id: fixture.id.clone(),
        title: fixture.title.clone(),
        language: fixture.language.clone(),
        repository: fixture.repository.clone(),
        kind: fixture.expect.kind,
        needed_level: fixture.level,
        fixable: fixture.is_fixable(),
        hidden_tests: fixture.hidden_test.is_some(),
        ..FixtureOutcome::default()
    }
}

fn run_fixture(
    case: &BenchCase<'_>,
    options: &BenchOptions,
    home: &Path,
    redactor: &Redactor,
    stop: &Stop,
) -> Result<CaseRun, BenchError> {
    let fixture = &case.fixture;
    let laid = case.lay_out(home, stop)?;
    let result = run(fixture, &laid, options, home, redactor, stop)?;
    let folder = home.join("run");
    let patch = std::fs::read(folder.join("final.patch")).ok();
    let mut hidden = None;
    if result.status.is_success() {
        let found = case.run_hidden_tests(&laid, patch.as_deref(), home, stop)?;
        hidden = found.map(|found| match found {
            Hidden::Failed(why) => Hidden::Failed(redactor.mask(&why)),
            Hidden::Passed => Hidden::Passed,
        });
    }
    let record = Record::read(fixture, &folder);
    Ok(CaseRun {
        result,
        record,
        hidden,
        patch: patch.map(|patch| String::from_utf8_lossy(&patch).into_owned()),
    })
}

fn run(
    fixture: &Fixture,
    laid: &LaidOut,
    options: &BenchOptions,
    home: &Path,
    redactor: &Redactor,
    stop: &Stop,
) -> Result<RunResult, BenchError> {
    let (git, source) = open_files(&laid.root)?;
    let read = ReadPolicy::new(&ReadRules::default(), Profile::Ranked)
        .map_err(|error| BenchError::Lacking(error.to_string()))?;
    let (slot, folder, state) = (home.join("scratch"), home.join("run"), home.join("state"));
    for folder in [&slot, &folder, &state] {
        std::fs::create_dir_all(folder).at(folder)?;
    }
    let agent = match &options.agent {
        BenchAgent::Builtin => Agent::None,
        BenchAgent::Oracle | BenchAgent::Replay => {
            Agent::Function(&|packet, call| match options.agent {
                BenchAgent::Replay => recorded_reply(fixture, call),
                _ => oracle_reply(fixture, packet),
            })
        }
        BenchAgent::Command { command, .. } => Agent::Command(command),
    };
    let setup = Setup {
        root: &laid.root,
        prefix: "",
        git: Some(&git),
        source: &source,
        workplace: options.workplace,
        slot: &slot,
        folder: &folder,
        copy: None,
        state: &state,
        known: &Known::nothing(),
        redactor,
        read: &read,
        request: Request {
            max_log_bytes: 32_768,
            ..Request::default()
        },
        commands: test_commands(laid.test.clone(), fixture.timeout(), laid.variables.clone()),
        policy: build_policy(options, agent.is_some()),
        agent,
        allowed: Allowed::default(),
        task: build_task(fixture),
        remedies: &|_| Vec::new(),
        linked_folders: Vec::new(),
        red: None,
        apply: false,
        resume: false,
    };
    Ok(repair(&setup, stop, &mut |_| {})?)
}

/// Opens the repository and the files of a laid out case.
pub(super) fn open_files(root: &Path) -> Result<(Repository, Worktree), BenchError> {
    let git = Repository::discover(root)?
        .ok_or_else(|| BenchError::Lacking("the checkout is not a repository".to_owned()))?;
    let source = Worktree::open(root, git.tracked()?, 1).map_err(BenchError::Source)?;
    Ok((git, source))
}

/// Returns the commands of a case: one line, inside the usual limits of a bench.
pub(super) fn test_commands(line: String, timeout: Duration, environment: Vec<String>) -> Commands {
    Commands {
        lines: vec![line],
        setup: None,
        timeout: Some(timeout),
        grace: Duration::from_secs(2),
        max_output: 256 << 20,
        environment,
        sandbox: SandboxMode::Auto,
        writable: Vec::new(),
        no_network: false,
    }
}

// What a repair of a fixture may do.
fn build_policy(options: &BenchOptions, has_agent: bool) -> Policy {
    Policy {
        agent: has_agent,
        // No fixes without an LLM here, because they would leave nothing for the recorded replies to fix.
        heal: !matches!(options.agent, BenchAgent::Replay),
        auto_split: true,
        max_level: options.max_level,
        max_attempts: options.max_attempts,
        max_seconds: Some(1800.0),
        max_packet_bytes: 50_000_000,
        agent_timeout: options.agent_timeout,
        limit_is_failure: true,
        counter_proof: true,
        ..Policy::default()
    }
}

fn build_task(fixture: &Fixture) -> Option<Task> {
    (!fixture.targets.is_empty()).then(|| Task {
        title: fixture.title.clone(),
        targets: fixture.targets.iter().map(ToString::to_string).collect(),
        ..Task::default()
    })
}
