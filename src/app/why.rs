use std::ffi::OsString;
use std::time::{Duration, Instant};

use super::fix::failing_command;
use super::flags::request;
use super::known_cause::keep_cause;
use super::last_run::{last_command, last_log, passed_at, was_written_by_last};
use super::remedy::around;
use super::repair::made;
use super::run_verdict::not_started;
use super::shared::shared;
use super::traced::known_trace;
use super::{App, AppError, Progress, runs};
use crate::config::Seconds;
use crate::diagnose::{LogFacts, diagnose_in};
use crate::inventory::missing_program;
use crate::model::{
    Diagnosis, Profile, Remedy, RepoPath, SCHEMA_VERSION, WhyChange, WhyDocument, WhyReason,
    WhyVerdict, WorkplaceMode,
};
use crate::patch::{WriteError, is_interrupted};
use crate::repair::{Commands, RepairError, RunLock, files_digest};
use crate::why::{
    Answer, FindCause, RedRun, TrialLimits, TrialSetup, TrialStart, Trials, find_cause as search,
    submodules,
};
use crate::workplace::{Plan, Workplace};
use crate::workspace::{At, Workspace};

request! {
/// Find the change that broke the tests.
WhyRequest {
    /// The command that fails [default: that of the last `mendit run`]
    #[arg(value_name = "CMD", trailing_var_arg = true)] command: Vec<OsString>;
    /// A revision at which it passed
    #[arg(long, value_name = "REV")] since: Option<String>;
    /// Time for all trials together, such as `2m`
    #[arg(long, value_name = "S")] budget_seconds: Option<Seconds>;
    /// Runs at most
    #[arg(long, value_name = "N", default_value_t = 100)] max_runs: u32;
    /// Pass an environment variable through (NAME) or set it (NAME=VALUE); repeatable
    #[arg(long, value_name = "NAME")] env: Vec<String> => add test.env;
    /// Time for one run of the command, such as `10m`
    #[arg(long, value_name = "S")] timeout: Option<Seconds> => set limits.timeout;
}
}

impl Default for WhyRequest {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            since: None,
            budget_seconds: None,
            max_runs: 100,
            env: Vec::new(),
            timeout: None,
        }
    }
}

/// Reverts changes in an isolated copy and reruns the failing tests, until the smallest set is known without
/// which they pass. Nothing is written into the worktree.
///
/// # Errors
/// When nothing was run yet, the last run passed, or the command cannot be run.
pub fn find_cause(
    app: &mut App,
    request: &WhyRequest,
    progress: &dyn Progress,
) -> Result<WhyDocument, AppError> {
    let line = failing_command(app, &request.command)?;
    let app = &*app;
    let workspace = app.workspace(At::Worktree, progress)?;
    let red = last_red_run(app, &workspace, &line)?;
    let search = Search {
        line: &line,
        commands: &super::repair::commands(app),
        workplace: app.settings().sandbox.workplace.unwrap_or_default(),
        since: request.since.as_deref(),
        red,
        near_only: false,
        limits: TrialLimits {
            until: request.budget_seconds.map(|it| Instant::now() + it.0),
            max_runs: request.max_runs,
            each: None,
            whole: true,
        },
    };
    search_cause(app, &workspace, search, progress)
}

/// How a cause is searched for.
pub(super) struct Search<'a> {
    pub(super) line: &'a str,
    pub(super) commands: &'a Commands,
    pub(super) workplace: WorkplaceMode,
    pub(super) since: Option<&'a str>,
    /// What the command has just failed with; `None` runs it.
    pub(super) red: Option<RedRun>,
    /// Whether no commits are tried but those likely to pass.
    pub(super) near_only: bool,
    pub(super) limits: TrialLimits,
}

/// Searches, and keeps the answer.
pub(super) fn search_cause(
    app: &App,
    workspace: &Workspace,
    search: Search<'_>,
    progress: &dyn Progress,
) -> Result<WhyDocument, AppError> {
    let started = Instant::now();
    let line = search.line;
    let (since, near_only) = (search.since, search.near_only);
    let document = with_trials(app, workspace, search, progress, |trials| {
        let (mut trials, fails) = trials?;
        let policy = app.read_policy(Profile::Ranked)?;
        let is_output = was_written_by_last(app, workspace, line);
        let may = |path: &RepoPath| policy.refuse(path).is_none() && !is_output(path);
        let find = FindCause {
            workspace,
            since,
            seen_green: passed_at(app, line, &workspace.prefix)?,
            near_only,
            may: &may,
        };
        let answer = if fails {
            if let Some(traced) = known_trace(app, workspace, line) {
                trials.take_trace(traced);
            }
            search_changes(&mut trials, &find)?
        } else {
            Answer::unknown(trials.ended().unwrap_or(WhyReason::Passes))
        };
        Ok(document(app, workspace, trials, answer, started))
    })?;
    keep_cause(app, workspace, line, &document);
    Ok(document)
}

fn search_changes(trials: &mut Trials<'_>, find: &FindCause<'_>) -> Result<Answer, AppError> {
    search(trials, find).map_err(AppError::from)
}

/// Opens an isolated copy and does something with trials in it: they, and whether anything fails.
pub(super) fn with_trials<T>(
    app: &App,
    workspace: &Workspace,
    search: Search<'_>,
    progress: &dyn Progress,
    work: impl FnOnce(Result<(Trials<'_>, bool), AppError>) -> Result<T, AppError>,
) -> Result<T, AppError> {
    let commands = search.commands;
    let root = workspace
        .root
        .clone()
        .ok_or_else(|| AppError::bare(": there is nothing to run commands in"))?;
    let state = runs::state(app, workspace)?;
    let _lock = RunLock::take(state.directory())?;
    if is_interrupted(state.directory()) {
        return Err(WriteError::Interrupted.into());
    }
    let settings = app.settings();
    let slot = made(&state.workplace())?;
    let plan = Plan {
        choice: search.workplace,
        slot: &slot,
        source: workspace.source.as_ref(),
        root: &root,
        git: workspace.git.as_ref(),
        shared: shared(workspace.source.as_ref(), &root, &settings.sandbox.share)?,
        commands: &commands.lines,
        closed: vec![state.directory().to_owned()],
    };
    let stop = progress.stop()?;
    let place = Workplace::open(&plan, &|_, _| {}).map_err(RepairError::from)?;
    let most = search.limits.max_runs;
    let watch = |trial: &TrialStart| {
        progress.trial(&trial_words(trial, most));
        progress.step(&format!("trying {}", trial.what));
    };
    let setup = TrialSetup {
        workspace,
        place,
        commands,
        redactor: app.redactor(),
        stop: &stop,
        watch: &watch,
        limits: search.limits,
        trace: settings.context.trace,
    };
    let trials = match search.red {
        Some(red) => Ok((Trials::start(setup, red), true)),
        None => Trials::with_red_run(setup, search.line).map_err(AppError::from),
    };
    work(trials)
}

// `looking for the culprit: run 2 of at most 6, likely calc.py:7; Ctrl-C keeps what is known`
fn trial_words(trial: &TrialStart, most: u32) -> String {
    let most = if most < 100 {
        format!(" of at most {most}")
    } else {
        String::new()
    };
    let likely = trial.likely.as_ref();
    let likely = likely.map_or(String::new(), |place| format!(", likely {place}"));
    format!(
        "looking for the culprit: run {}{most}, {}{likely}; Ctrl-C keeps what is known",
        trial.run, trial.what
    )
}

/// The last run, where it failed with this line on these very files.
pub(super) fn last_red_run(
    app: &App,
    workspace: &Workspace,
    line: &str,
) -> Result<Option<RedRun>, AppError> {
    let Some(last) = last_command(app)?.filter(|it| !it.passed) else {
        return Ok(None);
    };
    let source = workspace.source.as_ref();
    let same = last.again.line().as_deref() == Some(line)
        && last.again.prefix == workspace.prefix
        && last.again.files.as_deref() == Some(&files_digest(source, &[]));
    let Some(log) = last_log(app)?.filter(|_| same) else {
        return Ok(None);
    };
    let facts = LogFacts {
        exit_code: log.exit_code,
        timed_out: log.timed_out,
        command: Some(line.to_owned()),
        rules: app.rules(),
    };
    let diagnosis = diagnose_in(log.log.text(), &facts, source);
    Ok(Some(red_run(
        workspace,
        line,
        diagnosis,
        log.log.text(),
        log.exit_code,
    )))
}

/// A red run as trials compare with it: paths below the root alone.
pub(super) fn red_run(
    workspace: &Workspace,
    line: &str,
    diagnosis: Diagnosis,
    log: &str,
    exit_code: Option<i32>,
) -> RedRun {
    let root = workspace.root.as_ref();
    let root = root.map(|root| format!("{}/", root.display()));
    RedRun {
        line: line.to_owned(),
        diagnosis,
        log: root.map_or_else(|| log.to_owned(), |root| log.replace(&root, "")),
        exit_code,
    }
}

fn document(
    app: &App,
    workspace: &Workspace,
    trials: Trials<'_>,
    answer: Answer,
    started: Instant,
) -> WhyDocument {
    let mask = |text: &str| app.redactor().redact(text).text.into_owned();
    let masked = |change: WhyChange| WhyChange {
        diff: mask(&change.diff),
        ..change
    };
    let not_run = trials.not_run();
    let likely = trials.likely.clone();
    let (log, red) = trials.into_log();
    let around = untried(workspace, &answer).chain(outside(workspace, &answer, &red, not_run));
    let around = around.collect();
    let mut suspects = answer.suspects;
    if let Some(likely) = likely.filter(|_| answer.cause.is_empty()) {
        let place = |change: &WhyChange| match change.line {
            Some(line) => format!("{}:{line}", change.path),
            None => change.path.clone(),
        };
        for suspect in &mut suspects {
            if likely.len() <= 3 && likely.contains(&place(suspect)) {
                LIKELY.clone_into(&mut suspect.why);
            }
        }
        suspects.sort_by_key(|suspect| suspect.why != LIKELY);
    }
    let more = suspects.len().saturating_sub(MAX_SUSPECTS);
    let suspects = suspects.into_iter().take(MAX_SUSPECTS);
    let mut document = WhyDocument {
        schema_version: SCHEMA_VERSION,
        document: "why",
        verdict: answer.verdict,
        reason: answer.reason,
        message: String::new(),
        command: mask(&red.line),
        tests: log.tests,
        failed_before: log.failed_before.iter().map(|it| mask(it)).collect(),
        base: answer.base,
        cause: answer.cause.into_iter().map(masked).collect(),
        undo: answer.undo.filter(|it| mask(it) == *it),
        suspects: suspects.map(masked).collect(),
        more_suspects: more as u64,
        around,
        trials: log.trials,
        runs: log.runs,
        whole_runs: log.whole_runs,
        duration_seconds: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
    };
    for cause in &mut document.cause {
        place_now(cause, workspace);
    }
    document.message = crate::report::why_line(&document);
    document
}

/// What speaks for a change without which the tests passed once.
const LIKELY: &str = "reverted, the failing tests passed once";

/// Suspects that a document holds.
const MAX_SUSPECTS: usize = 20;

// The submodules, where no change explains the failure: no trial reverts them.
fn untried<'a>(workspace: &'a Workspace, answer: &Answer) -> impl Iterator<Item = Remedy> + 'a {
    let is_open = answer.cause.is_empty() && answer.verdict == WhyVerdict::Unknown;
    let modules = submodules(workspace).filter(move |_| is_open).take(3);
    modules.map(|path| {
        let line = format!("mendit -C {path} why");
        Remedy::new(format!("not tried: the submodule {path}"), Some(line))
    })
}

// What lies outside the changes and may have made it fail.
fn outside(
    workspace: &Workspace,
    answer: &Answer,
    red: &RedRun,
    not_run: Option<WhyReason>,
) -> Vec<Remedy> {
    if !answer.is_open() {
        return Vec::new();
    }
    let line = &red.line;
    let mut found = around(workspace, (&red.diagnosis, &red.log), line);
    if let (Some(reason), []) = (not_run, found.as_slice()) {
        let message = not_started(line, reason == WhyReason::NotExecutable);
        let program = red.log.lines().find_map(missing_program);
        let program = program.or_else(|| line.split_whitespace().next());
        let program = program.unwrap_or_default();
        found.push(Remedy::new(format!("`{program}`: {message}"), None));
    }
    found
}

// A line of a commit, where the file has it now: its text stands there once.
fn place_now(cause: &mut WhyChange, workspace: &Workspace) {
    let (Some(_), Some(_), Ok(path)) = (&cause.commit, cause.line, RepoPath::new(&cause.path))
    else {
        return;
    };
    let added = cause.diff.lines().find_map(|line| line.strip_prefix('+'));
    let text = workspace.source.read(&path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut found = (1_u32..)
        .zip(text.lines())
        .filter(|(_, line)| Some(line.trim_end()) == added)
        .map(|(number, _)| number);
    if let (Some(line), None) = (found.next(), found.next()) {
        cause.line = Some(line);
    }
}

/// What trials of `mendit run` may cost: six runs of the failing tests, none much longer than the run itself
/// or a minute.
pub(super) fn limits_after_run(took: Duration) -> TrialLimits {
    TrialLimits {
        until: None,
        max_runs: RUNS_AFTER_RUN,
        each: Some(took.mul_f64(1.5).clamp(LEAST_EACH, MOST_EACH)),
        whole: took <= SHORT,
    }
}

const RUNS_AFTER_RUN: u32 = 6;
const LEAST_EACH: Duration = Duration::from_secs(10);
const MOST_EACH: Duration = Duration::from_mins(1);
/// A command that is this short is run whole where its failing tests cannot be run alone.
const SHORT: Duration = Duration::from_secs(20);
