use super::markup::cell;
use super::table::table_lines;
use crate::model::{
    AgentRow, BenchAgents, BenchDocument, FixtureOutcome, FixtureResult, HiddenTests, Tally,
    TallyRow,
};

/// A bench for people: a row a fixture, then totals, groups and the ladder.
#[must_use]
pub fn bench_text(bench: &BenchDocument) -> String {
    let mut text = format!(
        "agent    {} (levels 0 to {})\nmeasures {}\n",
        bench.agent, bench.max_level, bench.measures
    );
    if let Some(part) = bench.partition {
        text.push_str(&format!("part     {} of {}\n", part.index, part.count));
    }
    let mut rows = vec![HEADER.map(str::to_owned)];
    rows.extend(bench.fixtures.iter().map(cells));
    let mut lines = table_lines(&rows, &[3, 4, 5, 6]).into_iter();
    let header = lines.next().unwrap_or_default();
    text.push_str(&format!("\n{header}\n"));
    for (outcome, line) in bench.fixtures.iter().zip(lines) {
        text.push_str(&format!("{line}\n"));
        for why in &outcome.why {
            text.push_str(&format!("  {why}\n"));
        }
    }
    text.push_str(&format!("\npassed {}\n\n", share(&bench.totals)));
    for (name, value) in repair_rows(bench) {
        text.push_str(&format!("{name:<34}{value}\n"));
    }
    for (name, rows) in groups(bench) {
        text.push_str(&format!("\nby {name}\n"));
        for row in rows {
            text.push_str(&format!("  {:<18}  {}\n", row.name, share(&row.tally)));
        }
    }
    text.push_str("\nladder: fixed with this level as the highest, and so far\n");
    for rung in &bench.ladder {
        text.push_str(&format!(
            "  level {}  {:>4}  {:>4} of {}  {:>8} bytes of packets on average\n",
            rung.level, rung.fixed, rung.fixed_so_far, rung.of, rung.mean_packet_bytes
        ));
    }
    text.push_str(&format!(
        "\nwrong heals {}, fixtures with leaks {}\n",
        bench.wrong_heals, bench.leaks
    ));
    if let Some(comparison) = &bench.comparison {
        let lists = [
            ("regressed", &comparison.regressed),
            ("gained", &comparison.gained),
            ("added", &comparison.added),
            ("missing", &comparison.missing),
        ];
        text.push_str("\nagainst the baseline\n");
        for (name, ids) in lists {
            let ids = if ids.is_empty() {
                "none".to_owned()
            } else {
                ids.join(", ")
            };
            text.push_str(&format!("  {name:<10}{ids}\n"));
        }
    }
    text
}

/// What [`cells`] gives of a fixture.
pub(super) const HEADER: [&str; 8] = [
    "fixture", "result", "end", "level", "attempts", "bytes", "seconds", "toy",
];

/// A fixture's row.
pub(super) fn cells(outcome: &FixtureOutcome) -> [String; 8] {
    [
        outcome.id.clone(),
        result_word(outcome.result).to_owned(),
        end_word(outcome),
        outcome.level.to_string(),
        outcome.attempts.to_string(),
        outcome.packet_bytes.to_string(),
        format!("{:.1}", outcome.seconds),
        if outcome.toy { "toy" } else { "" }.to_owned(),
    ]
}

/// The fixtures by what they have in common, where they have it.
pub(super) fn groups(bench: &BenchDocument) -> impl Iterator<Item = (&'static str, &[TallyRow])> {
    let groups = [
        ("kind", bench.by_kind.as_slice()),
        ("language", &bench.by_language),
        ("repository", &bench.by_repository),
        ("level needed", &bench.by_level),
    ];
    groups.into_iter().filter(|(_, rows)| !rows.is_empty())
}

/// The result in one word.
pub(super) fn result_word(result: FixtureResult) -> &'static str {
    match result {
        FixtureResult::Passed => "passed",
        FixtureResult::Failed => "failed",
        FixtureResult::Skipped => "skipped",
        FixtureResult::Error => "error",
    }
}

/// What was repaired and what packets showed: a name and a value each.
pub(super) fn repair_rows(bench: &BenchDocument) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = shares(bench)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    if bench.by_repository.is_empty() {
        return rows;
    }
    rows.push((
        "first packet held them".to_owned(),
        format!("{} of {}", bench.sight.first, bench.sight.of),
    ));
    for rung in &bench.sight_by_level {
        rows.push((
            format!("up to level {}, held and showed", rung.level),
            format!(
                "{} and {} of {}",
                rung.held_so_far, rung.shown_so_far, rung.of
            ),
        ));
    }
    let sum = |of: &dyn Fn(&FixtureOutcome) -> f64| bench.fixtures.iter().map(of).sum::<f64>();
    let calls: u64 = bench
        .fixtures
        .iter()
        .map(|it| u64::from(it.agent_calls))
        .sum();
    let tokens: u64 = bench.fixtures.iter().map(|it| it.packet_tokens).sum();
    rows.push(("calls of the agent".to_owned(), calls.to_string()));
    rows.push(("tokens of packets".to_owned(), tokens.to_string()));
    let seconds = format!(
        "{:.0}, of which tests {:.0}",
        sum(&|it| it.seconds),
        sum(&|it| it.command_seconds)
    );
    rows.push(("seconds".to_owned(), seconds));
    rows
}

fn shares(bench: &BenchDocument) -> Vec<(&'static str, String)> {
    let (repairs, sight) = (&bench.repairs, &bench.sight);
    let seen = |count: u64| format!("{count} of {}", sight.of);
    vec![
        ("repaired", share(&repairs.all)),
        ("repaired, without toys", share(&repairs.without_toys)),
        ("repaired, toys", share(&repairs.toys)),
        (
            "repaired, with hidden tests",
            share(&repairs.with_hidden_tests),
        ),
        (
            "fixed, hidden tests failed",
            bench.hidden_failed.to_string(),
        ),
        ("packets held the needed files", seen(sight.held)),
        ("packets showed what changes", seen(sight.shown)),
    ]
}

/// How a fixture's run ended, in a few words.
pub(super) fn end_word(outcome: &FixtureOutcome) -> String {
    if outcome.hidden == Some(HiddenTests::Failed) {
        return "fixed, hidden failed".to_owned();
    }
    outcome
        .stop_reason
        .map_or_else(|| "-".to_owned(), |it| it.to_string())
}

/// A tally in words: `9 of 10 (90.0 %, 59.6 to 98.2), skipped 1`.
pub(super) fn share(tally: &Tally) -> String {
    let mut text = format!(
        "{} of {} ({:.1} %, {:.1} to {:.1})",
        tally.passed,
        tally.run,
        tally.rate * 100.0,
        tally.low * 100.0,
        tally.high * 100.0
    );
    if tally.skipped > 0 {
        text.push_str(&format!(", skipped {}", tally.skipped));
    }
    text
}

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
