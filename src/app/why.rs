//! The task of `mendit why`: searches for the culprit and caches the answer.

use std::ffi::OsString;
use std::time::Instant;

use super::command::not_started;
use super::files::make_folder;
use super::fix::commands;
use super::fix::{failing_command, rerun_spec};
use super::flags::request;
use super::open::root_to_run_in;
use super::runs::{self, RunStore};
use super::{App, AppError, Result, word};
use crate::config::Seconds;
use crate::context::Request;
use crate::inventory::{Project, explain_failure};
use crate::languages::reading;
use crate::model::{
    Code, Exit, KnownCause, Profile, Remedy, RepoPath, SandboxMode, Traced, WhyDocument, WhyReason,
    WorkplaceMode,
};
use crate::patch::{WriteError, is_interrupted};
use crate::policy::is_test_name;
use crate::repair::Commands;
use crate::runners::missing_program;
use crate::source::Source;
use crate::why::{Facts, FindCause, KeptCause, RedRun, TrialLimits, TrialStart, WhyError};
use crate::workplace::find_linked;
use crate::workspace::Workspace;

request! {
/// Find the change that broke the tests.
#[derive(Default)]
WhyRequest {
    /// The command that fails [default: that of the last `mendit run`]
    #[arg(value_name = "CMD", trailing_var_arg = true)] command: Vec<OsString>;
    /// A revision at which it passed
    #[arg(long, value_name = "REV")] since: Option<String>;
    /// Time limit for the whole search, such as `2m`
    #[arg(long, value_name = "S")] budget_seconds: Option<Seconds>;
    /// Maximum number of runs [default: 100]
    #[arg(long, value_name = "N")] max_runs: Option<u32>;
    /// Pass an environment variable through (NAME) or set it (NAME=VALUE); repeatable
    #[arg(long, value_name = "NAME")] env: Vec<String> => add test.env;
    /// Confine what the command writes [default: auto] [setting: sandbox.mode]
    #[arg(long, value_name = "auto|require|off", value_parser = word::<SandboxMode>)] sandbox: Option<SandboxMode> => set sandbox.mode;
    /// Time limit for one run of the command, such as `10m`
    #[arg(long, value_name = "S")] timeout: Option<Seconds> => set limits.timeout;
}
}

/// Reverts changes in an isolated copy and reruns the failing tests, until the smallest set is known with which
/// reverted they pass. Nothing is written into the worktree.
///
/// # Errors
/// When nothing was run yet, the last run passed, or the command cannot be run.
pub fn find_cause(app: &mut App, request: &WhyRequest) -> Result<WhyDocument> {
    let line = failing_command(app, &request.command)?;
    let app = &*app;
    let workspace = app.worktree()?;
    if let Some(word) = missing_test_file(&workspace, &line).filter(|_| request.since.is_none()) {
        let message = format!("`{word}` exists neither now nor at the last commit");
        return Err(AppError::usage(message).hint("correct the command: `mendit why CMD`"));
    }
    let usual = TrialLimits::default();
    let budget = request.budget_seconds;
    let search = Search {
        line: &line,
        commands: commands(app),
        choice: app.settings().sandbox.workplace.unwrap_or_default(),
        red: RunStore::open(app)?.last_red(&workspace, &line)?,
        since: request.since.as_deref(),
        near_only: false,
        limits: TrialLimits {
            until: budget.map(|budget| Instant::now() + budget.0),
            max_runs: request.max_runs.unwrap_or(usual.max_runs),
            ..usual
        },
    };
    search.run(app, &workspace, |find| find.find_cause())
}

// The test file that a command names and that neither the worktree nor the last commit has. No change makes such
// a command pass.
pub(super) fn missing_test_file<'l>(workspace: &Workspace, line: &'l str) -> Option<&'l str> {
    let git = workspace.git.as_ref()?;
    let last = git.tree(&git.head()?).ok()?;
    let mut words = line.split([' ', ':']);
    words.find(|word| {
        let path = RepoPath::resolve(&workspace.prefix, word).ok();
        let path = path.filter(|path| is_test_name(path.file_name()) && reading(path).is_some());
        path.is_some_and(|path| {
            let known = [workspace.source.listing(), last.listing()];
            known.iter().all(|listing| listing.file(path.as_str()).is_none())
        })
    })
}

/// A search for the culprit of one command.
pub(super) struct Search<'a> {
    pub(super) line: &'a str,
    commands: Commands,
    choice: WorkplaceMode,
    red: Option<RedRun>,
    since: Option<&'a str>,
    near_only: bool,
    limits: TrialLimits,
}

impl<'a> Search<'a> {
    /// A search that goes on from a run that has just failed; `None` where no change explains the failure, or the
    /// run was in an isolated copy.
    pub(super) fn after_run(
        app: &App,
        workspace: &Workspace,
        line: &'a str,
        red: RedRun,
    ) -> Option<Self> {
        let place = app.settings().sandbox.workplace;
        let in_place = place.is_none_or(|place| place == WorkplaceMode::InPlace);
        let is_committed = workspace.git.as_ref().and_then(|git| git.head()).is_some();
        let is_there = missing_test_file(workspace, line).is_none();
        if !in_place || !is_committed || !is_there || !red.may_be_of_change() {
            return None;
        }
        let mut commands = commands(app);
        commands.lines = vec![line.to_owned()];
        commands.setup = None;
        if commands.sandbox == SandboxMode::Off {
            commands.sandbox = SandboxMode::Auto;
        }
        // Copying a larger repository takes too long for `mendit run` when no overlay is available.
        let is_small = workspace.source.listing().entries().len() <= 2_000;
        Some(Self {
            line,
            commands,
            choice: [WorkplaceMode::Overlay, WorkplaceMode::Auto][usize::from(is_small)],
            limits: TrialLimits::after_run(red.took),
            red: Some(red),
            since: None,
            near_only: true,
        })
    }

    /// Opens an isolated copy and works in it.
    pub(super) fn run<T>(
        &self,
        app: &App,
        workspace: &Workspace,
        work: impl FnOnce(&FindCause<'_>) -> Result<T, WhyError>,
    ) -> Result<T> {
        let root = root_to_run_in(workspace)?;
        let store = RunStore::open(app)?;
        if is_interrupted(store.state.directory()) {
            return Err(WriteError::Interrupted.into());
        }
        let settings = app.settings();
        let policy = app.read_policy(Profile::Ranked)?;
        let is_output = store.outputs_of_last(workspace, self.line);
        Ok(work(&FindCause {
            slot: make_folder(&store.state.workplace())?,
            linked_folders: find_linked(workspace.source.as_ref(), &root, &settings.sandbox.share)?,
            state: store.state.directory(),
            workspace,
            root,
            line: self.line,
            commands: &self.commands,
            workplace: self.choice,
            redactor: app.redactor(),
            red: self.red.as_ref(),
            since: self.since,
            seen_green: store.passed_at(self.line),
            near_only: self.near_only,
            may: &|path: &RepoPath| policy.refuse(path).is_none() && !is_output(path),
            limits: self.limits,
            trace: settings.context.trace,
            around: &|red, not_run| environment_remedies(workspace, red, self.line, not_run),
            stop: &app.progress.stop()?,
            watch: &|trial: &TrialStart| {
                app.progress.trial(&trial.in_words(self.limits.max_runs));
                app.progress.step(&format!("trying {}", trial.what));
            },
        })?)
    }
}

// Reasons outside the changes.
fn environment_remedies(
    workspace: &Workspace,
    red: &RedRun,
    line: &str,
    not_run: Option<WhyReason>,
) -> Vec<Remedy> {
    let project = Project::open(workspace);
    let mut found = explain_failure(&project, &red.diagnosis, &red.log, line);
    if let (Some(reason), []) = (not_run, found.as_slice()) {
        let message = not_started(line, reason == WhyReason::NotExecutable);
        let program = red.log.lines().find_map(missing_program);
        let program = program.or_else(|| line.split_whitespace().next());
        let problem = format!("`{}`: {message}", program.unwrap_or_default());
        found.push(Remedy::new(problem, None));
    }
    found
}

/// The culprit of this command on these very files; without a command, the last one found.
pub(super) fn kept_cause(
    app: &App,
    workspace: &Workspace,
    line: Option<&str>,
) -> Option<KeptCause> {
    open_facts(app, workspace)?.cause(line)
}

/// The trace of this command's failing tests on these very files, where traces are wanted.
pub(super) fn known_trace(app: &App, workspace: &Workspace, line: &str) -> Option<Traced> {
    open_facts(app, workspace)?.trace(line).filter(|_| app.settings().context.trace)
}

/// Adds culprit and trace of the commands to the request for a packet.
pub(super) fn add_known(app: &App, workspace: &Workspace, request: &mut Request) {
    let lines = &request.test_commands;
    let cause = lines.iter().find_map(|line| kept_cause(app, workspace, Some(line)));
    request.traced = lines.iter().find_map(|line| known_trace(app, workspace, line));
    request.cause = cause.map(|kept| kept.cause);
}

pub(super) fn open_facts<'a>(app: &'a App, workspace: &'a Workspace) -> Option<Facts<'a>> {
    let state = runs::state(app).ok()?;
    Some(Facts::new(state.directory(), workspace, app.redactor()))
}

/// The culprit that was found last, and the patch that reverts it, where the files are still as they were.
///
/// # Errors
/// When no culprit is known of these files, or none that one patch reverts.
pub fn known_undo(app: &App) -> Result<(KnownCause, String)> {
    let workspace = app.worktree()?;
    let Some(kept) = kept_cause(app, &workspace, None) else {
        let line = rerun_spec(app, &[])?.line().ok_or_else(runs::secret)?;
        let red = RunStore::open(app)?.last_red(&workspace, &line)?;
        let facts = open_facts(app, &workspace);
        if let Some(found) = facts.and_then(|facts| facts.unexplained(&line)) {
            let message = format!("nothing to undo: {}", found.trim_start_matches("unknown: "));
            return Err(AppError::new(Code::U309, message).exit(Exit::PersonMustAct));
        }
        let message = "the change that broke the tests is not known for the current files";
        return Err(AppError::new(Code::U309, message).hint(match red {
            Some(_) => "run `mendit why` to find it",
            None => "run the tests on them first: `mendit run`",
        }));
    };
    let patch = kept.undo.ok_or_else(|| {
        let message = match kept.cause.breaks.is_empty() {
            true => "no patch reverts the change: its lines changed again, or are beside a secret",
            false => "the undo is not offered: tests fail with the change reverted, too",
        };
        let hint = format!("revert it by hand: {}", kept.cause.message);
        AppError::new(Code::U309, message).hint(hint)
    })?;
    Ok((kept.cause, patch))
}
