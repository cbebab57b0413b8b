use super::markup::fenced;
use crate::model::Rates;

/// Formats the rates of several runs for a comment.
#[must_use]
pub fn rates_markdown(rates: &Rates) -> String {
    fenced(&rates_text(rates), "")
}

/// Formats the rates of several runs.
#[must_use]
pub fn rates_text(rates: &Rates) -> String {
    let mut text = format!(
        "runs: {}, with a failure: {}, fixed: {}, recovery rate: {:.0} %\n",
        rates.runs,
        rates.failures,
        rates.fixed,
        rates.recovery_rate * 100.0
    );
    for (kind, rate) in &rates.kinds {
        text.push_str(&format!(
            "  {kind:<20} {} of {} fixed\n",
            rate.fixed, rate.runs
        ));
    }
    if !rates.categories.is_empty() {
        text.push_str("not fixed, by category:\n");
    }
    for (name, count) in &rates.categories {
        let share = rates.category_rates.get(name).copied().unwrap_or_default();
        text.push_str(&format!("  {name:<20} {count}  {:.0} %\n", share * 100.0));
    }
    if !rates.blockers.is_empty() {
        text.push_str("top blockers:\n");
    }
    for row in &rates.blockers {
        text.push_str(&format!("  {:>4}  {}\n", row.runs, row.what));
    }
    text
}
