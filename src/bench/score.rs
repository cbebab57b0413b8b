//! Counts outcomes into totals, groups and levels, and runs of repairs into rates.

use std::collections::BTreeMap;

use serde_json::json;

use super::BenchError;
use crate::model::{
    BenchDocument, Blocker, Code, FixtureOutcome, FixtureResult, HiddenTests, Level, Partition,
    Rates, Repairs, RunRecord, SCHEMA_VERSION, Tally, TallyRow,
};

/// Who was asked, and how far.
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    /// The agent's name.
    pub agent: String,
    /// The highest level.
    pub max_level: Level,
    /// Which part.
    pub partition: Option<Partition>,
}

/// Counts outcomes. The order they come in does not matter.
pub fn score(heading: Heading, mut outcomes: Vec<FixtureOutcome>) -> BenchDocument {
    outcomes.sort_by(|a, b| a.id.cmp(&b.id));
    BenchDocument {
        schema_version: SCHEMA_VERSION,
        document: "bench".to_owned(),
        agent: heading.agent,
        max_level: heading.max_level,
        partition: heading.partition,
        totals: tally_outcomes(outcomes.iter()),
        repairs: count_repairs(&outcomes),
        by_kind: rows_by(&outcomes, |row| row.kind.to_string()),
        by_language: rows_by(&outcomes, |row| row.language.clone()),
        by_repository: rows_by(&outcomes, |row| row.repository.clone().unwrap_or_default())
            .into_iter()
            .filter(|row| !row.name.is_empty())
            .collect(),
        by_level: rows_by(&outcomes, |outcome| match outcome.needed_level {
            Some(level) => level.to_string(),
            None => "none".to_owned(),
        }),
        wrong_heals: count_outcomes(&outcomes, |outcome| {
            outcome.why.iter().any(|why| why.starts_with(WRONG_HEAL))
        }),
        leaks: count_outcomes(&outcomes, |row| !row.leaks.is_empty()),
        hidden_failed: count_outcomes(&outcomes, |row| row.hidden == Some(HiddenTests::Failed)),
        fixtures: outcomes,
        comparison: None,
    }
}

/// The prefix of the message about a wrong fix.
pub(super) const WRONG_HEAL: &str = "F304: ";

/// The first reason why a document is no success, if there is one; `min_rate` is the share that must pass.
pub fn bench_failure(document: &BenchDocument, min_rate: Option<f64>) -> Option<BenchError> {
    let comparison = document.comparison.as_ref();
    let regressed = comparison.map_or(String::new(), |found| found.regressed.join(", "));
    let (rate, least) = (document.totals.rate, min_rate.unwrap_or_default());
    let (leaks, wrong) = (document.leaks, document.wrong_heals);
    let (code, message) = if leaks > 0 {
        let message = format!("fixtures that leaked forbidden content: {leaks}");
        (Code::F302, message)
    } else if wrong > 0 {
        (Code::F304, format!("wrong fixes without an LLM: {wrong}"))
    } else if !regressed.is_empty() {
        (Code::F301, format!("no longer fixed: {regressed}"))
    } else if rate < least {
        let message = format!("the pass rate is {rate:.4}, below the required {least}");
        (Code::F307, message)
    } else {
        return None;
    };
    Some(BenchError::Below(code, message))
}

/// Writes a line of JSON for each case that ended with a patch: a prediction of SWE-bench.
pub fn prediction_lines(agent: &str, outcomes: &[FixtureOutcome]) -> String {
    let lines = outcomes.iter().filter_map(|outcome| {
        let patch = outcome.patch.as_ref()?;
        let line = json!({
            "instance_id": outcome.id, "model_name_or_path": agent, "model_patch": patch
        });
        Some(format!("{line}\n"))
    });
    lines.collect()
}

/// The 95 % interval of Wilson for `passed` of `run`, both ends from 0 to 1.
pub fn wilson(passed: u64, run: u64) -> (f64, f64) {
    if run == 0 {
        return (0.0, 1.0);
    }
    let (passed, run) = (passed as f64, run as f64);
    let z = 1.959_963_985;
    let share = passed / run;
    let scale = 1.0 + z * z / run;
    let middle = (share + z * z / (2.0 * run)) / scale;
    let half = z * (share * (1.0 - share) / run + z * z / (4.0 * run * run)).sqrt() / scale;
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

fn tally_outcomes<'a>(outcomes: impl Iterator<Item = &'a FixtureOutcome>) -> Tally {
    tally_of(outcomes, |row| row.result == FixtureResult::Passed)
}

// Counts the fixtures that were run and those of them that are good.
pub(super) fn tally_of<'a>(
    outcomes: impl Iterator<Item = &'a FixtureOutcome>,
    good: impl Fn(&FixtureOutcome) -> bool,
) -> Tally {
    let mut tally = Tally::default();
    for outcome in outcomes {
        if outcome.result == FixtureResult::Skipped {
            tally.skipped += 1;
            continue;
        }
        tally.fixtures_run += 1;
        tally.passed += u64::from(good(outcome));
    }
    let rate = tally.passed as f64 / tally.fixtures_run.max(1) as f64;
    let (low, high) = wilson(tally.passed, tally.fixtures_run);
    Tally {
        rate: round_share(rate),
        low: round_share(low),
        high: round_share(high),
        ..tally
    }
}

fn count_repairs(outcomes: &[FixtureOutcome]) -> Repairs {
    let rows = outcomes.iter().filter(|row| row.fixable);
    Repairs {
        all: tally_of(rows.clone(), |row| row.repaired),
        with_hidden_tests: tally_of(rows.filter(|row| row.hidden_tests), |row| row.repaired),
    }
}

// Rounded to four digits, so that the text is the same on every machine.
fn round_share(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

fn rows_by(outcomes: &[FixtureOutcome], name: impl Fn(&FixtureOutcome) -> String) -> Vec<TallyRow> {
    let mut groups: BTreeMap<String, Vec<&FixtureOutcome>> = BTreeMap::new();
    for outcome in outcomes {
        groups.entry(name(outcome)).or_default().push(outcome);
    }
    groups
        .into_iter()
        .map(|(name, group)| TallyRow {
            name,
            tally: tally_outcomes(group.into_iter()),
        })
        .collect()
}

fn count_outcomes(outcomes: &[FixtureOutcome], wanted: impl Fn(&FixtureOutcome) -> bool) -> u64 {
    outcomes.iter().filter(|row| wanted(row)).count() as u64
}

/// Counts a run.
pub fn count_run(rates: &mut Rates, run: &RunRecord) {
    let result = &run.result;
    rates.runs += 1;
    if let Some(failure) = &result.failure {
        let fixed = u32::from(result.status.is_success());
        let kind = rates.kinds.entry(failure.kind.to_string()).or_default();
        kind.runs += 1;
        kind.fixed += fixed;
        rates.failures += 1;
        rates.fixed += fixed;
        if let Some(category) = result.category {
            *rates.categories.entry(category.to_string()).or_default() += 1;
        }
        let report = run.report.as_ref();
        if let Some(what) = report.and_then(|report| report.blocked_on.clone()) {
            let mut blockers = rates.blockers.iter_mut();
            match blockers.find(|blocker| blocker.what == what) {
                Some(blocker) => blocker.runs += 1,
                None => rates.blockers.push(Blocker { what, runs: 1 }),
            }
        }
    }
}

/// Computes the shares of all that was counted. `alert_rate` is the share of failures that may stay unfixed.
pub fn conclude_rates(rates: &mut Rates, alert_rate: Option<f64>) {
    let (open, all) = (rates.failures - rates.fixed, rates.failures);
    let share = |count: u32| f64::from(count) / f64::from(all.max(1));
    rates.recovery_rate = share(rates.fixed);
    rates.failure_rate = share(open);
    let shares = rates.categories.iter().map(|(name, count)| (name.clone(), share(*count)));
    rates.category_rates = shares.collect();
    let blockers = &mut rates.blockers;
    blockers.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.what.cmp(&b.what)));
    blockers.truncate(10);
    let limit = alert_rate.filter(|limit| share(open) > *limit);
    rates.alarm = limit.map(|limit| {
        let (rate, limit) = (share(open) * 100.0, limit * 100.0);
        format!(
            "{open} of {all} failures are not fixed: {rate:.1} %, above the allowed {limit:.1} %"
        )
    });
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Heading, score, wilson};
    use crate::model::{
        FailureKind, FixtureOutcome, FixtureResult, HiddenTests, Level, RunStatus, StopReason,
        Usage,
    };

    pub(in crate::bench) fn outcome(
        id: &str,
        result: FixtureResult,
        level: Level,
    ) -> FixtureOutcome {
        let fixed = result == FixtureResult::Passed;
        FixtureOutcome {
            id: id.to_owned(),
            title: format!("{id} is broken"),
            language: id.split('-').next().unwrap_or_default().to_owned(),
            kind: FailureKind::TestFailure,
            needed_level: Some(level),
            fixable: true,
            hidden_tests: true,
            result,
            repaired: fixed,
            hidden: fixed.then_some(HiddenTests::Passed),
            status: fixed.then_some(RunStatus::Fixed),
            stop_reason: fixed.then_some(StopReason::Fixed),
            level,
            attempts: 1,
            healed: false,
            repository: None,
            packet_bytes: 1000,
            agent_calls: 1,
            usage: Usage::default(),
            command_seconds: 0.2,
            seconds: 0.5,
            why: Vec::new(),
            leaks: Vec::new(),
            patch: None,
        }
    }

    pub(in crate::bench) fn heading() -> Heading {
        Heading {
            agent: "oracle".to_owned(),
            max_level: Level::Requested,
            partition: None,
        }
    }

    #[test]
    fn computes_wilson_interval() {
        // From the formula in Wilson (1927), figures as in Newcombe (1998), table I.
        let rows = [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ];
        for (passed, run, low, high) in rows {
            let (l, h) = wilson(passed, run);
            assert!(
                (l - low).abs() < 1e-4 && (h - high).abs() < 1e-4,
                "{passed}/{run}: {l} {h}"
            );
        }
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }

    #[test]
    fn skipped_fixtures_count_for_nothing() {
        let document = score(
            heading(),
            vec![
                outcome("py-b", FixtureResult::Passed, Level::OneHop),
                outcome("py-a", FixtureResult::Passed, Level::Targets),
                outcome("js-a", FixtureResult::Failed, Level::TwoHops),
                outcome("ts-a", FixtureResult::Skipped, Level::Targets),
            ],
        );
        let ids: Vec<_> = document.fixtures.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["js-a", "py-a", "py-b", "ts-a"]);
        let totals = document.totals;
        assert_eq!(
            (totals.passed, totals.fixtures_run, totals.skipped),
            (2, 3, 1)
        );
        let all = document.repairs.all;
        assert_eq!((all.passed, all.fixtures_run), (2, 3));
    }
}
