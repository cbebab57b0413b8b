//! The search for the culprit: worktree first, then commits, then the environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::answer::{Answer, build_document};
use super::commits::search_commits;
use super::known::Facts;
use super::state_pair::{Scope, StatePair, search_pair};
use super::trials::{RedRun, TrialLimits, TrialStart, Trials};
use crate::exec::{Stop, on_path};
use crate::git::{GitError, Repository};
use crate::model::{Remedy, RepoPath, Traced, WhyBase, WhyDocument, WhyReason, WorkplaceMode};
use crate::policy::Redactor;
use crate::repair::{Commands, RepairError, RunLock};
use crate::source::EntryKind;
use crate::workplace::{Plan, Workplace};
use crate::workspace::Workspace;

/// The reasons that lie outside the changes: of a failed run, and of a command that never started.
pub type Around<'a> = dyn Fn(&RedRun, Option<WhyReason>) -> Vec<Remedy> + 'a;

/// A search, and all that it needs.
pub struct FindCause<'a> {
    /// The repository.
    pub workspace: &'a Workspace,
    /// Its root.
    pub root: PathBuf,
    /// The folder in which facts about it are kept.
    pub state: &'a Path,
    /// The folder of isolated copies.
    pub slot: PathBuf,
    /// Ignored folders that a copy links to.
    pub linked_folders: Vec<RepoPath>,
    /// The command as it was typed.
    pub line: &'a str,
    /// How it is run.
    pub commands: &'a Commands,
    /// Which isolated copy it runs in.
    pub workplace: WorkplaceMode,
    /// Masks secrets.
    pub redactor: &'a Redactor,
    /// The run that failed; `None` runs the command first.
    pub red: Option<&'a RedRun>,
    /// A revision at which the command passed.
    pub since: Option<&'a str>,
    /// The commit at which it was last observed to pass here.
    pub seen_green: Option<String>,
    /// Whether no commit is tried but those likely to pass.
    pub near_only: bool,
    /// Which files may be read and reverted.
    pub may: &'a (dyn Fn(&RepoPath) -> bool + Sync),
    /// The budget.
    pub limits: TrialLimits,
    /// Whether failing tests may be traced.
    pub trace: bool,
    /// Names reasons outside the changes.
    pub around: &'a Around<'a>,
    /// Ends the trials.
    pub stop: &'a Stop,
    /// Called with each trial.
    pub watch: &'a dyn Fn(&TrialStart),
}

/// Why a search ended early.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// The tests cannot be run.
    #[error(transparent)]
    Trial(#[from] RepairError),
    /// A commit cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl FindCause<'_> {
    /// Reverts changes in an isolated copy and reruns the failing tests until the culprit is known: among the
    /// uncommitted changes, then among the commits. The answer is kept until a file changes.
    ///
    /// # Errors
    /// When a commit cannot be read or the tests cannot be run.
    pub fn find_cause(&self) -> Result<WhyDocument, WhyError> {
        let started = Instant::now();
        let _lock = RunLock::take(self.state)?;
        let facts = Facts::new(self.state, self.workspace, self.redactor);
        let (mut trials, fails) = self.open_trials()?;
        let answer = if fails {
            if let Some(traced) = facts.trace(self.line).filter(|_| self.trace) {
                trials.traced = traced;
            }
            let mut answer = self.search_changes(&mut trials)?;
            // A command that cannot be started says nothing about changes.
            if let Some(reason) = trials.not_run().filter(|_| answer.is_open()) {
                answer.reason = Some(reason);
                answer.suspects.clear();
            }
            answer
        } else {
            Answer::unknown(trials.ended().unwrap_or(WhyReason::Passes))
        };
        let document = build_document(self, trials, answer, started);
        facts.keep_cause(self.line, &document, !self.near_only);
        Ok(document)
    }

    /// Traces the failing tests on the files as they are, in one run. The trace is kept until a file changes.
    ///
    /// # Errors
    /// When they cannot be run.
    pub fn trace_failing(&self) -> Result<Traced, WhyError> {
        let _lock = RunLock::take(self.state)?;
        let (mut trials, _) = self.open_trials()?;
        trials.trace(&BTreeMap::new())?;
        let traced = trials.traced.clone();
        tracing::info!(
            failing = traced.failing,
            files = traced.files.len(),
            "traced the failing tests"
        );
        if traced.failing > 0 {
            Facts::new(self.state, self.workspace, self.redactor).keep_trace(self.line, &traced);
        }
        Ok(traced)
    }

    fn open_trials(&self) -> Result<(Trials<'_>, bool), RepairError> {
        let plan = Plan {
            choice: self.workplace,
            slot: &self.slot,
            source: self.workspace.source.as_ref(),
            root: &self.root,
            git: self.workspace.git.as_ref(),
            linked_folders: self.linked_folders.clone(),
            commands: &self.commands.lines,
            closed: vec![self.state.to_owned()],
        };
        let place = Workplace::open(&plan)?;
        Trials::start(self, place)
    }

    fn search_changes(&self, trials: &mut Trials<'_>) -> Result<Answer, WhyError> {
        if let Some(reason) = trials.ended() {
            return Ok(Answer::unknown(reason));
        }
        // No search, because no change of the repository installs a program elsewhere.
        let program = self.line.split_whitespace().next().unwrap_or_default();
        let is_missing = trials.not_run() == Some(WhyReason::CommandNotFound);
        if is_missing && !program.contains(['/', '=']) && on_path(program).is_none() {
            return Ok(Answer::unknown(WhyReason::CommandNotFound));
        }
        let git = self.workspace.git.as_ref();
        let Some((git, head)) = git.and_then(|git| Some((git, git.head()?))) else {
            return Ok(Answer::unknown(WhyReason::NoBase));
        };
        let answer = self.search_worktree(trials, git, head)?;
        let goes_on = matches!(
            answer.reason,
            Some(WhyReason::NoChange | WhyReason::FailsWithout)
        );
        if answer.is_last() || self.near_only && !goes_on {
            return Ok(answer);
        }
        // Tests that the worktree brought stay new when the budget ends before older commits are searched.
        let is_new = answer.reason == Some(WhyReason::NewTest);
        let new = is_new.then(|| answer.clone());
        let found = search_commits(trials, git, self, answer)?;
        let is_cut = found.reason == Some(WhyReason::Budget);
        Ok(new.filter(|_| is_cut).unwrap_or(found))
    }

    fn search_worktree(
        &self,
        trials: &mut Trials<'_>,
        git: &Repository,
        head: String,
    ) -> Result<Answer, WhyError> {
        let pair = StatePair {
            before: &git.tree(&head)?,
            after: self.workspace.source.as_ref(),
            laid: BTreeMap::new(),
            commit: None,
            base: WhyBase {
                what: "the uncommitted changes".to_owned(),
                commit: head,
            },
            scope: Scope::Everything,
        };
        Ok(search_pair(trials, &pair, self.may)?)
    }
}

/// The submodules of a repository: trials leave them as they are.
pub fn submodules(workspace: &Workspace) -> impl Iterator<Item = &RepoPath> {
    let entries = workspace.source.listing().entries().iter();
    let modules = entries.filter(|entry| matches!(entry.kind, EntryKind::Submodule { .. }));
    modules.map(|entry| &entry.path)
}
