use super::page::Page;
use crate::model::{
    BenchDocument, BenchPairs, FixtureOutcome, HiddenTests, MineDocument, PairedSide, Rates, Tally,
    TallyRow,
};

/// Formats the result of a search for fixes in a history.
pub fn mine_text(mined: &MineDocument) -> String {
    let mut page = Page::default();
    page.line(format!(
        "{}: {} fixes of {} candidates tried, in {} commits ({:.0} s)",
        mined.repository, mined.kept, mined.tried, mined.commits, mined.seconds
    ));
    let reasons = mined.dropped.iter();
    page.section(
        "dropped",
        reasons.map(|(reason, count)| format!("{count:>5}  {reason}")),
    );
    if mined.more {
        page.line("more candidates remain; raise --limit to continue");
    }
    for message in &mined.incomplete {
        page.line(format!("F404: {message}"));
    }
    page.text(false)
}

/// Reports the rates of several runs.
pub fn rates_page(rates: &Rates) -> Page {
    let mut page = Page::default();
    page.line(format!(
        "runs: {}, with a failure: {}, fixed: {}, recovery rate: {:.0} %",
        rates.runs,
        rates.failures,
        rates.fixed,
        rates.recovery_rate * 100.0
    ));
    let kinds = rates.kinds.iter();
    let kinds = kinds.map(|(kind, rate)| format!("{kind}: {} of {}", rate.fixed, rate.runs));
    page.section("fixed, by kind", kinds);
    let categories = rates.categories.iter().map(|(name, count)| {
        let share = rates.category_rates.get(name).copied().unwrap_or_default();
        format!("{name}: {count} ({:.0} %)", share * 100.0)
    });
    page.section("not fixed, by category", categories);
    let blockers = rates
        .blockers
        .iter()
        .map(|row| format!("{:>4}  {}", row.runs, row.what));
    page.section("top blockers", blockers);
    page
}

/// Reports a bench: totals, one row per fixture, groups and levels.
pub fn bench_page(bench: &BenchDocument) -> Page {
    let mut page = Page::default();
    page.title(format!("Pass rate: {}", share(&bench.totals)), "");
    let partition = bench
        .partition
        .map(|part| format!("{} of {}", part.index, part.count));
    page.rows([
        (
            "agent",
            format!("{}, levels 0 to {}", bench.agent, bench.max_level),
        ),
        ("part", partition.unwrap_or_default()),
        ("repaired", share(&bench.repairs.all)),
        (
            "fixed, hidden tests passed",
            share(&bench.repairs.with_hidden_tests),
        ),
        (
            "fixed, hidden tests failed",
            bench.hidden_failed.to_string(),
        ),
        ("unsafe fixes", bench.wrong_heals.to_string()),
        ("fixtures with leaks", bench.leaks.to_string()),
    ]);
    if let Some(comparison) = &bench.comparison {
        page.heading("against the baseline");
        page.rows([
            ("regressed", count_ids(&comparison.regressed)),
            ("gained", count_ids(&comparison.gained)),
            ("added", count_ids(&comparison.added)),
            ("missing", count_ids(&comparison.missing)),
        ]);
    }
    let head = [
        "fixture", "result", "end", "level", "attempts", "bytes", "seconds", "why",
    ];
    page.table(
        head,
        bench.fixtures.iter().map(fixture_cells),
        &[3, 4, 5, 6],
    );
    let groups = [
        ("kind", &bench.by_kind),
        ("language", &bench.by_language),
        ("repository", &bench.by_repository),
        ("level needed", &bench.by_level),
    ];
    let groups = groups.iter().flat_map(|(group, rows)| {
        let row = |row: &TallyRow| [(*group).to_owned(), row.name.clone(), share(&row.tally)];
        rows.iter().map(row)
    });
    page.table(["by", "", "passed"], groups, &[]);
    let rungs = bench.ladder.iter().map(|rung| {
        let (fixed, all, bytes) = (rung.fixed_so_far, rung.of, rung.mean_packet_bytes);
        format!(
            "up to level {}: {fixed} of {all} fixed, packets of {bytes} bytes",
            rung.level
        )
    });
    page.section("levels", rungs);
    page
}

fn fixture_cells(outcome: &FixtureOutcome) -> [String; 8] {
    let end = match outcome.stop_reason {
        _ if outcome.hidden == Some(HiddenTests::Failed) => "fixed, hidden failed".to_owned(),
        Some(reason) => reason.to_string(),
        None => "-".to_owned(),
    };
    [
        outcome.id.clone(),
        outcome.result.to_string(),
        end,
        outcome.level.to_string(),
        outcome.attempts.to_string(),
        outcome.packet_bytes.to_string(),
        format!("{:.1}", outcome.seconds),
        outcome.why.join("; "),
    ]
}

/// Reports two benches side by side.
pub fn pairs_page(pairs: &BenchPairs) -> Page {
    let side = |side: &PairedSide| {
        let repaired = share(&side.repaired);
        let (seconds, calls, tokens) = (side.seconds, side.agent_calls, side.packet_tokens);
        let agent = &side.agent;
        format!("{agent}: {repaired}; {seconds:.0} s, {calls} calls, {tokens} packet tokens")
    };
    let mut page = Page::default();
    page.title(format!("{} cases that both ran", pairs.cases), "");
    page.rows([
        ("first", side(&pairs.first)),
        ("second", side(&pairs.second)),
        ("fixed by both", pairs.both.to_string()),
        ("by neither", pairs.neither.to_string()),
        ("by the first alone", count_ids(&pairs.only_first)),
        ("by the second alone", count_ids(&pairs.only_second)),
        ("not run by both", count_ids(&pairs.unpaired)),
        ("p (McNemar, exact)", format!("{:.4}", pairs.p)),
    ]);
    page
}

fn count_ids(ids: &[String]) -> String {
    match ids {
        [] => "0".to_owned(),
        ids => format!("{}: {}", ids.len(), ids.join(", ")),
    }
}

/// Formats a tally: `9 of 10 (90.0 %, 59.6 to 98.2), skipped 1`.
fn share(tally: &Tally) -> String {
    let (passed, run) = (tally.passed, tally.run);
    let [rate, low, high] = [tally.rate, tally.low, tally.high].map(|share| share * 100.0);
    let skipped = match tally.skipped {
        0 => String::new(),
        skipped => format!(", skipped {skipped}"),
    };
    format!("{passed} of {run} ({rate:.1} %, {low:.1} to {high:.1}){skipped}")
}
