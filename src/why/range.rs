use std::collections::BTreeMap;

use super::case::{Answer, Case, Scope, search};
use super::failures::Observation;
use super::trials::{States, Trials};
use super::{Difference, WhyError, bisect};
use crate::git::{GitError, Repository, TreeSource};
use crate::model::{Diagnosis, RepoPath, WhyOutcome, WhyReason, WhyVerdict};
use crate::workspace::Workspace;

/// Commits to compare with, the first that says something counts.
pub struct Bases {
    // Why, and the commit.
    commits: Vec<(String, String)>,
    // The first-parent line from `HEAD` on, newest first.
    line: Vec<String>,
    shallow: bool,
    // Whether somebody says that the first passes.
    named: bool,
}

impl Bases {
    /// Lists the commit that is named; else the last one `seen` green here, where the branch began, and some
    /// steps back.
    ///
    /// # Errors
    /// A revision that is not there.
    pub fn list(
        git: &Repository,
        since: Option<&str>,
        seen: Option<String>,
    ) -> Result<Self, GitError> {
        let parents = git.first_parents("HEAD", MAX_COMMITS)?;
        let mut commits = Vec::new();
        if let Some(since) = since {
            let commit = git.commit(since)?;
            // Where what stood there does not build here, one after it may.
            let within = parents.iter().position(|it| *it == commit).unwrap_or(0);
            let steps = std::iter::successors(Some(1), |it| Some(it * 2));
            let steps = steps.take_while(|it| *it < within);
            commits.push((since.to_owned(), commit));
            for back in steps {
                let commit = parents.get(back).cloned();
                commits.extend(commit.map(|it| (format!("{back} commits back"), it)));
            }
        } else {
            let seen = seen.and_then(|commit| git.commit(&commit).ok());
            commits.extend(seen.map(|it| (SEEN.to_owned(), it)));
            let branched = git.branched_from();
            commits.extend(branched.map(|it| ("where the branch began".to_owned(), it)));
            // Of fewer commits the first of all.
            let first = parents.len().saturating_sub(1);
            for back in STEPS_BACK.map(|it| it.min(first)) {
                let commit = parents.get(back).cloned();
                commits.extend(commit.map(|it| (format!("{back} commits back"), it)));
            }
        }
        let head = parents.first().cloned();
        let mut seen: Vec<String> = Vec::new();
        commits.retain(|(_, commit)| {
            let new = Some(commit) != head.as_ref() && !seen.contains(commit);
            seen.push(commit.clone());
            new || since.is_some()
        });
        Ok(Self {
            commits,
            line: parents,
            shallow: git.is_shallow(),
            named: since.is_some(),
        })
    }

    /// Leaves the commit that was seen to pass, where the branch began, and the one before `HEAD`.
    pub fn retain_near(&mut self) {
        let last = self.line.get(1).cloned();
        self.commits
            .retain(|(why, commit)| !why.ends_with("back") || Some(commit) == last.as_ref());
    }
}

const SEEN: &str = "the last run that passed";

/// Commits of the first-parent line that are looked at.
const MAX_COMMITS: usize = 2_000;
/// Where nothing says more, so far back the tests are asked.
const STEPS_BACK: [usize; 5] = [1, 2, 4, 16, 64];

/// Finds the commit between a base with which the tests pass and `HEAD`, then the changes of that commit. The
/// files that hold the failing tests stay as they are. `found` is the answer of the uncommitted changes.
///
/// # Errors
/// When a commit cannot be read or the tests cannot be run.
pub(super) fn search_range(
    trials: &mut Trials<'_>,
    git: &Repository,
    workspace: &Workspace,
    bases: &Bases,
    may: &(dyn Fn(&RepoPath) -> bool + Sync),
    found: Answer,
) -> Result<Answer, WhyError> {
    let diagnosis = trials.red().diagnosis.clone();
    let mut range = Range {
        git,
        workspace,
        may,
        diagnosis: &diagnosis,
        scope: Scope::Product,
    };
    let mut answer = found;
    if bases.commits.is_empty() && answer.reason == Some(WhyReason::NoChange) {
        answer.reason = Some(WhyReason::NoBase);
        answer.verdict = WhyVerdict::Unknown;
    }
    for (what, commit) in &bases.commits {
        let Ok(tree) = git.tree(commit) else {
            continue;
        };
        trials.failures.unsplit();
        let mut last: Option<States> = None;
        for scope in [Scope::Product, Scope::Support] {
            range.scope = scope;
            let states = range.states(&tree);
            if states.is_empty() || last.as_ref() == Some(&states) {
                continue;
            }
            let Some(seen) = trials.try_states(&states, Some(commit), &[])? else {
                answer.reason = trials.ended();
                answer.verdict = WhyVerdict::Unknown;
                return Ok(answer);
            };
            last = Some(states);
            if trials.failures.is_mixed(&seen) {
                trials.failures.split(&seen);
            }
            match trials.failures.outcome(&seen) {
                WhyOutcome::Passes => {
                    let base = (what.clone(), commit.clone());
                    return range.search(trials, bases, base, seen);
                }
                WhyOutcome::Fails => answer.reason = Some(range.red_base(trials, &seen, &tree)),
                WhyOutcome::Other if answer.reason != Some(WhyReason::FailsWithout) => {
                    answer.reason = Some(WhyReason::DoesNotBuild);
                }
                WhyOutcome::Other => {}
            }
        }
        if last.is_some() {
            answer.verdict = super::case::verdict_of(answer.reason.unwrap_or(WhyReason::NoChange));
            answer.base = Some(crate::model::WhyBase {
                what: what.clone(),
                commit: commit.clone(),
            });
        }
        let is_named = bases.named && bases.commits.first().is_some_and(|it| it.1 == *commit);
        if is_named && answer.reason == Some(WhyReason::FailsWithout) {
            break;
        }
    }
    if bases.shallow && answer.verdict == WhyVerdict::NotByThisChange {
        answer.verdict = WhyVerdict::Unknown;
        answer.reason = Some(WhyReason::NoBase);
    }
    Ok(answer)
}

struct Range<'a> {
    git: &'a Repository,
    workspace: &'a Workspace,
    may: &'a (dyn Fn(&RepoPath) -> bool + Sync),
    diagnosis: &'a Diagnosis,
    scope: Scope,
}

impl Range<'_> {
    // The files of a commit that are in scope, the others as they are in the worktree.
    fn states(&self, tree: &TreeSource) -> States {
        let may = |path: &RepoPath| {
            (self.may)(path) && Scope::needed_for(path, self.diagnosis) <= self.scope
        };
        Difference::between(tree, self.workspace.source.as_ref(), &may).before()
    }

    // What a base that fails says: a denial needs the same failures with all else reverted.
    fn red_base(
        &self,
        trials: &mut Trials<'_>,
        seen: &Observation,
        tree: &TreeSource,
    ) -> WhyReason {
        trials.failures.split(seen);
        let is_same = trials.failures.all_failed_before();
        trials.failures.unsplit();
        match (is_same, self.tests_changed(tree)) {
            (true, false) => WhyReason::FailsWithout,
            // The test itself may have changed; it is never reverted.
            (true, true) => WhyReason::NoBase,
            (false, _) => WhyReason::DoesNotBuild,
        }
    }

    // Whether a file that holds a failing test is another one there.
    fn tests_changed(&self, tree: &TreeSource) -> bool {
        let may = |path: &RepoPath| Scope::needed_for(path, self.diagnosis) == Scope::Everything;
        let source = self.workspace.source.as_ref();
        !Difference::between(tree, source, &may).hunks().is_empty()
    }

    fn search(
        &self,
        trials: &mut Trials<'_>,
        bases: &Bases,
        base: (String, String),
        seen: Observation,
    ) -> Result<Answer, WhyError> {
        // Oldest first; a base that is not on the line has nothing between.
        let at = bases.line.iter().position(|it| *it == base.1);
        let mut line: Vec<String> = match at {
            Some(at) => bases.line.iter().take(at + 1).rev().cloned().collect(),
            None => vec![base.1.clone()],
        };
        if at.is_none() {
            line.extend(bases.line.first().cloned());
        }
        let mut observed = BTreeMap::from([(0, seen)]);
        let mut outcomes =
            BTreeMap::from([(0, WhyOutcome::Passes), (line.len() - 1, WhyOutcome::Fails)]);
        let (good, bad) = loop {
            match bisect(line.len(), &outcomes) {
                Ok(Some(found)) => break found,
                Ok(None) => break widest(&outcomes, line.len()),
                Err(state) => {
                    let commit = line.get(state).cloned().unwrap_or_default();
                    let states = self.states(&self.git.tree(&commit)?);
                    let Some(seen) = trials.try_states(&states, Some(&commit), &[])? else {
                        let reason = trials.ended().unwrap_or(WhyReason::Budget);
                        return Ok(Answer::unknown(reason));
                    };
                    outcomes.insert(state, trials.failures.outcome(&seen));
                    observed.insert(state, seen);
                }
            }
        };
        let seen = observed.remove(&good).into_iter().collect();
        let is_red = observed.contains_key(&bad);
        let (Some(good), Some(bad)) = (line.get(good), line.get(bad)) else {
            return Ok(Answer::unknown(WhyReason::NoBase));
        };
        let before = self.git.tree(good)?;
        let after = self.git.tree(bad)?;
        let case = Case {
            before: &before,
            after: &after,
            laid: self.states(&after),
            commit: Some(bad.clone()),
            base: (base.0, good.clone()),
            scope: self.scope,
            seen,
            is_red,
        };
        Ok(search(trials, &case, self.may)?)
    }
}

// The last that passes and the first that fails, where what is between says nothing.
fn widest(outcomes: &BTreeMap<usize, WhyOutcome>, count: usize) -> (usize, usize) {
    let of = |outcome: WhyOutcome| {
        let states = outcomes.iter().filter(move |(_, it)| **it == outcome);
        states.map(|(state, _)| *state)
    };
    let good = of(WhyOutcome::Passes).max().unwrap_or(0);
    let bad = of(WhyOutcome::Fails).filter(|it| *it > good).min();
    (good, bad.unwrap_or(count - 1))
}
