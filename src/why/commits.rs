//! Bisects commits, then searches inside the first bad one.

use std::collections::BTreeMap;

use super::answer::Answer;
use super::failures::Observation;
use super::state_pair::{Scope, StatePair, search_pair};
use super::test_files::holds_failing_test;
use super::trials::Trials;
use super::{Difference, FindCause, States, WhyError, bisect_range};
use crate::git::{GitError, Repository, TreeSource};
use crate::model::{Diagnosis, RepoPath, WhyBase, WhyOutcome, WhyReason};
use crate::source::Source;

/// Without other evidence, the tests are run this many commits back.
const STEPS_BACK: [usize; 5] = [1, 2, 4, 16, 64];

/// Finds the commit between one at which the tests pass and `HEAD`, then the culprit in it. The files that hold the
/// failing tests stay as they are. `answer` is that of the uncommitted changes.
///
/// # Errors
/// When a commit cannot be read or the tests cannot be run.
pub(super) fn search_commits(
    trials: &mut Trials<'_>,
    git: &Repository,
    find: &FindCause<'_>,
    mut answer: Answer,
) -> Result<Answer, WhyError> {
    let uncommitted = answer.clone();
    // Commits of the first-parent line that are looked at.
    let line = git.first_parents("HEAD", 2_000)?;
    let bases = list_bases(git, find, &line)?;
    if bases.is_empty() && answer.reason == Some(WhyReason::NoChange) {
        answer.reason = Some(WhyReason::NoBase);
    }
    let diagnosis = trials.red().diagnosis.clone();
    let mut range = Range {
        git,
        find,
        diagnosis: &diagnosis,
        scope: Scope::Product,
    };
    for (at, base) in bases.iter().enumerate() {
        let Ok(tree) = git.tree(&base.commit) else {
            continue;
        };
        trials.failures.unsplit();
        let (mut last, mut found) = (States::new(), None);
        for scope in [Scope::Product, Scope::Support] {
            range.scope = scope;
            let states = range.states_at(&tree);
            if states.is_empty() || last == states {
                continue;
            }
            let Some(seen) = trials.try_states(&states, Some(&base.commit), &[])? else {
                answer.base = Some(base.clone());
                return Ok(answer.with_reason(trials.ended().unwrap_or(WhyReason::Budget)));
            };
            last = states;
            if trials.failures.is_mixed(&seen) {
                trials.failures.split(&seen);
            }
            let reason = match trials.failures.outcome(&seen) {
                WhyOutcome::Passes => return range.bisect_commits(trials, &line, base),
                WhyOutcome::Fails => range.red_base(trials, &seen, &tree),
                WhyOutcome::Other => WhyReason::DoesNotBuild,
            };
            found = Some(reason);
            // If an older commit fails in another way, `FailsWithout` of a later one stays the answer.
            let tells = reason != WhyReason::DoesNotBuild;
            if tells || answer.reason != Some(WhyReason::FailsWithout) {
                answer.base = Some(base.clone());
                answer.reason = found;
            }
        }
        // Nothing but the tests differs from that commit.
        if found.is_none() && last.is_empty() && range.are_new_tests(&tree) {
            answer.base = Some(base.clone());
            answer.reason = Some(WhyReason::NewTest);
            found = answer.reason;
        }
        let is_named = find.since.is_some() && at == 0;
        if is_named && found == Some(WhyReason::FailsWithout) || found == Some(WhyReason::NewTest) {
            break;
        }
    }
    if uncommitted.reason == Some(WhyReason::NewTest) {
        return Ok(uncommitted);
    }
    if git.is_shallow() && answer.reason == Some(WhyReason::FailsWithout) {
        answer.reason = Some(WhyReason::NoBase);
    }
    Ok(answer)
}

// Commits to compare with, the likeliest to pass first: the one that is named; else the last that passed here, the
// start of the branch, and some steps back.
fn list_bases(
    git: &Repository,
    find: &FindCause<'_>,
    line: &[String],
) -> Result<Vec<WhyBase>, GitError> {
    let base = |what: &str, commit: String| WhyBase {
        what: what.to_owned(),
        commit,
    };
    let back = |steps: usize| {
        let commit = line.get(steps).cloned();
        commit.map(|commit| base(&format!("{steps} commits back"), commit))
    };
    let mut bases = Vec::new();
    // A commit off the line, as after an amend or a rebase, is replaced by its newest ancestor on the line.
    let on_line = |commit: String| {
        let found = git.newest_ancestor(line, &commit)?;
        (line.first() != Some(&found) || found == commit).then_some(found)
    };
    if let Some(since) = find.since {
        let commit = git.commit(since)?;
        let commit = on_line(commit.clone()).unwrap_or(commit);
        // Where the tests do not build there, a later commit may do.
        let within = line.iter().position(|other| *other == commit);
        bases.push(base(since, commit));
        let steps = std::iter::successors(Some(1), |steps| Some(steps * 2));
        let steps = steps.take_while(|steps| *steps < within.unwrap_or(0));
        bases.extend(steps.filter_map(back));
        return Ok(bases);
    }
    let seen = find.seen_green.as_ref().and_then(|commit| on_line(git.commit(commit).ok()?));
    bases.extend(seen.map(|commit| base("the last run that passed", commit)));
    let branched = git.branched_from();
    bases.extend(branched.map(|commit| base("where the branch began", commit)));
    // A history shorter than a step ends at its oldest commit.
    let first = line.len().saturating_sub(1);
    let steps = STEPS_BACK.into_iter().take(if find.near_only { 2 } else { STEPS_BACK.len() });
    bases.extend(steps.filter_map(|steps| back(steps.min(first))));
    let mut listed: Vec<String> = line.first().cloned().into_iter().collect();
    bases.retain(|base| {
        let is_new = !listed.contains(&base.commit);
        listed.push(base.commit.clone());
        is_new
    });
    Ok(bases)
}

struct Range<'a> {
    git: &'a Repository,
    find: &'a FindCause<'a>,
    diagnosis: &'a Diagnosis,
    scope: Scope,
}

impl Range<'_> {
    // The files of a commit that are in scope, where they differ from the worktree's.
    fn states_at(&self, tree: &TreeSource) -> States {
        let (may, diagnosis, scope) = (self.find.may, self.diagnosis, self.scope);
        let source = self.find.workspace.source.as_ref();
        let difference = Difference::between(tree, source, &|path| {
            may(path) && Scope::needed_for(path, diagnosis) <= scope
        });
        difference.before()
    }

    // A denial needs the same failures with all else reverted, of tests that did not change.
    fn red_base(
        &self,
        trials: &mut Trials<'_>,
        seen: &Observation,
        tree: &TreeSource,
    ) -> WhyReason {
        trials.failures.split(seen);
        let is_same = trials.failures.all_failed_before();
        trials.failures.unsplit();
        let diagnosis = self.diagnosis;
        let source = self.find.workspace.source.as_ref();
        let tests = Difference::between(tree, source, &|path: &RepoPath| {
            holds_failing_test(path, diagnosis)
        });
        match is_same {
            true if tests.hunks().is_empty() => WhyReason::FailsWithout,
            true if self.are_new_tests(tree) => WhyReason::NewTest,
            true => WhyReason::NoBase,
            false => WhyReason::DoesNotBuild,
        }
    }

    // Whether a commit's test files lack the name of each failing test.
    fn are_new_tests(&self, tree: &TreeSource) -> bool {
        let now = self.find.workspace.source.as_ref();
        let tests = &self.diagnosis.tests;
        let mut tests = tests.iter().peekable();
        tests.peek().is_some()
            && tests.all(|test| {
                let path = test.path.as_deref().and_then(|path| RepoPath::new(path).ok());
                let name = bare_name(&test.id);
                let [is_then, is_now] = [tree as &dyn Source, now].map(|source| {
                    let text = path.as_ref().and_then(|path| source.read(path).ok());
                    text.is_some_and(|text| String::from_utf8_lossy(&text).contains(name))
                });
                is_now && !is_then
            })
    }

    // The first commit after the base at which the tests fail, and the culprit in it.
    fn bisect_commits(
        &self,
        trials: &mut Trials<'_>,
        line: &[String],
        base: &WhyBase,
    ) -> Result<Answer, WhyError> {
        // Oldest first. A base beside the line has nothing between.
        let at = line.iter().position(|commit| *commit == base.commit);
        let commits: Vec<&String> = match at {
            Some(at) => line.iter().take(at + 1).rev().collect(),
            None => std::iter::once(&base.commit).chain(line.first()).collect(),
        };
        let last = commits.len() - 1;
        let mut outcomes = BTreeMap::from([(0, WhyOutcome::Passes), (last, WhyOutcome::Fails)]);
        let (good, bad) = loop {
            match bisect_range(commits.len(), &outcomes) {
                Ok(Some(found)) => break found,
                Ok(None) => break widest_gap(&outcomes),
                Err(state) => {
                    let commit = commits.get(state).copied();
                    let commit = commit.map_or("HEAD", String::as_str);
                    let states = self.states_at(&self.git.tree(commit)?);
                    let Some(seen) = trials.try_states(&states, Some(commit), &[])? else {
                        let reason = trials.ended().unwrap_or(WhyReason::Budget);
                        return Ok(Answer::unknown(reason));
                    };
                    outcomes.insert(state, trials.failures.outcome(&seen));
                }
            }
        };
        let (Some(good), Some(bad)) = (commits.get(good), commits.get(bad)) else {
            return Ok(Answer::unknown(WhyReason::NoBase));
        };
        let after = self.git.tree(bad)?;
        let pair = StatePair {
            before: &self.git.tree(good)?,
            laid: self.states_at(&after),
            after: &after,
            commit: Some((*bad).clone()),
            base: WhyBase {
                what: base.what.clone(),
                commit: (*good).clone(),
            },
            scope: self.scope,
        };
        Ok(search_pair(trials, &pair, self.find.may)?)
    }
}

// A test's own name, as its file spells it.
fn bare_name(id: &str) -> &str {
    let last = id.rsplit("::").next().unwrap_or(id);
    let last = last.rsplit(" > ").next().unwrap_or(last);
    let last = last.split('[').next().unwrap_or(last);
    // unittest writes `module.Class.method`.
    let end = last.rsplit('.').next().filter(|_| !last.contains(' '));
    end.unwrap_or(last)
}

// The last state that passes and the first after it that fails, where those between prove nothing.
fn widest_gap(outcomes: &BTreeMap<usize, WhyOutcome>) -> (usize, usize) {
    let [good, mut bad] = [WhyOutcome::Passes, WhyOutcome::Fails].map(|wanted| {
        let states = outcomes.iter();
        states.filter_map(move |(state, outcome)| (*outcome == wanted).then_some(*state))
    });
    let good = good.max().unwrap_or(0);
    let bad = bad.find(|state| *state > good);
    (good, bad.unwrap_or(good + 1))
}
