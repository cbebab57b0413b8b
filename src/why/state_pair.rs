//! Searches the difference between two states of the files.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{Answer, describe_changes, may_lie_further};
use super::rank::collect_clues;
use super::test_files::holds_failing_test;
use super::trials::Trials;
use super::{Difference, Hunk, SearchStep, States, is_new_lock_file, next, rank_suspects};
use crate::languages::words;
use crate::model::{Diagnosis, RepoPath, WhyBase, WhyOutcome, WhyReason};
use crate::patch::{Change, FileState, canonical, merge_change};
use crate::policy::is_test;
use crate::repair::RepairError;
use crate::source::Source;
use crate::workspace::Workspace;

/// Two states of the files, of which the command passes on the first and fails on the second.
pub(super) struct StatePair<'a> {
    /// The state before.
    pub before: &'a dyn Source,
    /// The state after.
    pub after: &'a dyn Source,
    /// Files of the worktree that differ from the state after.
    pub laid: States,
    /// The commit that brought the changes; `None` for uncommitted ones.
    pub commit: Option<String>,
    /// The name and the commit of the state before.
    pub base: WhyBase,
    /// Files that may be reverted at all.
    pub scope: Scope,
}

/// Which files a search may revert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Files that no test runner loads for tests alone.
    Product,
    /// Those, and test support: helpers, fixtures, setup files, snapshots.
    Support,
    /// Those, and at last the files that hold the failing tests themselves.
    Everything,
}

impl Scope {
    /// The scope in which a file is reverted.
    pub(super) fn needed_for(path: &RepoPath, diagnosis: &Diagnosis) -> Self {
        if holds_failing_test(path, diagnosis) {
            Self::Everything
        } else if is_test(path.as_str()) {
            Self::Support
        } else {
            Self::Product
        }
    }
}

/// Searches the changes between two states for the culprit.
///
/// # Errors
/// When the tests cannot be run.
pub(super) fn search_pair(
    trials: &mut Trials<'_>,
    pair: &StatePair<'_>,
    may: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Result<Answer, RepairError> {
    let diagnosis = trials.red().diagnosis.clone();
    // Without its file a new test is not one that passes.
    let is_new_file = |path: &str| pair.before.listing().file(path).is_none();
    let difference = Difference::between(pair.before, pair.after, &|path: &RepoPath| {
        let needed = Scope::needed_for(path, &diagnosis);
        may(path)
            && !is_new_lock_file(path, pair.before)
            && needed <= pair.scope
            && !(needed == Scope::Everything && is_new_file(path.as_str()))
    });
    let mut answer = Answer {
        base: Some(pair.base.clone()),
        ..Answer::unknown(WhyReason::NoChange)
    };
    if difference.hunks().is_empty() {
        let are_new = pair.commit.is_none() && trials.failures.are_new(None, &is_new_file);
        return Ok(if are_new { answer.with_reason(WhyReason::NewTest) } else { answer });
    }
    let mut clues = collect_clues(&diagnosis, pair.after);
    let hunks: Vec<usize> = (0..difference.hunks().len()).collect();
    // Changes above which a trace of the failing tests pays for its run.
    if join_renames(&difference, &hunks).len() > 8 {
        let outcome = trials.trace(&pair.laid)?;
        let flaky = (outcome == Some(WhyOutcome::Passes)).then_some(WhyReason::Flaky);
        if let Some(reason) = flaky.or(trials.ended()) {
            return Ok(answer.with_reason(reason));
        }
        clues.ran.clone_from(&trials.traced);
    }
    let scope_of = |hunk: usize| {
        let hunk = difference.hunks().get(hunk);
        hunk.map(|hunk| Scope::needed_for(&hunk.path, &diagnosis))
    };
    let mut ranked = rank_suspects(&difference, &clues);
    ranked.sort_by_key(|suspect| scope_of(suspect.hunk));
    answer.suspects = describe_changes(&difference, &ranked, pair.commit.as_deref());
    let all: Vec<usize> = ranked.iter().map(|suspect| suspect.hunk).collect();
    let own = all.iter().position(|hunk| scope_of(*hunk) == Some(Scope::Everything));
    let set = match search_hunks(trials, pair, &difference, &all, own)? {
        Ok(set) => set,
        Err(reason) => {
            let states = lay_over(pair, &difference, &all.iter().copied().collect());
            let seen = trials.seen(&states).next();
            let are_new = pair.commit.is_none()
                && may_lie_further(reason)
                && trials.failures.are_new(seen, &is_new_file);
            return Ok(answer.with_reason(if are_new { WhyReason::NewTest } else { reason }));
        }
    };
    ranked.retain(|suspect| set.contains(&suspect.hunk));
    ranked.sort_by_key(|suspect| suspect.hunk);
    answer.reason = None;
    answer.cause = describe_changes(&difference, &ranked, pair.commit.as_deref());
    if let Some(changes) = undo_changes(&difference, &set, pair, trials.workspace()) {
        let undone = trials.run_undone(&changes)?;
        let patch = undone.is_ok().then(|| canonical(&changes));
        answer.undo = patch.and_then(|patch| String::from_utf8(patch).ok());
        answer.breaks = undone.unwrap_or_else(|failing| failing);
    }
    Ok(answer)
}

// Searches the hunks of the product and of test support first; those in the failing tests' own files, which follow from
// `own` on, only when the others are not to blame.
fn search_hunks(
    trials: &mut Trials<'_>,
    pair: &StatePair<'_>,
    difference: &Difference,
    all: &[usize],
    own: Option<usize>,
) -> Result<Result<BTreeSet<usize>, WhyReason>, RepairError> {
    let (shared, _) = all.split_at(own.unwrap_or(all.len()));
    let mut found = reduce_hunks(trials, pair, difference, shared)?;
    if found.is_ok()
        && let Some(own) = own
    {
        let changed = all.iter().skip(own).filter_map(|hunk| difference.hunks().get(*hunk));
        let changed = changed.map(|hunk| hunk.path.as_str()).collect();
        trials.failures.doubt_before(&changed);
    }
    if own.is_some() && found.as_ref().is_err_and(|reason| may_lie_further(*reason)) {
        // For a new test only a run with everything else reverted shows whether the change is to blame.
        let was_before = trials.failures.all_failed_before();
        trials.failures.unsplit();
        found = match reduce_hunks(trials, pair, difference, all)? {
            Err(WhyReason::DoesNotBuild) if was_before => Err(WhyReason::FailsWithout),
            found => found,
        };
    }
    Ok(found)
}

// Runs trials until it knows the smallest set of these hunks whose revert makes the tests pass.
fn reduce_hunks(
    trials: &mut Trials<'_>,
    pair: &StatePair<'_>,
    difference: &Difference,
    order: &[usize],
) -> Result<Result<BTreeSet<usize>, WhyReason>, RepairError> {
    if order.is_empty() {
        return Ok(Err(WhyReason::NoChange));
    }
    let all: BTreeSet<usize> = order.iter().copied().collect();
    let states = |set: &BTreeSet<usize>| lay_over(pair, difference, set);
    let base = states(&all);
    let groups = join_renames(difference, order);
    let mut must_split = false;
    loop {
        let seen = trials.seen(&base).next().cloned();
        if let Some(seen) = seen.filter(|_| !trials.failures.is_split()) {
            trials.failures.split(&seen);
        }
        if trials.failures.all_failed_before() {
            return Ok(Err(WhyReason::FailsWithout));
        }
        let step = if must_split && !trials.failures.is_split() {
            SearchStep::Try(all.clone())
        } else {
            next(&groups, &|set: &BTreeSet<usize>| {
                let states = states(set);
                let seen = trials.seen(&states);
                seen.map(|seen| trials.failures.outcome(seen)).collect()
            })
        };
        let reverted = match step {
            SearchStep::Try(reverted) => reverted,
            SearchStep::Found(set) => return Ok(Ok(set)),
            SearchStep::NotByThese | SearchStep::NoVerdict => {
                return Ok(Err(WhyReason::DoesNotBuild));
            }
            SearchStep::Flaky => return Ok(Err(WhyReason::Flaky)),
        };
        let states = states(&reverted);
        let hunks = reverted.iter().filter_map(|hunk| difference.hunks().get(*hunk));
        let places: Vec<String> = hunks.map(Hunk::place).collect();
        let commit = pair.commit.as_deref().filter(|_| !states.is_empty());
        let Some(seen) = trials.try_states(&states, commit, &places)? else {
            return Ok(Err(trials.ended().unwrap_or(WhyReason::Budget)));
        };
        must_split |= !reverted.is_empty() && trials.failures.is_mixed(&seen);
    }
}

// Puts hunks together that exchange the same word for another: a rename is reverted everywhere or nowhere.
fn join_renames(difference: &Difference, order: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut of_words = BTreeMap::new();
    let hunks = order.iter().filter_map(|at| Some((*at, difference.hunks().get(*at)?)));
    for (rank, (at, hunk)) in hunks.enumerate() {
        let [gone, come] = <[_; 2]>::from(difference.sides(hunk)).map(|lines| lines.join("\n"));
        let mut exchanged = difference.exchanged_words(hunk);
        exchanged.retain(|(old, new)| {
            let kept = words(come.as_bytes(), old).next();
            kept.or(words(gone.as_bytes(), new).next()).is_none()
        });
        let group = exchanged.iter().find_map(|pair| of_words.get(pair).copied()).unwrap_or(rank);
        groups.entry(group).or_default().push(at);
        of_words.extend(exchanged.into_iter().map(|pair| (pair, group)));
    }
    groups.into_values().collect()
}

// The files with these hunks reverted.
fn lay_over(pair: &StatePair<'_>, difference: &Difference, hunks: &BTreeSet<usize>) -> States {
    let mut states = pair.laid.clone();
    states.extend(difference.reverted(hunks));
    states
}

// What reverts these changes in the files as they are now, merged with what changed since; `None` where
// both changed the same lines.
fn undo_changes(
    difference: &Difference,
    set: &BTreeSet<usize>,
    pair: &StatePair<'_>,
    workspace: &Workspace,
) -> Option<Vec<Change>> {
    let changes = difference.reverted(set).into_iter().map(|(path, state)| {
        let after = FileState::read(pair.after, &path);
        let change = Change::between(path, after, state);
        merge_change(change, workspace.source.as_ref(), workspace.git.as_ref()?).ok()
    });
    changes.collect()
}
