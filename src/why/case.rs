use std::collections::BTreeSet;

use super::clues::clues;
use super::failures::Observation;
use super::trials::{States, Trials};
use super::{Clues, Difference, Hunk, Outcomes, Step, Suspect, What, next, rank};
use crate::model::{Diagnosis, RepoPath, WhyBase, WhyChange, WhyOutcome, WhyReason, WhyVerdict};
use crate::patch::{Change, FileState, canonical};
use crate::policy::is_test;
use crate::repair::RepairError;
use crate::source::Source;

/// Two states of the files between which a command began to fail.
pub(super) struct Case<'a> {
    /// The state before.
    pub before: &'a dyn Source,
    /// The state after.
    pub after: &'a dyn Source,
    /// Files of the worktree that are otherwise in the state after.
    pub laid: States,
    /// The commit that brought the changes; `None` where they are not committed.
    pub commit: Option<String>,
    /// A description of the state before, and its commit.
    pub base: (String, String),
    /// Which files may be reverted at all.
    pub scope: Scope,
    /// Observations of the state before, from an earlier step.
    pub seen: Vec<Observation>,
    /// Whether the state after was seen to fail.
    pub is_red: bool,
}

/// Which files a search may revert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Files that no test runner loads for tests alone.
    Product,
    /// Those, and what tests share: helpers, fixtures, setup files, snapshots.
    Support,
    /// Those, and at last the files that hold the failing tests themselves.
    Everything,
}

impl Scope {
    /// The scope that a file needs.
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

/// What a search comes to.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The verdict.
    pub verdict: WhyVerdict,
    /// Why there is no cause.
    pub reason: Option<WhyReason>,
    /// What was compared with.
    pub base: Option<WhyBase>,
    /// The smallest set of changes without which the tests pass.
    pub cause: Vec<WhyChange>,
    /// A patch that reverts the cause, where the trials ran on the files as they are.
    pub undo: Option<String>,
    /// The changes, likeliest first.
    pub suspects: Vec<WhyChange>,
}

impl Answer {
    /// No answer, for a reason.
    #[must_use]
    pub fn unknown(reason: WhyReason) -> Self {
        Self {
            verdict: WhyVerdict::Unknown,
            reason: Some(reason),
            base: None,
            cause: Vec::new(),
            undo: None,
            suspects: Vec::new(),
        }
    }

    /// Whether a look at older commits cannot say more.
    #[must_use]
    pub fn is_last(&self) -> bool {
        let open = [
            Some(WhyReason::NoChange),
            Some(WhyReason::FailsWithout),
            Some(WhyReason::DoesNotBuild),
        ];
        !open.contains(&self.reason)
    }

    /// Whether the failure is seen, and no change of the repository explains it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let around = [
            Some(WhyReason::NoBase),
            Some(WhyReason::CommandNotFound),
            Some(WhyReason::NotExecutable),
        ];
        !self.is_last() || around.contains(&self.reason)
    }
}

/// Changes above which a look at the lines that run pays for its run.
const FEW: usize = 8;

/// Searches for the hunks without which the tests pass, then for their lines.
///
/// # Errors
/// When the tests cannot be run.
pub(super) fn search(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    may: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Result<Answer, RepairError> {
    let diagnosis = trials.red().diagnosis.clone();
    let in_scope = |path: &RepoPath| may(path) && Scope::needed_for(path, &diagnosis) <= case.scope;
    let difference = Difference::between(case.before, case.after, &in_scope);
    if difference.hunks().is_empty() {
        return Ok(answer(case, Err(WhyReason::NoChange), Vec::new()));
    }
    let is_traced = difference.hunks().len() > FEW;
    if is_traced {
        match trials.trace(&case.laid)? {
            Some(WhyOutcome::Passes) => {
                return Ok(answer(case, Err(WhyReason::Flaky), Vec::new()));
            }
            _ => {
                if let Some(reason) = trials.ended() {
                    return Ok(answer(case, Err(reason), Vec::new()));
                }
            }
        }
    }
    let mut clues = clues(Some(&diagnosis), case.after);
    if is_traced {
        clues.ran.clone_from(trials.traced());
    }
    let mut ranked = rank(&difference, &clues);
    ranked.sort_by_key(|suspect| {
        let hunk = difference.hunks().get(suspect.hunk);
        hunk.map(|hunk| Scope::needed_for(&hunk.path, &diagnosis))
    });
    let suspects = changes(&difference, &ranked, case);
    let set = match search_hunks(trials, case, &difference, &ranked)? {
        Ok(set) => set,
        Err(reason) => return Ok(answer(case, Err(reason), suspects)),
    };
    let answer = name_lines(trials, case, &difference, (ranked, &clues), &set)?;
    Ok(Answer { suspects, ..answer })
}

// Among the changes of product code and test support with the failing tests' own files as they are, then among
// all.
fn search_hunks(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    difference: &Difference,
    ranked: &[Suspect],
) -> Result<Result<BTreeSet<usize>, WhyReason>, RepairError> {
    let all: Vec<usize> = ranked.iter().map(|suspect| suspect.hunk).collect();
    let diagnosis = &trials.red().diagnosis;
    let is_own = |index: &usize| {
        let hunk = difference.hunks().get(*index);
        hunk.is_some_and(|hunk| holds_failing_test(&hunk.path, diagnosis))
    };
    let shared: Vec<usize> = all.iter().copied().filter(|hunk| !is_own(hunk)).collect();
    let mut table = Table::new(trials);
    table.is_known_red |= case.is_red;
    for seen in &case.seen {
        table.add(all.iter().copied().collect(), seen.clone());
    }
    let mut result = Err(WhyReason::NoChange);
    if !shared.is_empty() {
        result = drive(trials, case, difference, &shared, &mut table)?;
    }
    let is_open = matches!(
        result,
        Err(WhyReason::NoChange | WhyReason::FailsWithout | WhyReason::DoesNotBuild)
    );
    if is_open && shared.len() < all.len() {
        let was_before = trials.failures.all_failed_before();
        trials.failures.unsplit();
        let own = drive(trials, case, difference, &all, &mut table)?;
        // Where a test is new, only its failure with all else reverted tells.
        result = match own {
            Err(WhyReason::DoesNotBuild) if was_before => Err(WhyReason::FailsWithout),
            own => own,
        };
    }
    Ok(result)
}

// What every set of hunks showed when it was reverted.
struct Table {
    trials: Vec<(BTreeSet<usize>, Observation)>,
    selections: u32,
    is_known_red: bool,
    is_known_green: Option<BTreeSet<usize>>,
    // Whether the whole order is the state before.
    has_base: bool,
}

impl Table {
    fn new(trials: &Trials<'_>) -> Self {
        Self {
            trials: Vec::new(),
            selections: trials.selections(),
            is_known_red: trials.failed_here(),
            is_known_green: None,
            has_base: true,
        }
    }

    fn add(&mut self, reverted: BTreeSet<usize>, seen: Observation) {
        self.trials.push((reverted, seen));
    }

    fn outcomes(&self, trials: &Trials<'_>) -> Outcomes {
        let mut outcomes = Outcomes::new();
        if self.is_known_red {
            outcomes.insert(BTreeSet::new(), vec![WhyOutcome::Fails]);
        }
        if let Some(green) = &self.is_known_green {
            outcomes.insert(green.clone(), vec![WhyOutcome::Passes; 2]);
        }
        for (reverted, seen) in &self.trials {
            let outcome = trials.failures.outcome(seen);
            outcomes.entry(reverted.clone()).or_default().push(outcome);
        }
        outcomes
    }

    fn is_mixed(&self, trials: &Trials<'_>) -> bool {
        let mut tried = self.trials.iter();
        tried.any(|(reverted, seen)| !reverted.is_empty() && trials.failures.is_mixed(seen))
    }
}

fn drive(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    difference: &Difference,
    order: &[usize],
    table: &mut Table,
) -> Result<Result<BTreeSet<usize>, WhyReason>, RepairError> {
    let base: BTreeSet<usize> = order.iter().copied().collect();
    loop {
        // Observations of another way to run the tests do not hold.
        if table.selections != trials.selections() {
            *table = Table {
                has_base: table.has_base,
                ..Table::new(trials)
            };
        }
        if !table.has_base && table.is_mixed(trials) {
            return Ok(Err(WhyReason::FailsWithout));
        }
        if !trials.failures.is_split() && table.has_base {
            let seen = table.trials.iter().find(|(reverted, _)| *reverted == base);
            if let Some((_, seen)) = seen {
                trials.failures.split(seen);
            }
        }
        if trials.failures.all_failed_before() {
            return Ok(Err(WhyReason::FailsWithout));
        }
        let must_split = !trials.failures.is_split() && table.is_mixed(trials);
        let step = if must_split {
            Step::Try(base.clone())
        } else {
            next(order, &table.outcomes(trials))
        };
        let taken = match step {
            Step::Try(taken) => taken,
            Step::Found(set) => return Ok(Ok(set)),
            Step::NotByThese | Step::NoVerdict => return Ok(Err(WhyReason::DoesNotBuild)),
            Step::Passes | Step::Flaky => return Ok(Err(WhyReason::Flaky)),
        };
        let mut states = case.laid.clone();
        states.extend(difference.taken_back(&taken));
        let hunks = taken
            .iter()
            .filter_map(|hunk| difference.hunks().get(*hunk));
        let reverted: Vec<String> = hunks.map(Hunk::place).collect();
        let commit = case.commit.as_deref().filter(|_| !states.is_empty());
        let Some(seen) = trials.try_states(&states, commit, &reverted)? else {
            return Ok(Err(trials.ended().unwrap_or(WhyReason::Budget)));
        };
        table.add(taken, seen);
    }
}

// Cuts the hunks that were found down to lines.
fn name_lines(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    difference: &Difference,
    (ranked, clues): (Vec<Suspect>, &Clues),
    set: &BTreeSet<usize>,
) -> Result<Answer, RepairError> {
    // A hunk of some lines is told as it stands.
    let is_plain = set.len() == 1 && set.iter().all(|hunk| difference.size(*hunk) <= MOST_LINES);
    let finer = difference.finer(set).filter(|_| !is_plain);
    let found = match finer {
        Some(finer) => search_lines(trials, case, &finer, clues)?.map(|set| (finer, set)),
        None => None,
    };
    let (cause, undo) = match found {
        Some((finer, set)) => {
            let ranked = rank(&finer, clues);
            (named(&finer, ranked, &set, case), undo(&finer, &set, case))
        }
        None => (
            named(difference, ranked, set, case),
            undo(difference, set, case),
        ),
    };
    Ok(Answer {
        undo,
        ..answer(case, Ok(cause), Vec::new())
    })
}

// `None` where lines cannot be told apart: then it is the hunks.
fn search_lines(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    finer: &Difference,
    clues: &Clues,
) -> Result<Option<BTreeSet<usize>>, RepairError> {
    let ranked = rank(finer, clues);
    let order: Vec<usize> = ranked.iter().map(|suspect| suspect.hunk).collect();
    let mut table = Table {
        is_known_red: true,
        is_known_green: Some(order.iter().copied().collect()),
        has_base: false,
        ..Table::new(trials)
    };
    Ok(drive(trials, case, finer, &order, &mut table)?.ok())
}

// The patch that makes of the files what was seen to pass.
fn undo(difference: &Difference, set: &BTreeSet<usize>, case: &Case<'_>) -> Option<String> {
    if !case.laid.is_empty() {
        return None;
    }
    let states = difference.taken_back(set).into_iter();
    let changes: Vec<Change> = states
        .map(|(path, state)| {
            let now = FileState::of(case.after, &path);
            Change::between(path, now, state)
        })
        .collect();
    String::from_utf8(canonical(&changes)).ok()
}

// The changes of a set, in the order of the files.
fn named(
    difference: &Difference,
    mut ranked: Vec<Suspect>,
    set: &BTreeSet<usize>,
    case: &Case<'_>,
) -> Vec<WhyChange> {
    ranked.retain(|suspect| set.contains(&suspect.hunk));
    ranked.sort_by_key(|suspect| suspect.hunk);
    changes(difference, &ranked, case)
}

fn answer(
    case: &Case<'_>,
    cause: Result<Vec<WhyChange>, WhyReason>,
    suspects: Vec<WhyChange>,
) -> Answer {
    let (what, commit) = case.base.clone();
    let base = Some(WhyBase { what, commit });
    match cause {
        Ok(cause) => Answer {
            verdict: WhyVerdict::Caused,
            reason: None,
            base,
            cause,
            undo: None,
            suspects,
        },
        Err(reason) => Answer {
            verdict: verdict_of(reason),
            base,
            suspects,
            ..Answer::unknown(reason)
        },
    }
}

/// The verdict that a reason leaves.
pub(super) fn verdict_of(reason: WhyReason) -> WhyVerdict {
    match reason {
        WhyReason::FailsWithout => WhyVerdict::NotByThisChange,
        _ => WhyVerdict::Unknown,
    }
}

fn changes(difference: &Difference, ranked: &[Suspect], case: &Case<'_>) -> Vec<WhyChange> {
    let changes = ranked
        .iter()
        .filter_map(|suspect| change(difference, suspect, case));
    changes.collect()
}

fn change(difference: &Difference, suspect: &Suspect, case: &Case<'_>) -> Option<WhyChange> {
    let hunk = difference.hunks().get(suspect.hunk)?;
    let why = match &hunk.what {
        What::Moved(from) => format!("renamed from {from}, {}", suspect.why),
        What::File if difference.after(hunk).is_none() => format!("deleted, {}", suspect.why),
        _ => suspect.why.clone(),
    };
    Some(WhyChange {
        path: hunk.path.to_string(),
        line: hunk.line(),
        commit: case.commit.clone(),
        why,
        diff: difference.diff(hunk, MOST_LINES),
    })
}

/// Whether a file holds the lines of a failing test: they say what is wanted. The place of a failure may be a
/// line of the product, so the test must bear the file's name, or the file must be called as tests are.
#[must_use]
pub fn holds_failing_test(path: &RepoPath, diagnosis: &Diagnosis) -> bool {
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
    diagnosis.tests.iter().any(|test| {
        let named = test.path.as_deref() == Some(path);
        // Runners for JavaScript name no file in the id of a test.
        let is_foreign = module.is_none() && is_test(path);
        let by_module = named || test.runner == "unittest";
        named && (test.id.starts_with(path) || is_foreign) || by_module && in_module(&test.id)
    })
}

/// Lines of a change that are shown.
const MOST_LINES: usize = 20;
