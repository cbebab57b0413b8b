use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Instant;

use super::fix::failing_command;
use super::flags::request;
use super::known_cause::keep_cause;
use super::repair::made;
use super::shared::shared;
use super::traced::known_trace;
use super::why_case::{Answer, Case, search};
use super::why_range::{Bases, bases, search_range};
use super::why_trials::{Trials, TrialsSetup};
use super::{App, AppError, Progress, runs};
use crate::config::Seconds;
use crate::exec::on_path;
use crate::model::{
    Diagnosis, Profile, RepoPath, SCHEMA_VERSION, WhyChange, WhyDocument, WhyReason, WhyVerdict,
    WorkplaceMode,
};
use crate::patch::{WriteError, is_interrupted};
use crate::policy::is_test;
use crate::repair::{Commands, RunLock};
use crate::workplace::{Plan, Workplace};
use crate::workspace::{At, Workspace};

request! {
/// Say which change made a command fail.
WhyRequest {
    /// The command that fails, instead of that of the last `mendit run`
    #[arg(value_name = "CMD", trailing_var_arg = true)] command: Vec<OsString>;
    /// A revision at which it passed
    #[arg(long, value_name = "REV")] since: Option<String>;
    /// Time for all trials together, such as `2m`
    #[arg(long, value_name = "S")] budget_seconds: Option<Seconds>;
    /// Runs at most
    #[arg(long, value_name = "N", default_value_t = 100)] max_runs: u32;
    /// Hand this variable on to the command: NAME or NAME=VALUE; can be given again
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

/// Takes changes back in a workplace and runs the failing tests, until the smallest set is known without
/// which they pass. Nothing is written into the worktree.
///
/// # Errors
/// When nothing was run yet, the last run passed, or the command cannot be run.
pub fn find_cause(
    app: &mut App,
    request: &WhyRequest,
    progress: &dyn Progress,
) -> Result<WhyDocument, AppError> {
    let started = Instant::now();
    let line = failing_command(app, &request.command)?;
    let app = &*app;
    let workspace = app.workspace(At::Worktree, progress)?;
    let search = Search {
        line: &line,
        commands: &super::repair::commands(app),
        workplace: app.settings().sandbox.workplace.unwrap_or_default(),
        request,
        until: request.budget_seconds.map(|it| started + it.0),
        failed: None,
        alone_only: false,
    };
    search_cause(app, &workspace, &search, progress)
}

/// How a cause is searched for.
pub(super) struct Search<'a> {
    pub(super) line: &'a str,
    pub(super) commands: &'a Commands,
    pub(super) workplace: WorkplaceMode,
    pub(super) request: &'a WhyRequest,
    pub(super) until: Option<Instant>,
    /// What the command has just failed with, when that is known.
    pub(super) failed: Option<&'a Diagnosis>,
    /// Whether its failing tests alone are run, and never all of it.
    pub(super) alone_only: bool,
}

/// Searches, and keeps what was shown.
pub(super) fn search_cause(
    app: &App,
    workspace: &Workspace,
    search: &Search<'_>,
    progress: &dyn Progress,
) -> Result<WhyDocument, AppError> {
    let started = Instant::now();
    let line = search.line;
    let document = with_trials(app, workspace, search, progress, |mut trials| {
        let mut answer = answer(app, workspace, &mut trials, search)?;
        // What cannot be started says nothing of changes.
        if let Some(reason) = trials.not_run().filter(|_| answer.is_open()) {
            answer.verdict = WhyVerdict::NotRun;
            answer.reason = Some(reason);
            answer.suspects.clear();
        }
        Ok(document(app, workspace, trials, answer, line, started))
    })?;
    keep_cause(app, workspace, line, &document);
    Ok(document)
}

/// Opens a workplace and does something with trials in it.
pub(super) fn with_trials<T>(
    app: &App,
    workspace: &Workspace,
    search: &Search<'_>,
    progress: &dyn Progress,
    work: impl FnOnce(Trials<'_>) -> Result<T, AppError>,
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
    let place = Workplace::open(&plan, &|_, _| {}).map_err(crate::repair::RepairError::from)?;
    work(Trials::open(TrialsSetup {
        app,
        workspace,
        place,
        commands,
        stop: &stop,
        progress,
        until: search.until,
        max_runs: search.request.max_runs,
        alone_only: search.alone_only,
    }))
}

fn answer(
    app: &App,
    workspace: &Workspace,
    trials: &mut Trials<'_>,
    how: &Search<'_>,
) -> Result<Answer, AppError> {
    let (request, line) = (how.request, how.line);
    let fails = match how.failed {
        Some(diagnosis) => trials.begin(line, diagnosis.clone()),
        None => trials.baseline(line)?,
    };
    if let Some(reason) = trials.ended() {
        return Ok(Answer::unknown(reason));
    }
    if !fails {
        return Ok(Answer::unknown(WhyReason::Passes));
    }
    // No change of the repository brings a program that is sought elsewhere.
    let sought = line.split_whitespace().next().unwrap_or_default();
    if trials.not_run() == Some(WhyReason::CommandNotFound)
        && !sought.contains(['/', '='])
        && on_path(sought).is_none()
    {
        return Ok(Answer::unknown(WhyReason::CommandNotFound));
    }
    let Some(git) = &workspace.git else {
        return Ok(Answer::unknown(WhyReason::NoBase));
    };
    let Some(head) = git.head() else {
        return Ok(Answer::unknown(WhyReason::NoBase));
    };
    let policy = app.read_policy(Profile::Ranked)?;
    let may = |path: &RepoPath| policy.refuse(path).is_none();
    if let Some(cached) = known_trace(app, workspace, line) {
        trials.knows(cached);
    }
    let mut answer = Answer::unknown(WhyReason::NoChange);
    if request.since.is_none() {
        let tree = git.tree(&head)?;
        answer = search(trials, &worktree_case(workspace, &tree, &head), &may)?;
        if answer.is_last() {
            return Ok(answer);
        }
    }
    let mut bases: Bases = bases(app, git, request.since.as_deref(), line, &workspace.prefix)?;
    if how.alone_only {
        bases.retain_seen();
    }
    search_range(trials, git, workspace, &bases, &may, answer)
}

fn worktree_case<'a>(
    workspace: &'a Workspace,
    tree: &'a dyn crate::source::Source,
    head: &str,
) -> Case<'a> {
    Case {
        before: tree,
        after: workspace.source.as_ref(),
        laid: BTreeMap::new(),
        commit: None,
        base: ("what is not committed".to_owned(), head.to_owned()),
    }
}

fn document(
    app: &App,
    workspace: &Workspace,
    trials: Trials<'_>,
    answer: Answer,
    line: &str,
    started: Instant,
) -> WhyDocument {
    let mask = |text: &str| app.redactor().redact(text).text.into_owned();
    let masked = |change: WhyChange| WhyChange {
        diff: mask(&change.diff),
        ..change
    };
    let around = if answer.is_open() {
        trials.around(line)
    } else {
        Vec::new()
    };
    let log = trials.into_log();
    let more = answer.suspects.len().saturating_sub(MAX_SUSPECTS);
    let suspects = answer.suspects.into_iter().take(MAX_SUSPECTS);
    let mut document = WhyDocument {
        schema_version: SCHEMA_VERSION,
        document: "why",
        verdict: answer.verdict,
        reason: answer.reason,
        message: String::new(),
        command: mask(line),
        tests: log.tests,
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
        now_at(cause, workspace);
    }
    document.message = crate::report::why_line(&document);
    document
}

/// Suspects that a document holds.
const MAX_SUSPECTS: usize = 20;

// A line of a commit, where the file has it now: its text stands there once.
fn now_at(cause: &mut WhyChange, workspace: &Workspace) {
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

impl Answer {
    pub(super) fn unknown(reason: WhyReason) -> Self {
        Self {
            verdict: WhyVerdict::Unknown,
            reason: Some(reason),
            base: None,
            cause: Vec::new(),
            undo: None,
            suspects: Vec::new(),
        }
    }

    /// Whether looking further back cannot say more.
    pub(super) fn is_last(&self) -> bool {
        let open = [
            Some(WhyReason::NoChange),
            Some(WhyReason::FailsWithout),
            Some(WhyReason::DoesNotBuild),
        ];
        !open.contains(&self.reason)
    }

    // Whether what failed is seen, and no change of the repository explains it.
    fn is_open(&self) -> bool {
        let around = [
            Some(WhyReason::NoBase),
            Some(WhyReason::CommandNotFound),
            Some(WhyReason::NotExecutable),
        ];
        !self.is_last() || around.contains(&self.reason)
    }
}

/// What product code is, as against the tests that say what is wanted of it: files that are called as tests
/// are, and those whose name the failing tests bear. The place of a failure may be a line of the product.
pub(super) fn is_product(path: &RepoPath, diagnosis: Option<&Diagnosis>) -> bool {
    let path = path.as_str();
    let module = path.strip_suffix(".py").map(|it| it.replace('/', "."));
    // `shop.tests.T.test_a`, `test_a (shop.tests.T)`.
    let in_module = |id: &str| {
        let mut names = id.split(|it: char| !(it.is_alphanumeric() || "_.".contains(it)));
        let module = module.as_deref();
        names.any(|name| {
            let rest = module.and_then(|module| name.strip_prefix(module));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let bears = |id: &str| id.starts_with(path) || in_module(id);
    let mut tests = diagnosis.into_iter().flat_map(|it| &it.tests);
    !is_test(path) && !tests.any(|it| it.path.as_deref() == Some(path) && bears(&it.id))
}
