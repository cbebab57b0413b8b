use std::collections::{BTreeMap, BTreeSet};

use crate::model::WhyOutcome::{self, Fails, Passes};

/// What was tried: the hunks that were taken back, and what came of it each time.
pub type Outcomes = BTreeMap<BTreeSet<usize>, Vec<WhyOutcome>>;

/// What to do next in a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Take these back, and run the failing tests.
    Try(BTreeSet<usize>),
    /// The smallest set: without any one of them it still fails.
    Found(BTreeSet<usize>),
    /// With all taken back it fails as well.
    NotByThese,
    /// With all taken back something else fails.
    NoVerdict,
    /// It passes as it is.
    Passes,
    /// The same state passed and failed.
    Flaky,
}

/// The next trial among `order`, hunks from the likeliest on, or the answer.
///
/// Growing heads of the order until one passes: the likeliest alone, four, sixteen, all. Of a head that does not build, as halves of a larger change do not, the likeliest are asked each alone.
/// Of one that passes the last hunk that is needed is found by halving, again and again; of several that are
/// found each is asked alone, and each is left out once at the end. A set decides nothing before it was seen
/// to pass twice, and the state as it is to fail beside it. What ends otherwise than passing or failing counts as not passing.
#[must_use]
pub fn next(order: &[usize], outcomes: &Outcomes) -> Step {
    let search = Search { order, outcomes };
    match search.run() {
        Ok(step) | Err(step) => step,
    }
}

/// How much longer each head of the order is than the one before.
const GROWTH: usize = 4;

/// How many are asked alone where together they say nothing.
const MOST_ALONE: usize = 16;

struct Search<'s> {
    order: &'s [usize],
    outcomes: &'s Outcomes,
}

impl Search<'_> {
    // The error is a step that must come first.
    fn run(&self) -> Result<Step, Step> {
        if self.order.is_empty() {
            return Err(Step::NotByThese);
        }
        // The red run is the state as it is; that is confirmed last.
        if self.outcomes.contains_key(&BTreeSet::new()) && self.ask(BTreeSet::new())? == Passes {
            return Err(Step::Passes);
        }
        let mut head = (0, self.order.len());
        let mut count = 1;
        loop {
            let some = self.order.get(..count).unwrap_or(self.order);
            match self.ask(some.iter().copied().collect())? {
                Passes => {
                    head.1 = some.len();
                    break;
                }
                Fails if some.len() == self.order.len() => return Err(Step::NotByThese),
                Fails => {}
                WhyOutcome::Other => {
                    if let Some(found) = self.singly(some)? {
                        return self.confirmed(found);
                    }
                    if some.len() == self.order.len() {
                        return Err(Step::NoVerdict);
                    }
                }
            }
            head.0 = some.len();
            count *= GROWTH;
        }
        let smallest = self.reduced(head)?;
        self.confirmed(smallest)
    }

    // The first of these that is enough alone.
    fn singly(&self, some: &[usize]) -> Result<Option<BTreeSet<usize>>, Step> {
        for one in some.iter().take(MOST_ALONE) {
            let alone = BTreeSet::from([*one]);
            if self.ask(alone.clone())? == Passes {
                return Ok(Some(alone));
            }
        }
        Ok(None)
    }

    // What of a head that passes is needed.
    fn reduced(&self, head: (usize, usize)) -> Result<BTreeSet<usize>, Step> {
        let mut rest = self.order.get(..head.1).unwrap_or(self.order);
        let mut needed = BTreeSet::new();
        let mut low = head.0;
        while needed.is_empty() || self.ask(needed.clone())? != Passes {
            // `needed` and all of `rest` pass; with the first `low` of it they do not.
            let mut high = rest.len();
            while high - low > 1 {
                let middle = low.midpoint(high);
                let some = rest.iter().take(middle).copied();
                match self.ask(needed.iter().copied().chain(some).collect())? {
                    Passes => high = middle,
                    Fails => low = middle,
                    WhyOutcome::Other => {
                        if let Some(found) = self.singly(rest.get(..high).unwrap_or(rest))? {
                            return Ok(found);
                        }
                        low = middle;
                    }
                }
            }
            let Some((last, before)) = rest.get(..high).and_then(<[usize]>::split_last) else {
                break;
            };
            needed.insert(*last);
            // Halves of a larger change fail for a reason of their own: one that passes may hold more than
            // the cause needs.
            if needed.len() > 1
                && let Some(found) = self.singly(&[*last])?
            {
                return Ok(found);
            }
            rest = before;
            low = 0;
        }
        for one in needed.clone() {
            let mut without = needed.clone();
            without.remove(&one);
            if !without.is_empty() && self.ask(without.clone())? == Passes {
                needed = without;
            }
        }
        Ok(needed)
    }

    fn confirmed(&self, found: BTreeSet<usize>) -> Result<Step, Step> {
        if self.outcomes.get(&found).is_none_or(|seen| seen.len() < 2) {
            return Err(Step::Try(found));
        }
        // Tests that pass alone whatever is reverted name no change.
        if self.ask(BTreeSet::new())? == Passes {
            return Err(Step::Passes);
        }
        Ok(Step::Found(found))
    }

    fn ask(&self, taken: BTreeSet<usize>) -> Result<WhyOutcome, Step> {
        match self.outcomes.get(&taken).map(Vec::as_slice) {
            None | Some([]) => Err(Step::Try(taken)),
            Some([first, rest @ ..]) if rest.iter().all(|it| it == first) => Ok(*first),
            Some(_) => Err(Step::Flaky),
        }
    }
}

/// Which of `count` states, oldest first, is asked next when the first passes and the last fails:
/// `Err(state)`; `Ok` the last that passes and the first after it that fails, `Ok(None)` when those
/// between say nothing.
///
/// # Errors
/// The state to try.
pub fn bisect(
    count: usize,
    outcomes: &BTreeMap<usize, WhyOutcome>,
) -> Result<Option<(usize, usize)>, usize> {
    let (mut good, mut bad) = (0, count.saturating_sub(1));
    while bad - good > 1 {
        // States that say nothing are passed over, from the middle outwards.
        let middle = good.midpoint(bad);
        let mut between: Vec<usize> = (good + 1..bad).collect();
        between.sort_by_key(|it| (it.abs_diff(middle), *it));
        let found = between
            .into_iter()
            .find(|it| outcomes.get(it) != Some(&WhyOutcome::Other));
        let Some(state) = found else {
            return Ok(None);
        };
        match outcomes.get(&state) {
            None => return Err(state),
            Some(Passes) => good = state,
            Some(_) => bad = state,
        }
    }
    Ok(Some((good, bad)))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{Outcomes, Step, bisect, next};
    use crate::model::WhyOutcome::{self, Fails, Other, Passes};

    // Tries what is asked for until there is an answer; how many runs that took.
    fn search(count: usize, outcome: impl Fn(&BTreeSet<usize>) -> WhyOutcome) -> (Step, usize) {
        let order: Vec<usize> = (0..count).collect();
        let mut outcomes = Outcomes::new();
        for runs in 0..200 {
            match next(&order, &outcomes) {
                Step::Try(taken) => {
                    let result = outcome(&taken);
                    outcomes.entry(taken).or_default().push(result);
                }
                step => return (step, runs),
            }
        }
        panic!("it does not end");
    }

    fn needs(all: &[usize]) -> impl Fn(&BTreeSet<usize>) -> WhyOutcome {
        move |taken| {
            if all.iter().all(|it| taken.contains(it)) {
                Passes
            } else {
                Fails
            }
        }
    }

    #[test]
    fn the_smallest_set_is_found_and_seen_twice() {
        for (count, cause, most) in [
            (1, vec![0], 3),
            (60, vec![0], 3),
            (60, vec![2], 7),
            (60, vec![10], 9),
            (60, vec![40], 12),
            (60, vec![3, 40], 20),
            (60, vec![3, 4, 59], 27),
        ] {
            let (step, runs) = search(count, needs(&cause));
            assert_eq!(step, Step::Found(cause.iter().copied().collect()));
            assert!(runs <= most, "{cause:?}: {runs} runs");
        }
    }

    #[test]
    fn one_of_two_that_would_do_is_enough() {
        let either = |taken: &BTreeSet<usize>| {
            if taken.contains(&5) || taken.contains(&9) {
                Passes
            } else {
                Fails
            }
        };
        let (step, _) = search(12, either);
        assert_eq!(step, Step::Found(BTreeSet::from([5])));
    }

    #[test]
    fn what_does_not_build_counts_as_not_passing() {
        // The sixth hunk uses what the second defines.
        let builds = |taken: &BTreeSet<usize>| {
            if taken.contains(&1) && !taken.contains(&5) {
                Other
            } else if taken.contains(&1) {
                Passes
            } else {
                Fails
            }
        };
        let (step, _) = search(9, builds);
        assert_eq!(step, Step::Found(BTreeSet::from([1, 5])));
    }

    #[test]
    fn a_change_of_many_parts_hides_no_single_cause() {
        // Three hunks go together or not at all.
        let parts = |taken: &BTreeSet<usize>| {
            let some = [1, 3, 8].iter().filter(|it| taken.contains(*it)).count();
            match (some, taken.contains(&5)) {
                (1 | 2, _) => Other,
                (_, true) => Passes,
                (_, false) => Fails,
            }
        };
        let (step, runs) = search(40, parts);
        assert_eq!(step, Step::Found(BTreeSet::from([5])));
        assert!(runs <= 12, "{runs} runs");
    }

    #[test]
    fn a_cause_far_down_is_told_without_what_goes_with_others() {
        // Three hunks go together, one among the likeliest and two among the least likely.
        let parts = |taken: &BTreeSet<usize>| {
            let some = [2, 38, 39].iter().filter(|it| taken.contains(*it)).count();
            match (some, taken.contains(&30)) {
                (1 | 2, _) => Other,
                (_, true) => Passes,
                (_, false) => Fails,
            }
        };
        assert_eq!(search(40, parts).0, Step::Found(BTreeSet::from([30])));
    }

    #[test]
    fn halves_that_fail_for_a_reason_of_their_own_hide_no_single_cause() {
        // Four hunks go together: some of them alone fail the same tests.
        let parts = |taken: &BTreeSet<usize>| {
            let some = [0, 1, 3, 8].iter().filter(|it| taken.contains(*it)).count();
            if taken.contains(&6) && [0, 4].contains(&some) {
                Passes
            } else {
                Fails
            }
        };
        let (step, runs) = search(14, parts);
        assert_eq!(step, Step::Found(BTreeSet::from([6])));
        assert!(runs <= 14, "{runs} runs");
    }

    #[test]
    fn other_ends_are_told_apart() {
        assert_eq!(search(3, |_| Fails).0, Step::NotByThese);
        assert_eq!(search(3, |_| Passes).0, Step::Passes);
        let broken = |taken: &BTreeSet<usize>| if taken.is_empty() { Fails } else { Other };
        assert_eq!(search(3, broken).0, Step::NoVerdict);
        // The tests use what the sixth brought: without it nothing can be told.
        let uses = |taken: &BTreeSet<usize>| match (taken.contains(&5), taken.contains(&3)) {
            (true, _) => Other,
            (false, true) => Passes,
            (false, false) => Fails,
        };
        assert_eq!(search(9, uses).0, Step::Found(BTreeSet::from([3])));
        let mut outcomes = Outcomes::from([(BTreeSet::new(), vec![Fails, Passes])]);
        assert_eq!(next(&[0, 1], &outcomes), Step::Flaky);
        outcomes = Outcomes::from([
            (BTreeSet::new(), vec![Fails]),
            (BTreeSet::from([0]), vec![Passes, Fails]),
        ]);
        assert_eq!(next(&[0, 1], &outcomes), Step::Flaky);
        assert_eq!(next(&[], &Outcomes::new()), Step::NotByThese);
    }

    #[test]
    fn a_range_is_halved_past_what_says_nothing() {
        let run = |count: usize, first_bad: usize, silent: &[usize]| {
            let mut outcomes = BTreeMap::new();
            for tried in 0.. {
                match bisect(count, &outcomes) {
                    Ok(found) => return (found, tried),
                    Err(state) => {
                        let result = match state {
                            it if silent.contains(&it) => Other,
                            it if it >= first_bad => Fails,
                            _ => Passes,
                        };
                        outcomes.insert(state, result);
                    }
                }
            }
            unreachable!()
        };
        assert_eq!(run(51, 30, &[]), (Some((29, 30)), 6));
        assert_eq!(run(2, 1, &[]), (Some((0, 1)), 0));
        assert_eq!(run(51, 30, &[25, 26]).0, Some((29, 30)));
        assert_eq!(run(5, 2, &[1, 2, 3]).0, None);
    }
}
