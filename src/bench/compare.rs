//! Compares two bench documents, case by case. Skipped cases are left out, since they say nothing about
//! either side.

use std::collections::{BTreeMap, BTreeSet};

use super::score::tally_of;
use crate::model::{
    BenchDocument, BenchPairs, Comparison, FixtureOutcome, FixtureResult, PairedSide,
    SCHEMA_VERSION,
};

/// Compares with an earlier document, over the fixtures that both ran.
pub fn compare(now: &BenchDocument, before: &BenchDocument) -> Comparison {
    let pairs = pair_cases(before, now, |row| row.result == FixtureResult::Passed);
    Comparison {
        regressed: pairs.only_first,
        gained: pairs.only_second,
        missing: pairs.unpaired,
    }
}

/// Two benches case by case, over the cases that both ran.
pub fn pairs(first: &BenchDocument, second: &BenchDocument) -> BenchPairs {
    pair_cases(first, second, |row| row.repaired)
}

fn pair_cases(
    first: &BenchDocument,
    second: &BenchDocument,
    is_good: fn(&FixtureOutcome) -> bool,
) -> BenchPairs {
    let (one, two) = (list_ran(first), list_ran(second));
    let shared = one.keys().filter(|id| two.contains_key(*id));
    let (firsts, seconds): (Vec<_>, Vec<_>) = shared.map(|id| (one[id], two[id])).unzip();
    let (mut both, mut neither) = (0, 0);
    let (mut only_first, mut only_second) = (Vec::new(), Vec::new());
    for (a, b) in firsts.iter().zip(&seconds) {
        match (is_good(a), is_good(b)) {
            (true, true) => both += 1,
            (false, false) => neither += 1,
            (true, false) => only_first.push(a.id.clone()),
            (false, true) => only_second.push(b.id.clone()),
        }
    }
    let all = first.fixtures.iter().chain(&second.fixtures);
    let ids = all.map(|row| row.id.as_str()).collect::<BTreeSet<_>>();
    let alone = ids.into_iter().filter(|id| !(one.contains_key(id) && two.contains_key(id)));
    let unpaired = alone.map(str::to_owned).collect();
    BenchPairs {
        schema_version: SCHEMA_VERSION,
        document: "bench-pairs".to_owned(),
        first: paired_side(&first.agent, &firsts),
        second: paired_side(&second.agent, &seconds),
        cases: firsts.len() as u64,
        both,
        neither,
        p: mcnemar_test(only_first.len(), only_second.len()),
        only_first,
        only_second,
        unpaired,
    }
}

fn list_ran(document: &BenchDocument) -> BTreeMap<&str, &FixtureOutcome> {
    let not_run = [FixtureResult::Skipped, FixtureResult::Error];
    let rows = document.fixtures.iter().filter(|row| !not_run.contains(&row.result));
    rows.map(|row| (row.id.as_str(), row)).collect()
}

fn paired_side(agent: &str, outcomes: &[&FixtureOutcome]) -> PairedSide {
    PairedSide {
        agent: agent.to_owned(),
        repaired: tally_of(outcomes.iter().copied(), |row| row.repaired),
        seconds: (outcomes.iter().map(|row| row.seconds).sum::<f64>() * 10.0).round() / 10.0,
        agent_calls: outcomes.iter().map(|row| u64::from(row.agent_calls)).sum(),
        packet_bytes: outcomes.iter().map(|row| row.packet_bytes).sum(),
    }
}

// The two-sided exact test: of the cases that differ, as many on one side as a fair coin gives.
fn mcnemar_test(first: usize, second: usize) -> f64 {
    let (fewer, all) = (first.min(second), first + second);
    let mut term = 0.5_f64.powi(i32::try_from(all).unwrap_or(i32::MAX));
    let mut sum = 0.0;
    for k in 0..=fewer {
        sum += term;
        term = term * (all - k) as f64 / (k + 1) as f64;
    }
    ((2.0 * sum).min(1.0) * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::super::score::score;
    use super::super::score::tests::{heading, outcome};
    use super::{compare, mcnemar_test, pairs};
    use crate::model::{FixtureResult as R, Level};

    #[test]
    fn compare_distinguishes_regressed_from_missing() {
        let level = Level::Targets;
        let before = score(
            heading(),
            vec![
                outcome("a", R::Passed, level),
                outcome("b", R::Passed, level),
                outcome("c", R::Passed, level),
                outcome("d", R::Failed, level),
            ],
        );
        let now = score(
            heading(),
            vec![
                outcome("a", R::Failed, level),
                outcome("b", R::Skipped, level),
                outcome("d", R::Passed, level),
                outcome("e", R::Passed, level),
            ],
        );
        let found = compare(&now, &before);
        assert_eq!(found.regressed, ["a"]);
        assert_eq!(found.missing, ["b", "c", "e"]);
        assert_eq!(found.gained, ["d"]);
    }

    #[test]
    fn the_test_is_exact() {
        // Twice the binomial tail at 1/2: 2 * (1 + 10) / 1024, 2 / 32, and 1 where sides agree.
        for (first, second, p) in [(1, 9, 0.0215), (0, 5, 0.0625), (5, 5, 1.0), (0, 0, 1.0)] {
            assert!(
                (mcnemar_test(first, second) - p).abs() < 1e-9,
                "{first} {second}"
            );
            assert!((mcnemar_test(second, first) - p).abs() < 1e-9);
        }
    }

    #[test]
    fn counts_cases_run_by_both() {
        let level = Level::Targets;
        let document = |rows: &[(&str, R)]| {
            let rows = rows.iter().map(|(id, result)| outcome(id, *result, level));
            score(heading(), rows.collect())
        };
        let first = document(&[
            ("a", R::Passed),
            ("b", R::Passed),
            ("c", R::Failed),
            ("d", R::Passed),
        ]);
        let second = document(&[
            ("a", R::Passed),
            ("b", R::Failed),
            ("c", R::Failed),
            ("d", R::Skipped),
            ("e", R::Passed),
        ]);
        let found = pairs(&first, &second);
        assert_eq!((found.cases, found.both, found.neither), (3, 1, 1));
        assert_eq!(found.only_first, ["b"]);
        assert!(found.only_second.is_empty());
        assert_eq!(found.unpaired, ["d", "e"]);
        let repaired = (found.first.repaired.passed, found.second.repaired.passed);
        assert_eq!(repaired, (2, 1));
    }
}
