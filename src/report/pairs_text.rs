use super::bench_text::share;
use super::markup::cell;
use crate::model::{BenchPairs, PairedSide};

/// Two benches case by case, for people.
#[must_use]
pub fn pairs_text(pairs: &BenchPairs) -> String {
    let mut text = format!("cases that both ran  {}\n", pairs.cases);
    for (name, side) in [("first", &pairs.first), ("second", &pairs.second)] {
        text.push_str(&format!(
            "{name:<6}  {}\n        {}\n",
            side.agent,
            spent(side)
        ));
    }
    for (name, value) in rows(pairs) {
        text.push_str(&format!("{name:<21}{value}\n"));
    }
    text
}

/// The same as Markdown.
#[must_use]
pub fn pairs_markdown(pairs: &BenchPairs) -> String {
    let mut text = format!(
        "## {} cases that both ran\n\n| | agent | |\n|---|---|---|\n",
        pairs.cases
    );
    for (name, side) in [("first", &pairs.first), ("second", &pairs.second)] {
        text.push_str(&format!(
            "| {name} | {} | {} |\n",
            cell(&side.agent),
            spent(side)
        ));
    }
    text.push_str("\n| | |\n|---|---|\n");
    for (name, value) in rows(pairs) {
        text.push_str(&format!("| {name} | {} |\n", cell(&value)));
    }
    text
}

fn spent(side: &PairedSide) -> String {
    format!(
        "repaired {}; {:.0} s, {} calls, {} tokens of packets",
        share(&side.repaired),
        side.seconds,
        side.agent_calls,
        side.packet_tokens
    )
}

fn rows(pairs: &BenchPairs) -> Vec<(&'static str, String)> {
    let named = |ids: &[String]| match ids {
        [] => "0".to_owned(),
        ids => format!("{}: {}", ids.len(), ids.join(", ")),
    };
    vec![
        ("repaired by both", pairs.both.to_string()),
        ("by neither", pairs.neither.to_string()),
        ("by the first alone", named(&pairs.only_first)),
        ("by the second alone", named(&pairs.only_second)),
        ("not run by both", named(&pairs.unpaired)),
        ("p (McNemar, exact)", format!("{:.4}", pairs.p)),
    ]
}
