use std::collections::BTreeMap;

use super::score::tally_of;
use crate::model::{
    BenchDocument, BenchPairs, FixtureOutcome, FixtureResult, PairedSide, SCHEMA_VERSION,
};

/// Two benches case by case, over the cases that both ran.
#[must_use]
pub fn pairs(first: &BenchDocument, second: &BenchDocument) -> BenchPairs {
    let (one, two) = (ran(first), ran(second));
    let shared = |it: &&FixtureOutcome, other: &BTreeMap<&str, &FixtureOutcome>| {
        other.contains_key(it.id.as_str())
    };
    let firsts: Vec<&FixtureOutcome> = one
        .values()
        .copied()
        .filter(|it| shared(it, &two))
        .collect();
    let seconds: Vec<&FixtureOutcome> = two
        .values()
        .copied()
        .filter(|it| shared(it, &one))
        .collect();
    let (mut both, mut neither) = (0, 0);
    let (mut only_first, mut only_second) = (Vec::new(), Vec::new());
    for (a, b) in firsts.iter().zip(&seconds) {
        match (a.repaired, b.repaired) {
            (true, true) => both += 1,
            (false, false) => neither += 1,
            (true, false) => only_first.push(a.id.clone()),
            (false, true) => only_second.push(b.id.clone()),
        }
    }
    let mut unpaired: Vec<String> = first
        .fixtures
        .iter()
        .chain(&second.fixtures)
        .filter(|it| !(one.contains_key(it.id.as_str()) && two.contains_key(it.id.as_str())))
        .map(|it| it.id.clone())
        .collect();
    unpaired.sort();
    unpaired.dedup();
    BenchPairs {
        schema_version: SCHEMA_VERSION,
        document: "bench-pairs".to_owned(),
        first: side(&first.agent, &firsts),
        second: side(&second.agent, &seconds),
        cases: firsts.len() as u64,
        both,
        neither,
        p: mcnemar(only_first.len(), only_second.len()),
        only_first,
        only_second,
        unpaired,
    }
}

fn ran(document: &BenchDocument) -> BTreeMap<&str, &FixtureOutcome> {
    let run =
        |it: &&FixtureOutcome| !matches!(it.result, FixtureResult::Skipped | FixtureResult::Error);
    let rows = document.fixtures.iter().filter(run);
    rows.map(|it| (it.id.as_str(), it)).collect()
}

fn side(agent: &str, outcomes: &[&FixtureOutcome]) -> PairedSide {
    PairedSide {
        agent: agent.to_owned(),
        repaired: tally_of(outcomes.iter().copied(), |it| it.repaired),
        seconds: (outcomes.iter().map(|it| it.seconds).sum::<f64>() * 10.0).round() / 10.0,
        agent_calls: outcomes.iter().map(|it| u64::from(it.agent_calls)).sum(),
        packet_tokens: outcomes.iter().map(|it| it.packet_tokens).sum(),
    }
}

// The two-sided exact test: of the cases that differ, as many on one side as a fair coin gives.
fn mcnemar(first: usize, second: usize) -> f64 {
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
    use super::{mcnemar, pairs};
    use crate::model::{FixtureResult as R, Level};

    #[test]
    fn the_test_is_exact() {
        // Twice the binomial tail at 1/2: 2 * (1 + 10) / 1024, 2 / 32, and 1 where sides agree.
        for (first, second, p) in [(1, 9, 0.0215), (0, 5, 0.0625), (5, 5, 1.0), (0, 0, 1.0)] {
            assert!(
                (mcnemar(first, second) - p).abs() < 1e-9,
                "{first} {second}"
            );
            assert!((mcnemar(second, first) - p).abs() < 1e-9);
        }
    }

    #[test]
    fn only_cases_that_both_ran_are_counted() {
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
