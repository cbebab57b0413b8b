//! Formats bench documents.

use super::page::Page;
use crate::model::{BenchDocument, BenchPairs, MineDocument, Rates, Tally};

/// Formats the result of a search for fixes in a history.
pub fn mine_text(mined: &MineDocument) -> String {
    let mut page = Page::default();
    page.fields(mined, "repository commits tried kept seconds");
    let reasons = mined.dropped.iter().map(|(reason, count)| format!("{count:>5}  {reason}"));
    page.section("dropped", reasons);
    if mined.more {
        page.line("more candidates remain; raise --limit to continue");
    }
    page.text(false)
}

/// Reports the rates of several runs.
pub fn rates_page(rates: &Rates) -> Page {
    let mut page = Page::default();
    page.fields(rates, "runs failures fixed recoveryRate");
    let kinds = rates.kinds.iter();
    let kinds = kinds.map(|(kind, rate)| format!("{kind}: {} of {}", rate.fixed, rate.runs));
    page.section("fixed, by kind", kinds);
    let categories = rates.categories.iter().map(|(name, count)| format!("{name}: {count}"));
    page.section("not fixed, by category", categories);
    let blockers = rates.blockers.iter().map(|row| format!("{:>4}  {}", row.runs, row.what));
    page.section("top blockers", blockers);
    page
}

/// Reports a bench: totals, one row per fixture, groups and levels.
pub fn bench_page(bench: &BenchDocument) -> Page {
    let mut page = Page::default();
    page.title(format!("Pass rate: {}", share(&bench.totals)), "");
    let hidden = share(&bench.repairs.with_hidden_tests);
    page.rows([
        ("repaired", share(&bench.repairs.all)),
        ("fixed, hidden tests passed", hidden),
    ]);
    page.fields(bench, "agent maxLevel hiddenFailed wrongHeals leaks");
    if let Some(comparison) = &bench.comparison {
        page.heading("against the baseline");
        page.fields(comparison, "regressed gained missing");
    }
    let columns = "id result hidden stopReason level attempts packetBytes seconds why";
    page.records(columns, &bench.fixtures);
    let groups = [
        ("kind", &bench.by_kind),
        ("language", &bench.by_language),
        ("repository", &bench.by_repository),
        ("level needed", &bench.by_level),
    ];
    let groups = groups.iter().flat_map(|(group, rows)| {
        rows.iter()
            .map(|row| [(*group).to_owned(), row.name.clone(), share(&row.tally)])
    });
    page.table(["by", "", "passed"], groups);
    page
}

/// Reports two benches side by side.
pub fn pairs_page(pairs: &BenchPairs) -> Page {
    let mut page = Page::default();
    page.title(format!("{} cases that both ran", pairs.cases), "");
    let columns = "agent seconds agentCalls packetBytes";
    page.records(columns, &[&pairs.first, &pairs.second]);
    page.rows([
        ("first repaired", share(&pairs.first.repaired)),
        ("second repaired", share(&pairs.second.repaired)),
        ("p (McNemar, exact)", format!("{:.4}", pairs.p)),
    ]);
    page.fields(pairs, "both neither onlyFirst onlySecond unpaired");
    page
}

/// Formats a tally: `9 of 10 (90.0 %, 59.6 to 98.2), skipped 1`.
fn share(tally: &Tally) -> String {
    let (passed, run) = (tally.passed, tally.fixtures_run);
    let [rate, low, high] = [tally.rate, tally.low, tally.high].map(|share| share * 100.0);
    let skipped = match tally.skipped {
        0 => String::new(),
        skipped => format!(", skipped {skipped}"),
    };
    format!("{passed} of {run} ({rate:.1} %, {low:.1} to {high:.1}){skipped}")
}
