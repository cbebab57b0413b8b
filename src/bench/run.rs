use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::agent::{oracle_reply, recorded_reply};
use super::judge::judge_run;
use super::materialise::temporary;
use super::record::Record;
use super::{BenchAgent, Fixture, FixtureError, materialise, missing_programs};
use crate::context::Request;
use crate::exec::{SandboxMode, Stop};
use crate::git::Repository;
use crate::model::{FailurePacket, FixtureOutcome, FixtureResult, Level, Profile, RunResult};
use crate::policy::{Allowed, ReadPolicy, ReadRules, Redactor};
use crate::repair::{Agent, Commands, Policy, RepairError, Setup, Task, repair};
use crate::source::Worktree;
use crate::workplace::Choice;

/// How fixtures are run.
#[derive(Debug, Clone)]
pub struct BenchOptions {
    /// Who is asked.
    pub agent: BenchAgent,
    /// Variables the agent's command gets beyond the usual ones.
    pub agent_environment: Vec<String>,
    /// Seconds for one call of it.
    pub agent_timeout: f64,
    /// The highest rung.
    pub max_level: Level,
    /// Replies to try.
    pub max_attempts: u32,
    /// Where commands and agents run.
    pub workplace: Choice,
    /// How many fixtures at a time; at least one.
    pub jobs: usize,
}

/// Runs the loop on each fixture, in a copy of its own below `home`. Outcomes come in the order of
/// the fixtures; `done` hears of each as it ends, from any thread.
pub fn run_fixtures(
    fixtures: &[Fixture],
    options: &BenchOptions,
    home: &Path,
    redactor: &Redactor,
    stop: &Stop,
    done: &(dyn Fn(&FixtureOutcome) + Sync),
) -> Vec<FixtureOutcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        while !stop.requested() {
            let at = next.fetch_add(1, Ordering::SeqCst);
            let Some(fixture) = fixtures.get(at) else {
                break;
            };
            let outcome = run_fixture(fixture, options, home, redactor, stop);
            done(&outcome);
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.push((at, outcome));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.clamp(1, fixtures.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Runs the loop on one fixture in a folder below `home` that is named as the fixture. What the
/// run wrote stays there under `run`.
#[must_use]
pub fn run_fixture(
    fixture: &Fixture,
    options: &BenchOptions,
    home: &Path,
    redactor: &Redactor,
    stop: &Stop,
) -> FixtureOutcome {
    let started = Instant::now();
    let mut outcome = blank(fixture);
    let missing = missing_programs(fixture);
    if !missing.is_empty() {
        outcome.result = FixtureResult::Skipped;
        outcome.why = vec![format!("not here: {}", missing.join(", "))];
        return outcome;
    }
    let home = home.join(&fixture.id);
    match perform(fixture, options, &home, redactor, stop) {
        Ok(result) => {
            let record = Record::read(fixture, &home.join("run"));
            judge_run(fixture, &options.agent, &result, record, &mut outcome);
        }
        Err(why) => {
            outcome.result = FixtureResult::Error;
            outcome.why = vec![why];
        }
    }
    outcome.seconds = started.elapsed().as_millis() as f64 / 1000.0;
    outcome
}

fn blank(fixture: &Fixture) -> FixtureOutcome {
    FixtureOutcome {
        id: fixture.id.clone(),
        title: fixture.title.clone(),
        language: fixture.language.clone(),
        kind: fixture.expect.kind,
        needed_level: fixture.level,
        fixable: fixture.is_fixable(),
        result: FixtureResult::Failed,
        status: None,
        stop_reason: None,
        level: Level::Targets,
        attempts: 0,
        healed: false,
        packet_bytes: 0,
        packets: Vec::new(),
        seconds: 0.0,
        why: Vec::new(),
        leaks: Vec::new(),
    }
}

fn perform(
    fixture: &Fixture,
    options: &BenchOptions,
    home: &Path,
    redactor: &Redactor,
    stop: &Stop,
) -> Result<RunResult, String> {
    let said = |error: FixtureError| format!("{}: {error}", error.code());
    let unlisted = |error: String| format!("F105: {error}");
    let root = materialise(fixture, home).map_err(said)?;
    let git = Repository::discover(&root)
        .map_err(|error| unlisted(error.to_string()))?
        .ok_or_else(|| unlisted("the copy is no repository".to_owned()))?;
    let tracked = git.tracked().map_err(|error| unlisted(error.to_string()))?;
    let source = Worktree::open(&root, tracked, 1).map_err(|error| unlisted(error.to_string()))?;
    let read = ReadPolicy::new(&ReadRules::default(), Profile::Ranked)
        .map_err(|error| unlisted(error.to_string()))?;
    let (slot, folder, state) = (home.join("scratch"), home.join("run"), home.join("state"));
    for folder in [&slot, &folder, &state] {
        std::fs::create_dir_all(folder)
            .map_err(|error| said(FixtureError::write(folder, &error)))?;
    }
    let reply = |packet: &FailurePacket, call: u32| match options.agent {
        BenchAgent::Replay => recorded_reply(fixture, call),
        _ => oracle_reply(fixture, packet),
    };
    let agent = match &options.agent {
        BenchAgent::Builtin => Agent::None,
        BenchAgent::Oracle | BenchAgent::Replay => Agent::Function(&reply),
        BenchAgent::Command(command, protocol) => Agent::Command {
            command,
            protocol: *protocol,
            environment: &options.agent_environment,
            writable: &[],
        },
    };
    let setup = Setup {
        root: &root,
        prefix: "",
        git: Some(&git),
        source: &source,
        workplace: options.workplace,
        slot: &slot,
        folder: &folder,
        copy: None,
        state: &state,
        redactor,
        read: &read,
        request: Request {
            max_log_bytes: 32_768,
            ..Request::default()
        },
        commands: Commands {
            lines: vec![fixture.test.clone()],
            setup: None,
            timeout: Some(fixture.timeout()),
            grace: Duration::from_secs(2),
            max_output: 256 << 20,
            environment: vec![temporary(home).map_err(said)?],
            sandbox: SandboxMode::Auto,
            writable: Vec::new(),
            no_network: false,
            rules: std::sync::Arc::default(),
        },
        agent,
        policy: Policy {
            agent: agent.is_some(),
            // Recorded replies are there to be judged; a heal would leave none to ask for.
            heal: options.agent != BenchAgent::Replay,
            auto_split: true,
            max_level: options.max_level,
            max_attempts: options.max_attempts,
            max_seconds: Some(1800.0),
            max_packet_bytes: 50_000_000,
            max_cost_usd: None,
            agent_timeout: options.agent_timeout,
            depth: 0,
            estimated_turns: None,
            treat_as_code: false,
            limit_is_failure: true,
        },
        allowed: Allowed::default(),
        task: task(fixture),
        reported: None,
        shared: Vec::new(),
        apply: false,
        resume: false,
    };
    repair(&setup, stop, &mut |_| {})
        .map_err(|error: RepairError| format!("{}: {error}", error.code()))
}

fn task(fixture: &Fixture) -> Option<Task> {
    (!fixture.targets.is_empty()).then(|| Task {
        title: fixture.title.clone(),
        targets: fixture.targets.iter().map(ToString::to_string).collect(),
        ..Task::default()
    })
}
