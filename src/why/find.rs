use std::collections::BTreeMap;
use std::fmt;

use super::case::{Answer, Case, Scope, search};
use super::range::{Bases, search_range};
use super::trials::Trials;
use crate::exec::on_path;
use crate::git::{GitError, Repository};
use crate::model::{RepoPath, WhyReason, WhyVerdict};
use crate::repair::RepairError;
use crate::source::{EntryKind, Source};
use crate::workspace::Workspace;

/// Which changes are searched.
pub struct FindCause<'a> {
    /// The repository.
    pub workspace: &'a Workspace,
    /// A revision at which the command passed.
    pub since: Option<&'a str>,
    /// The commit at which it was last seen to pass here.
    pub seen_green: Option<String>,
    /// Whether no commit is tried but those that are likely to pass.
    pub near_only: bool,
    /// Which files may be read and reverted.
    pub may: &'a (dyn Fn(&RepoPath) -> bool + Sync),
}

/// Why a search ended early.
#[derive(Debug)]
pub enum WhyError {
    /// The tests cannot be run.
    Trial(RepairError),
    /// A commit cannot be read.
    Git(GitError),
}

impl fmt::Display for WhyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trial(error) => error.fmt(f),
            Self::Git(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WhyError {}

impl From<RepairError> for WhyError {
    fn from(error: RepairError) -> Self {
        Self::Trial(error)
    }
}

impl From<GitError> for WhyError {
    fn from(error: GitError) -> Self {
        Self::Git(error)
    }
}

/// Searches for the change that made a command fail: among the uncommitted changes, then among the commits.
///
/// # Errors
/// When a commit cannot be read or the tests cannot be run.
pub fn find_cause(trials: &mut Trials<'_>, find: &FindCause<'_>) -> Result<Answer, WhyError> {
    let mut answer = find_change(trials, find)?;
    // A command that cannot be started says nothing about changes.
    if let Some(reason) = trials.not_run().filter(|_| answer.is_open()) {
        answer.verdict = WhyVerdict::NotRun;
        answer.reason = Some(reason);
        answer.suspects.clear();
    }
    // A denial holds where everything was reverted, and a submodule never is.
    if answer.verdict == WhyVerdict::NotByThisChange && submodules(find.workspace).next().is_some()
    {
        answer.verdict = WhyVerdict::Unknown;
    }
    Ok(answer)
}

/// The submodules of a repository: trials leave them as they are.
pub fn submodules(workspace: &Workspace) -> impl Iterator<Item = &RepoPath> {
    let entries = workspace.source.listing().entries().iter();
    let modules = entries.filter(|entry| matches!(entry.kind, EntryKind::Submodule { .. }));
    modules.map(|entry| &entry.path)
}

fn find_change(trials: &mut Trials<'_>, find: &FindCause<'_>) -> Result<Answer, WhyError> {
    if let Some(reason) = trials.ended() {
        return Ok(Answer::unknown(reason));
    }
    // No change of the repository brings a program that is searched for elsewhere.
    let line = &trials.red().line;
    let program = line.split_whitespace().next().unwrap_or_default();
    let is_missing = trials.not_run() == Some(WhyReason::CommandNotFound);
    if is_missing && !program.contains(['/', '=']) && on_path(program).is_none() {
        return Ok(Answer::unknown(WhyReason::CommandNotFound));
    }
    let git = find.workspace.git.as_ref();
    let Some((git, head)) = git.and_then(|git| Some((git, git.head()?))) else {
        return Ok(Answer::unknown(WhyReason::NoBase));
    };
    let mut answer = Answer::unknown(WhyReason::NoChange);
    if find.since.is_none() {
        answer = search_worktree(trials, find, git, &head)?;
        let is_left = find.near_only && answer.reason != Some(WhyReason::NoChange);
        if answer.is_last() || is_left {
            return Ok(answer);
        }
    }
    let mut bases = Bases::list(git, find.since, find.seen_green.clone())?;
    if find.near_only {
        bases.retain_near();
    }
    search_range(trials, git, find.workspace, &bases, find.may, answer)
}

fn search_worktree(
    trials: &mut Trials<'_>,
    find: &FindCause<'_>,
    git: &Repository,
    head: &str,
) -> Result<Answer, WhyError> {
    let tree = git.tree(head)?;
    let source: &dyn Source = find.workspace.source.as_ref();
    let case = Case {
        before: &tree,
        after: source,
        laid: BTreeMap::new(),
        commit: None,
        base: ("what is not committed".to_owned(), head.to_owned()),
        scope: Scope::Everything,
        seen: Vec::new(),
        is_red: false,
    };
    Ok(search(trials, &case, find.may)?)
}
