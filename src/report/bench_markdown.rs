use super::bench_text::{HEADER, cells, groups, repair_rows, share};
use super::markup::cell;
use crate::model::{BenchDocument, FixtureOutcome};

/// A bench as Markdown tables, for a pull request or a page of docs.
#[must_use]
pub fn bench_markdown(bench: &BenchDocument) -> String {
    let mut text = format!(
        "## Pass rate: {}\n\nAgent `{}`, levels 0 to {}. It measures {}.\n",
        share(&bench.totals),
        bench.agent.replace('`', "'"),
        bench.max_level,
        bench.measures
    );
    if let Some(comparison) = &bench.comparison {
        for (name, ids) in [
            ("Regressed", &comparison.regressed),
            ("Gained", &comparison.gained),
            ("Added", &comparison.added),
            ("Missing", &comparison.missing),
        ] {
            if !ids.is_empty() {
                text.push_str(&format!("\n{name}: {}\n", ids.join(", ")));
            }
        }
    }
    text.push_str("\n| | |\n|---|---|\n");
    for (name, value) in repair_rows(bench) {
        text.push_str(&format!("| {name} | {value} |\n"));
    }
    text.push_str(&format!("\n| {} | why |\n", HEADER.join(" | ")));
    text.push_str("|---|---|---|---:|---:|---:|---:|---|---|\n");
    for outcome in &bench.fixtures {
        let cells = cells(outcome).map(|it| cell(&it)).join(" | ");
        text.push_str(&format!("| {cells} | {} |\n", cell(&said(outcome))));
    }
    for (name, rows) in groups(bench) {
        text.push_str(&format!("\n| {name} | passed |\n|---|---|\n"));
        for row in rows {
            text.push_str(&format!(
                "| {} | {} |\n",
                cell(&row.name),
                share(&row.tally)
            ));
        }
    }
    text.push_str("\n| level | fixed here | fixed so far | of | bytes of packets, mean |\n");
    text.push_str("|---|---:|---:|---:|---:|\n");
    for rung in &bench.ladder {
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            rung.level, rung.fixed, rung.fixed_so_far, rung.of, rung.mean_packet_bytes
        ));
    }
    text.push_str(&format!(
        "\nWrong heals: {}. Fixtures with leaks: {}.\n",
        bench.wrong_heals, bench.leaks
    ));
    text
}

/// What is not as it should be, and what was called fixed without a repair.
pub(super) fn said(outcome: &FixtureOutcome) -> String {
    outcome.why.join("; ")
}
