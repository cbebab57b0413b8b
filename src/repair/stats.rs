use std::collections::BTreeMap;

use crate::model::{
    Blocker, ChildFailure, FailureKind, Rate, RunResult, RunStatus, SCHEMA_VERSION, Stats,
};

/// Adds up runs: their results and, for those that failed, their reports.
#[must_use]
pub fn stats(runs: &[(RunResult, Option<ChildFailure>)]) -> Stats {
    let mut all = Stats {
        schema_version: SCHEMA_VERSION,
        document: "stats".to_owned(),
        ..Stats::default()
    };
    let mut blockers: BTreeMap<String, u32> = BTreeMap::new();
    let mut learned: BTreeMap<String, u32> = BTreeMap::new();
    for (result, report) in runs {
        all.runs += 1;
        let Some(failure) = &result.failure else {
            continue;
        };
        let fixed = u32::from(result.status == RunStatus::Fixed);
        all.failures += 1;
        all.fixed += fixed;
        let add = |rate: &mut Rate| {
            rate.runs += 1;
            rate.fixed += fixed;
        };
        add(all.kinds.entry(failure.kind.to_string()).or_default());
        if failure.kind == FailureKind::ImportError {
            add(&mut all.import_recovery);
        }
        *all.stop_reasons
            .entry(result.stop_reason.to_string())
            .or_default() += 1;
        if let Some(category) = result.category {
            *all.categories.entry(category.to_string()).or_default() += 1;
        }
        if let Some(blocked) = report.as_ref().and_then(|it| it.blocked_on.clone()) {
            *blockers.entry(blocked).or_default() += 1;
        }
        if fixed == 1 && result.agent_calls > 0 {
            for name in &failure.undefined_names {
                *learned.entry(name.clone()).or_default() += 1;
            }
        }
    }
    if all.failures > 0 {
        let share = f64::from(all.failures - all.fixed) / f64::from(all.failures);
        all.failure_rate = (share * 1000.0).round() / 1000.0;
    }
    all.blockers = most(blockers);
    all.learned = most(learned);
    all
}

// The ten most frequent; of equals the first by name.
fn most(counts: BTreeMap<String, u32>) -> Vec<Blocker> {
    let mut rows: Vec<Blocker> = counts
        .into_iter()
        .map(|(what, runs)| Blocker { what, runs })
        .collect();
    rows.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.what.cmp(&b.what)));
    rows.truncate(10);
    rows
}
