use super::page::Block::{self, Heading, Prose, Rows, Table, Title};
use super::page::{markdown, text};
use crate::model::{
    BenchDocument, BenchPairs, FixtureOutcome, FixtureResult, HiddenTests, PairedSide, Tally,
};

/// Formats a bench: one row per fixture, then totals, groups and levels.
#[must_use]
pub fn bench_text(bench: &BenchDocument) -> String {
    text(&bench_page(bench))
}

/// The same as Markdown, for a pull request or a page of docs.
#[must_use]
pub fn bench_markdown(bench: &BenchDocument) -> String {
    markdown(&bench_page(bench))
}

/// Two benches case by case, for people.
#[must_use]
pub fn pairs_text(pairs: &BenchPairs) -> String {
    text(&pairs_page(pairs))
}

/// The same as Markdown.
#[must_use]
pub fn pairs_markdown(pairs: &BenchPairs) -> String {
    markdown(&pairs_page(pairs))
}

fn bench_page(bench: &BenchDocument) -> Vec<Block> {
    let mut head = named([(
        "agent",
        format!("{}, levels 0 to {}", bench.agent, bench.max_level),
    )]);
    if let Some(part) = bench.partition {
        head.push((
            "part".to_owned(),
            format!("{} of {}", part.index, part.count),
        ));
    }
    let mut page = vec![
        Title(format!("Pass rate: {}", share(&bench.totals)), ""),
        Rows(head),
    ];
    if let Some(comparison) = &bench.comparison {
        page.push(Heading("against the baseline".to_owned()));
        page.push(Rows(named([
            ("regressed", listed(&comparison.regressed)),
            ("gained", listed(&comparison.gained)),
            ("added", listed(&comparison.added)),
            ("missing", listed(&comparison.missing)),
        ])));
    }
    let fixtures = bench.fixtures.iter().map(cells);
    page.push(table(&HEADER, fixtures, &[3, 4, 5, 6]));
    page.push(Heading("repairs".to_owned()));
    page.push(Rows(repairs(bench)));
    for (name, rows) in [
        ("kind", &bench.by_kind),
        ("language", &bench.by_language),
        ("repository", &bench.by_repository),
        ("level needed", &bench.by_level),
    ] {
        if !rows.is_empty() {
            let rows = rows.iter().map(|it| [it.name.clone(), share(&it.tally)]);
            page.push(table(&[name, "passed"], rows, &[]));
        }
    }
    let rungs = bench.ladder.iter().map(|rung| {
        let level = rung.level.to_string();
        let [fixed, so_far] = [rung.fixed, rung.fixed_so_far].map(|it| it.to_string());
        let bytes = rung.mean_packet_bytes.to_string();
        [level, fixed, so_far, rung.of.to_string(), bytes]
    });
    page.push(table(&LADDER, rungs, &[1, 2, 3, 4]));
    page.push(Prose(format!(
        "unsafe fixes {}, fixtures with leaks {}",
        bench.wrong_heals, bench.leaks
    )));
    page
}

const HEADER: [&str; 8] = [
    "fixture", "result", "end", "level", "attempts", "bytes", "seconds", "why",
];
const LADDER: [&str; 5] = [
    "level",
    "fixed at this level",
    "fixed so far",
    "of",
    "packet bytes, mean",
];

fn cells(outcome: &FixtureOutcome) -> [String; 8] {
    let result = match outcome.result {
        FixtureResult::Passed => "passed",
        FixtureResult::Failed => "failed",
        FixtureResult::Skipped => "skipped",
        FixtureResult::Error => "error",
    };
    let end = match outcome.stop_reason {
        _ if outcome.hidden == Some(HiddenTests::Failed) => "fixed, hidden failed".to_owned(),
        Some(reason) => reason.to_string(),
        None => "-".to_owned(),
    };
    [
        outcome.id.clone(),
        result.to_owned(),
        end,
        outcome.level.to_string(),
        outcome.attempts.to_string(),
        outcome.packet_bytes.to_string(),
        format!("{:.1}", outcome.seconds),
        outcome.why.join("; "),
    ]
}

// What was repaired.
fn repairs(bench: &BenchDocument) -> Vec<(String, String)> {
    let repairs = &bench.repairs;
    let mut rows = named([
        ("repaired", share(&repairs.all)),
        (
            "fixed, hidden tests passed",
            share(&repairs.with_hidden_tests),
        ),
        (
            "fixed, hidden tests failed",
            bench.hidden_failed.to_string(),
        ),
    ]);
    if bench.by_repository.is_empty() {
        return rows;
    }
    let all = || bench.fixtures.iter();
    let calls: u64 = all().map(|it| u64::from(it.agent_calls)).sum();
    let tokens: u64 = all().map(|it| it.packet_tokens).sum();
    let seconds: f64 = all().map(|it| it.seconds).sum();
    let tests: f64 = all().map(|it| it.command_seconds).sum();
    rows.extend(named([
        ("agent calls", calls.to_string()),
        ("packet tokens", tokens.to_string()),
        (
            "seconds",
            format!("{seconds:.0}, of which tests {tests:.0}"),
        ),
    ]));
    rows
}

fn pairs_page(pairs: &BenchPairs) -> Vec<Block> {
    let spent = |side: &PairedSide| {
        let share = share(&side.repaired);
        let (seconds, calls, tokens) = (side.seconds, side.agent_calls, side.packet_tokens);
        let spent = format!("{seconds:.0} s, {calls} calls, {tokens} packet tokens");
        [side.agent.clone(), format!("repaired {share}; {spent}")]
    };
    let sides = [("first", &pairs.first), ("second", &pairs.second)];
    let sides = sides.map(|(name, side)| {
        let [agent, spent] = spent(side);
        [name.to_owned(), agent, spent]
    });
    vec![
        Title(format!("{} cases that both ran", pairs.cases), ""),
        table(&["", "agent", ""], sides, &[]),
        Rows(named([
            ("fixed by both", pairs.both.to_string()),
            ("by neither", pairs.neither.to_string()),
            ("by the first alone", listed(&pairs.only_first)),
            ("by the second alone", listed(&pairs.only_second)),
            ("not run by both", listed(&pairs.unpaired)),
            ("p (McNemar, exact)", format!("{:.4}", pairs.p)),
        ])),
    ]
}

fn listed(ids: &[String]) -> String {
    match ids {
        [] => "0".to_owned(),
        ids => format!("{}: {}", ids.len(), ids.join(", ")),
    }
}

fn named<const N: usize>(rows: [(&str, String); N]) -> Vec<(String, String)> {
    rows.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn table<const N: usize>(
    head: &[&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    numbers: &'static [usize],
) -> Block {
    let head = head.iter().map(|it| (*it).to_owned()).collect();
    let rows = rows.into_iter().map(|row| row.to_vec());
    Table(std::iter::once(head).chain(rows).collect(), numbers)
}

/// A tally in words: `9 of 10 (90.0 %, 59.6 to 98.2), skipped 1`.
fn share(tally: &Tally) -> String {
    let (passed, run) = (tally.passed, tally.run);
    let [rate, low, high] = [tally.rate, tally.low, tally.high].map(|it| it * 100.0);
    let skipped = match tally.skipped {
        0 => String::new(),
        skipped => format!(", skipped {skipped}"),
    };
    format!("{passed} of {run} ({rate:.1} %, {low:.1} to {high:.1}){skipped}")
}
