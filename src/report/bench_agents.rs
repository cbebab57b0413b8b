use super::bench_text::share;
use super::markup::cell;
use crate::model::{AgentRow, BenchAgents};

const COLUMNS: [&str; 6] = [
    "repaired",
    "without toys",
    "toys",
    "fixed, hidden tests failed",
    "packets held files",
    "packets showed lines",
];

fn values(row: &AgentRow) -> [String; 6] {
    let seen = |count: u64| format!("{count} of {}", row.sight.of);
    [
        share(&row.repairs.all),
        share(&row.repairs.without_toys),
        share(&row.repairs.toys),
        row.hidden_failed.to_string(),
        seen(row.sight.held),
        seen(row.sight.shown),
    ]
}

/// The built-in agents beside each other, for people: a block an agent.
#[must_use]
pub fn agents_text(bench: &BenchAgents) -> String {
    let mut text = format!("levels 0 to {}\n", bench.max_level);
    for row in &bench.agents {
        text.push_str(&format!("\n{}: {}\n", row.agent, row.measures));
        text.push_str(&format!("  {:<28}{}\n", "as it should", share(&row.totals)));
        for (name, value) in COLUMNS.iter().zip(values(row)) {
            text.push_str(&format!("  {name:<28}{value}\n"));
        }
        text.push_str(&format!(
            "  {:<28}{} and {}\n",
            "wrong heals, leaks", row.wrong_heals, row.leaks
        ));
    }
    text
}

/// The built-in agents beside each other, as a Markdown table.
#[must_use]
pub fn agents_markdown(bench: &BenchAgents) -> String {
    let mut text = format!(
        "| agent | as it should | {} |\n|---|---{}|\n",
        COLUMNS.join(" | "),
        "|---".repeat(COLUMNS.len())
    );
    for row in &bench.agents {
        text.push_str(&format!(
            "| {} | {} | {} |\n",
            cell(&row.agent),
            share(&row.totals),
            values(row).join(" | ")
        ));
    }
    text
}
