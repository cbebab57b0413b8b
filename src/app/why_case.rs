use std::collections::BTreeSet;

use super::AppError;
use super::why::is_product;
use super::why_clues::clues;
use super::why_trials::{States, Trials};
use crate::model::{RepoPath, WhyBase, WhyChange, WhyOutcome, WhyReason, WhyVerdict};
use crate::patch::{Change, FileState, canonical};
use crate::source::Source;
use crate::why::{Clues, Difference, Hunk, Outcomes, Step, Suspect, What, next, rank};

/// Two states of the files between which it began to fail.
pub(super) struct Case<'a> {
    pub(super) before: &'a dyn Source,
    pub(super) after: &'a dyn Source,
    /// What of the worktree is another way in the state after.
    pub(super) laid: States,
    /// The commit that brought the changes; `None` where they are not committed.
    pub(super) commit: Option<String>,
    /// What the state before is, and its commit.
    pub(super) base: (String, String),
}

/// What a search comes to.
pub(super) struct Answer {
    pub(super) verdict: WhyVerdict,
    pub(super) reason: Option<WhyReason>,
    pub(super) base: Option<WhyBase>,
    pub(super) cause: Vec<WhyChange>,
    /// A patch that takes the cause back, where the trials ran on the files as they are.
    pub(super) undo: Option<String>,
    pub(super) suspects: Vec<WhyChange>,
}

/// Searches for the hunks without which the tests pass, then for their lines.
pub(super) fn search(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    may: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Result<Answer, AppError> {
    let difference = Difference::between(case.before, case.after, may);
    if difference.hunks().is_empty() {
        return Ok(answer(case, Err(WhyReason::NoChange), Vec::new()));
    }
    // Of few changes the order matters little.
    let few = difference.hunks().len() < FEW && trials.failed_here();
    let seen = if few {
        None
    } else {
        trials.trace(&case.laid, case.commit.as_deref())?
    };
    match seen {
        Some(WhyOutcome::Passes) => return Ok(answer(case, Err(WhyReason::Flaky), Vec::new())),
        _ if trials.ended().is_some() => {
            let reason = trials.ended().unwrap_or(WhyReason::Budget);
            return Ok(answer(case, Err(reason), Vec::new()));
        }
        _ => {}
    }
    let mut clues = clues(trials.diagnosis(), case.after);
    if !few {
        clues.ran.clone_from(trials.ran());
    }
    let ranked = rank(&difference, &clues);
    let suspects = changes(&difference, &ranked, case);
    let set = match coarse(trials, case, &difference, &ranked)? {
        Ok(set) => set,
        Err(reason) => return Ok(answer(case, Err(reason), suspects)),
    };
    let answer = finished(trials, case, &difference, (ranked, &clues), &set)?;
    Ok(Answer { suspects, ..answer })
}

// What of the hunks that were found it takes.
fn finished(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    difference: &Difference,
    (ranked, clues): (Vec<Suspect>, &Clues),
    set: &BTreeSet<usize>,
) -> Result<Answer, AppError> {
    // A hunk of some lines is told as it stands.
    let is_plain = set.len() == 1 && set.iter().all(|it| difference.size(*it) <= MOST_LINES);
    let cause = match difference.finer(set).filter(|_| !is_plain) {
        Some(finer) => lines(trials, case, &finer, clues)?.map(|set| (finer, set)),
        None => None,
    };
    let (cause, undo) = match cause {
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

/// The few changes that a trace makes likeliest, and the same search among those of them that are `whole`,
/// where the likeliest is; no answer where none of them is enough.
pub(super) fn search_likeliest(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    may: &(dyn Fn(&RepoPath) -> bool + Sync),
    whole: &dyn Fn(&WhyChange) -> bool,
) -> Result<(Vec<WhyChange>, Option<Answer>), AppError> {
    let difference = Difference::between(case.before, case.after, may);
    let mut clues = clues(trials.diagnosis(), case.after);
    clues.ran.clone_from(trials.ran());
    let ranked = rank(&difference, &clues);
    let few = ranked.get(..FEW).unwrap_or(&ranked);
    let likeliest = changes(&difference, few, case);
    if !likeliest.first().is_some_and(whole) {
        return Ok((likeliest, None));
    }
    let order = few
        .iter()
        .zip(&likeliest)
        .filter(|(_, change)| whole(change));
    let order: Vec<usize> = order.map(|(it, _)| it.hunk).collect();
    let mut outcomes = Outcomes::from([(BTreeSet::new(), vec![WhyOutcome::Fails])]);
    let Ok(set) = drive(trials, case, &difference, &order, &mut outcomes)? else {
        return Ok((likeliest, None));
    };
    let answer = finished(trials, case, &difference, (ranked, &clues), &set)?;
    Ok((likeliest, Some(answer)))
}

/// How many that is.
const FEW: usize = 4;

// Which lines of the hunks that were found it takes; `None` where that cannot be told: then it is the hunks.
fn lines(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    finer: &Difference,
    clues: &Clues,
) -> Result<Option<BTreeSet<usize>>, AppError> {
    let order: Vec<usize> = rank(finer, clues).iter().map(|it| it.hunk).collect();
    let mut outcomes = Outcomes::from([(BTreeSet::new(), vec![WhyOutcome::Fails])]);
    outcomes.insert((0..order.len()).collect(), vec![WhyOutcome::Passes; 2]);
    Ok(drive(trials, case, finer, &order, &mut outcomes)?.ok())
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
    ranked.retain(|it| set.contains(&it.hunk));
    ranked.sort_by_key(|it| it.hunk);
    changes(difference, &ranked, case)
}

fn answer(
    case: &Case<'_>,
    cause: Result<Vec<WhyChange>, WhyReason>,
    suspects: Vec<WhyChange>,
) -> Answer {
    let (what, commit) = case.base.clone();
    let (verdict, reason, cause) = match cause {
        Ok(cause) => (WhyVerdict::Caused, None, cause),
        Err(reason) => (verdict_of(reason), Some(reason), Vec::new()),
    };
    Answer {
        verdict,
        reason,
        base: Some(WhyBase { what, commit }),
        cause,
        undo: None,
        suspects,
    }
}

// Among the changes of product code with the tests as they are, then among all.
fn coarse(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    difference: &Difference,
    ranked: &[Suspect],
) -> Result<Result<BTreeSet<usize>, WhyReason>, AppError> {
    let all: Vec<usize> = ranked.iter().map(|it| it.hunk).collect();
    let of_product = |index: &usize| {
        let hunk = difference.hunks().get(*index);
        hunk.is_some_and(|hunk| is_product(&hunk.path, trials.diagnosis()))
    };
    let product: Vec<usize> = all.iter().copied().filter(of_product).collect();
    // It was seen to fail here.
    let mut outcomes = Outcomes::from([(BTreeSet::new(), vec![WhyOutcome::Fails])]);
    let mut result = Err(WhyReason::NoChange);
    if !product.is_empty() {
        result = drive(trials, case, difference, &product, &mut outcomes)?;
    }
    let open = matches!(
        result,
        Err(WhyReason::NoChange | WhyReason::FailsWithout | WhyReason::DoesNotBuild)
    );
    if open && product.len() < all.len() {
        result = drive(trials, case, difference, &all, &mut outcomes)?;
    }
    Ok(result)
}

fn changes(difference: &Difference, ranked: &[Suspect], case: &Case<'_>) -> Vec<WhyChange> {
    let changes = ranked.iter().filter_map(|it| change(difference, it, case));
    changes.collect()
}

pub(super) fn verdict_of(reason: WhyReason) -> WhyVerdict {
    match reason {
        WhyReason::FailsWithout | WhyReason::NoChange => WhyVerdict::NotByThisChange,
        _ => WhyVerdict::Unknown,
    }
}

fn drive(
    trials: &mut Trials<'_>,
    case: &Case<'_>,
    difference: &Difference,
    order: &[usize],
    outcomes: &mut Outcomes,
) -> Result<Result<BTreeSet<usize>, WhyReason>, AppError> {
    loop {
        let taken = match next(order, outcomes) {
            Step::Try(taken) => taken,
            Step::Found(set) => return Ok(Ok(set)),
            Step::NotByThese => return Ok(Err(WhyReason::FailsWithout)),
            Step::NoVerdict => return Ok(Err(WhyReason::DoesNotBuild)),
            Step::Passes | Step::Flaky => return Ok(Err(WhyReason::Flaky)),
        };
        let mut states = case.laid.clone();
        states.extend(difference.taken_back(&taken));
        let hunks = taken.iter().filter_map(|it| difference.hunks().get(*it));
        let without = hunks.map(Hunk::place).collect();
        let Some(outcome) = trials.try_states(&states, case.commit.as_deref(), without)? else {
            return Ok(Err(trials.ended().unwrap_or(WhyReason::Budget)));
        };
        outcomes.entry(taken).or_default().push(outcome);
    }
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

/// Lines of a change that are shown.
const MOST_LINES: usize = 20;
