//! Chooses the next trial by delta debugging. A pure function, so that its tests are tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::WhyOutcome::{self, Fails, Other, Passes};

/// The next step of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchStep {
    /// Revert these hunks, and run the failing tests.
    Try(BTreeSet<usize>),
    /// The smallest set whose revert makes them pass.
    Found(BTreeSet<usize>),
    /// They fail with all of the hunks reverted, too.
    NotByThese,
    /// Something else fails with all of them reverted.
    NoVerdict,
    /// The same state passed and failed, or the tests pass as things are.
    Flaky,
}

/// Looks up the outcomes of a set of reverted hunks so far.
pub type Outcomes<'a> = dyn Fn(&BTreeSet<usize>) -> Vec<WhyOutcome> + 'a;

/// Chooses the next trial among `groups` of hunks that go together, from the likeliest on, or answers.
///
/// After the likeliest hunk, prefixes of the groups grow until one passes: 1, 4, 16, all. Within it the last group that
/// is needed is found by halving, again and again; then each found group is left out once. Where a set neither passes
/// nor fails, as parts of a larger change do, its likeliest groups are reverted alone. A group that suffices alone is
/// halved as long as a half suffices. A set is an answer only after it passed twice and the tests failed without it.
pub fn next(groups: &[Vec<usize>], outcomes: &Outcomes<'_>) -> SearchStep {
    let (Ok(step) | Err(step)) = Search { groups, outcomes }.next_step();
    step
}

struct Search<'s> {
    groups: &'s [Vec<usize>],
    outcomes: &'s Outcomes<'s>,
}

impl Search<'_> {
    // The error is a step that must come first.
    fn next_step(&self) -> Result<SearchStep, SearchStep> {
        let Some(likeliest) = self.groups.first().and_then(|group| group.get(..1)) else {
            return Err(SearchStep::NotByThese);
        };
        // A word may have been exchanged at one place too many.
        if self.ask_hunks(likeliest)? == Passes {
            return self.confirm_found(&BTreeSet::from([0]));
        }
        let order: Vec<usize> = (0..self.groups.len()).collect();
        let mut failing = 0;
        let mut count = 1;
        loop {
            let prefix = order.get(..count).unwrap_or(&order);
            let is_all = prefix.len() == order.len();
            match self.ask_outcome(&prefix.iter().copied().collect())? {
                Passes => return self.confirm_found(&self.reduce_prefix(prefix, failing)?),
                Fails if is_all => return Err(SearchStep::NotByThese),
                Fails => {}
                Other => {
                    if let Some(found) = self.find_alone(prefix)? {
                        return self.confirm_found(&found);
                    }
                    if is_all {
                        return Err(SearchStep::NoVerdict);
                    }
                }
            }
            failing = prefix.len();
            // How much longer each prefix of the order is than the one before.
            count *= 4;
        }
    }

    // The first group that suffices alone.
    fn find_alone(&self, groups: &[usize]) -> Result<Option<BTreeSet<usize>>, SearchStep> {
        // Groups that are reverted alone where together they prove nothing.
        for group in groups.iter().take(16) {
            let alone = BTreeSet::from([*group]);
            if self.ask_outcome(&alone)? == Passes {
                return Ok(Some(alone));
            }
        }
        Ok(None)
    }

    // The groups that are needed of a prefix that passes, while its first `low` groups do not.
    fn reduce_prefix(
        &self,
        prefix: &[usize],
        mut low: usize,
    ) -> Result<BTreeSet<usize>, SearchStep> {
        let mut rest = prefix;
        let mut needed = BTreeSet::new();
        while needed.is_empty() || self.ask_outcome(&needed)? != Passes {
            let mut high = rest.len();
            while high - low > 1 {
                let middle = low.midpoint(high);
                let some = rest.iter().take(middle).copied();
                match self.ask_outcome(&needed.iter().copied().chain(some).collect())? {
                    Passes => high = middle,
                    Fails => low = middle,
                    Other => {
                        if let Some(found) = self.find_alone(rest.get(..high).unwrap_or(rest))? {
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
            // The set may be larger than needed because halves of a larger change fail for a reason of their own.
            if needed.len() > 1
                && let Some(found) = self.find_alone(&[*last])?
            {
                return Ok(found);
            }
            rest = before;
            low = 0;
        }
        for group in needed.clone() {
            let mut without = needed.clone();
            without.remove(&group);
            if !without.is_empty() && self.ask_outcome(&without)? == Passes {
                needed = without;
            }
        }
        Ok(needed)
    }

    // The least part of a part that suffices. Where neither half does, hunks that go together stay so: to look for each
    // that is needed would take several runs for every place of a rename.
    fn halve(&self, hunks: &[usize]) -> Result<BTreeSet<usize>, SearchStep> {
        let half = hunks.len().div_ceil(2).max(1);
        for part in hunks.chunks(1).take(1).chain(hunks.chunks(half)) {
            if part.len() < hunks.len() && self.ask_hunks(part)? == Passes {
                return self.halve(part);
            }
        }
        Ok(hunks.iter().copied().collect())
    }

    // The tests must pass twice with the set reverted and fail with nothing reverted.
    fn confirm_found(&self, groups: &BTreeSet<usize>) -> Result<SearchStep, SearchStep> {
        let hunks = self.hunks_of(groups);
        let is_one = groups.len() == 1;
        let found = if is_one { self.halve(&hunks)? } else { hunks.into_iter().collect() };
        if (self.outcomes)(&found).len() < 2 {
            return Err(SearchStep::Try(found));
        }
        match self.ask_hunks(&[])? {
            Passes => Err(SearchStep::Flaky),
            _ => Ok(SearchStep::Found(found)),
        }
    }

    fn hunks_of(&self, groups: &BTreeSet<usize>) -> Vec<usize> {
        let groups = groups.iter().filter_map(|group| self.groups.get(*group));
        groups.flatten().copied().collect()
    }

    fn ask_outcome(&self, groups: &BTreeSet<usize>) -> Result<WhyOutcome, SearchStep> {
        self.ask_hunks(&self.hunks_of(groups))
    }

    fn ask_hunks(&self, hunks: &[usize]) -> Result<WhyOutcome, SearchStep> {
        let reverted = hunks.iter().copied().collect();
        match (self.outcomes)(&reverted).as_slice() {
            [] => Err(SearchStep::Try(reverted)),
            [first, rest @ ..] if rest.iter().all(|outcome| outcome == first) => Ok(*first),
            _ => Err(SearchStep::Flaky),
        }
    }
}

/// Bisects `count` states, oldest first, of which the first passes and the last fails. `Ok` holds the last that
/// passes and the first after it that fails, `None` where the states between prove nothing.
///
/// # Errors
/// The state to try next.
pub fn bisect_range(
    count: usize,
    outcomes: &BTreeMap<usize, WhyOutcome>,
) -> Result<Option<(usize, usize)>, usize> {
    let (mut good, mut bad) = (0, count.saturating_sub(1));
    while bad - good > 1 {
        // States that prove nothing are skipped from the middle outwards, so that the search still halves the range.
        let middle = good.midpoint(bad);
        let mut between: Vec<usize> = (good + 1..bad).collect();
        between.sort_by_key(|state| (state.abs_diff(middle), *state));
        let Some(state) =
            between.into_iter().find(|state: &usize| outcomes.get(state) != Some(&Other))
        else {
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

    use super::{SearchStep, bisect_range, next};

    type Tried = BTreeMap<BTreeSet<usize>, Vec<WhyOutcome>>;

    fn step(groups: &[Vec<usize>], tried: &Tried) -> SearchStep {
        next(groups, &|set| tried.get(set).cloned().unwrap_or_default())
    }
    use crate::model::WhyOutcome::{self, Fails, Other, Passes};

    // Tries what is asked for until there is an answer; how many runs that took.
    fn search(
        count: usize,
        outcome: impl Fn(&BTreeSet<usize>) -> WhyOutcome,
    ) -> (SearchStep, usize) {
        let groups: Vec<Vec<usize>> = (0..count).map(|hunk| vec![hunk]).collect();
        search_groups(&groups, outcome)
    }

    fn search_groups(
        groups: &[Vec<usize>],
        outcome: impl Fn(&BTreeSet<usize>) -> WhyOutcome,
    ) -> (SearchStep, usize) {
        let mut outcomes = Tried::new();
        for runs in 0..200 {
            match step(groups, &outcomes) {
                SearchStep::Try(taken) => {
                    let result = outcome(&taken);
                    outcomes.entry(taken).or_default().push(result);
                }
                step => return (step, runs),
            }
        }
        panic!("the search does not end");
    }

    fn needs(all: &[usize]) -> impl Fn(&BTreeSet<usize>) -> WhyOutcome {
        move |taken| {
            if all.iter().all(|hunk| taken.contains(hunk)) {
                Passes
            } else {
                Fails
            }
        }
    }

    #[test]
    fn finds_smallest_set_and_confirms_it() {
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
            assert_eq!(step, SearchStep::Found(cause.iter().copied().collect()));
            assert!(runs <= most, "{cause:?}: {runs} runs");
        }
    }

    // itsdangerous: a rename at 19 places of which no part can be reverted took more than 74 runs.
    #[test]
    fn reverts_group_as_a_whole_or_finds_one_of_it() {
        let all: Vec<usize> = (0..19).collect();
        let others = (19..22).map(|hunk| vec![hunk]);
        let groups: Vec<Vec<usize>> = std::iter::once(all.clone()).chain(others).collect();
        for (cause, most) in [(all, 6), (vec![0], 3), (vec![12], 12), (vec![20], 8)] {
            let (step, runs) = search_groups(&groups, needs(&cause));
            assert_eq!(step, SearchStep::Found(cause.iter().copied().collect()));
            assert!(runs <= most, "{cause:?}: {runs} runs");
        }
    }

    #[test]
    fn names_one_of_two_sufficient_hunks() {
        let either = |taken: &BTreeSet<usize>| {
            if taken.contains(&5) || taken.contains(&9) { Passes } else { Fails }
        };
        let (step, _) = search(12, either);
        assert_eq!(step, SearchStep::Found(BTreeSet::from([5])));
    }

    #[test]
    fn drops_hunk_that_only_another_made_necessary() {
        // The fourth is needed as long as the first is reverted, too.
        let outcome = |taken: &BTreeSet<usize>| {
            let both = [1, 2].iter().all(|hunk| taken.contains(hunk));
            if both && (!taken.contains(&0) || taken.contains(&3)) {
                Passes
            } else {
                Fails
            }
        };
        let (step, _) = search(4, outcome);
        assert_eq!(step, SearchStep::Found(BTreeSet::from([1, 2])));
    }

    #[test]
    fn counts_broken_build_as_not_passing() {
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
        assert_eq!(step, SearchStep::Found(BTreeSet::from([1, 5])));
    }

    #[test]
    fn finds_single_cause_beside_larger_change() {
        // Three hunks go together or not at all.
        let parts = |taken: &BTreeSet<usize>| {
            let some = [1, 3, 8].iter().filter(|hunk| taken.contains(*hunk)).count();
            match (some, taken.contains(&5)) {
                (1 | 2, _) => Other,
                (_, true) => Passes,
                (_, false) => Fails,
            }
        };
        let (step, runs) = search(40, parts);
        assert_eq!(step, SearchStep::Found(BTreeSet::from([5])));
        assert!(runs <= 12, "{runs} runs");
    }

    #[test]
    fn finds_cause_far_down_the_order() {
        // Three hunks go together, one among the likeliest and two among the least likely.
        let parts = |taken: &BTreeSet<usize>| {
            let some = [2, 38, 39].iter().filter(|hunk| taken.contains(*hunk)).count();
            match (some, taken.contains(&30)) {
                (1 | 2, _) => Other,
                (_, true) => Passes,
                (_, false) => Fails,
            }
        };
        assert_eq!(search(40, parts).0, SearchStep::Found(BTreeSet::from([30])));
    }

    #[test]
    fn finds_cause_where_halves_fail_by_themselves() {
        // Four hunks go together: some of them alone fail the same tests.
        let parts = |taken: &BTreeSet<usize>| {
            let some = [0, 1, 3, 8].iter().filter(|hunk| taken.contains(*hunk)).count();
            if taken.contains(&6) && [0, 4].contains(&some) {
                Passes
            } else {
                Fails
            }
        };
        let (step, runs) = search(14, parts);
        assert_eq!(step, SearchStep::Found(BTreeSet::from([6])));
        assert!(runs <= 14, "{runs} runs");
    }

    #[test]
    fn distinguishes_other_answers() {
        assert_eq!(search(3, |_| Fails).0, SearchStep::NotByThese);
        assert_eq!(search(3, |_| Passes).0, SearchStep::Flaky);
        let broken = |taken: &BTreeSet<usize>| if taken.is_empty() { Fails } else { Other };
        assert_eq!(search(3, broken).0, SearchStep::NoVerdict);
        // The tests use what the sixth added: without it the result is unknown.
        let uses = |taken: &BTreeSet<usize>| match (taken.contains(&5), taken.contains(&3)) {
            (true, _) => Other,
            (false, true) => Passes,
            (false, false) => Fails,
        };
        assert_eq!(search(9, uses).0, SearchStep::Found(BTreeSet::from([3])));
        let outcomes = Tried::from([
            (BTreeSet::new(), vec![Fails]),
            (BTreeSet::from([0]), vec![Passes, Fails]),
        ]);
        assert_eq!(step(&[vec![0], vec![1]], &outcomes), SearchStep::Flaky);
        assert_eq!(step(&[], &Tried::new()), SearchStep::NotByThese);
    }

    #[test]
    fn bisects_past_states_without_outcome() {
        let run = |count: usize, first_bad: usize, silent: &[usize]| {
            let mut outcomes = BTreeMap::new();
            for tried in 0.. {
                match bisect_range(count, &outcomes) {
                    Ok(found) => return (found, tried),
                    Err(state) => {
                        let result = match state {
                            index if silent.contains(&index) => Other,
                            index if index >= first_bad => Fails,
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
