//! Adds up the runs of repairs into rates.

use crate::model::{Blocker, Rates, RunRecord};

const MAX_BLOCKERS: usize = 10;

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
    let categories = rates.categories.iter();
    let shares = categories.map(|(name, count)| (name.clone(), share(*count)));
    rates.category_rates = shares.collect();
    let blockers = &mut rates.blockers;
    blockers.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.what.cmp(&b.what)));
    blockers.truncate(MAX_BLOCKERS);
    let limit = alert_rate.filter(|limit| share(open) > *limit);
    rates.alarm = limit.map(|limit| {
        let (rate, limit) = (share(open) * 100.0, limit * 100.0);
        format!("{open} of {all} failures are not fixed: {rate:.1} %, and {limit:.1} % are allowed")
    });
}
