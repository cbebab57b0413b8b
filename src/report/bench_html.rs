use super::bench_markdown::said;
use super::bench_text::{HEADER, cells, groups, repair_rows, result_word, share};
use super::markup::{escaped, page};
use crate::model::BenchDocument;

/// A bench as a page of its own: no script, nothing loaded from elsewhere, the ladder drawn.
#[must_use]
pub fn bench_html(bench: &BenchDocument) -> String {
    let mut text = format!(
        "<h1>Pass rate: {}</h1>\n<p>Agent <code>{}</code>, levels 0 to {}. It measures {}.</p>\n",
        escaped(&share(&bench.totals)),
        escaped(&bench.agent),
        bench.max_level,
        escaped(&bench.measures)
    );
    text.push_str("<table>\n");
    for (name, value) in repair_rows(bench) {
        text.push_str(&format!("<tr><td>{name}<td>{}</tr>\n", escaped(&value)));
    }
    text.push_str("</table>\n");
    text.push_str(&ladder(bench));
    if let Some(comparison) = &bench.comparison {
        text.push_str("<h2>Against the baseline</h2>\n<dl>\n");
        for (name, ids) in [
            ("regressed", &comparison.regressed),
            ("gained", &comparison.gained),
            ("added", &comparison.added),
            ("missing", &comparison.missing),
        ] {
            text.push_str(&format!(
                "<dt>{name}</dt><dd>{}</dd>\n",
                escaped(&if ids.is_empty() {
                    "none".to_owned()
                } else {
                    ids.join(", ")
                })
            ));
        }
        text.push_str("</dl>\n");
    }
    text.push_str(&format!(
        "<h2>Fixtures</h2>\n<table>\n<thead><tr><th>{}<th>why</tr></thead>\n<tbody>\n",
        HEADER.join("<th>")
    ));
    for outcome in &bench.fixtures {
        text.push_str(&format!(
            "<tr class=\"{}\"><td title=\"{}\">{}<td>{}</tr>\n",
            result_word(outcome.result),
            escaped(&outcome.title),
            cells(outcome).map(|it| escaped(&it)).join("<td>"),
            escaped(&said(outcome))
        ));
    }
    text.push_str("</tbody>\n</table>\n");
    for (name, rows) in groups(bench) {
        text.push_str(&format!("<h2>By {name}</h2>\n<table>\n"));
        for row in rows {
            text.push_str(&format!(
                "<tr><td>{}<td>{}</tr>\n",
                escaped(&row.name),
                escaped(&share(&row.tally))
            ));
        }
        text.push_str("</table>\n");
    }
    text.push_str(&format!(
        "<p>Wrong heals: {}. Fixtures with leaks: {}.</p>\n",
        bench.wrong_heals, bench.leaks
    ));
    page("mendit bench", &text)
}

// A bar a rung: how many are fixed with it or a lower one.
fn ladder(bench: &BenchDocument) -> String {
    const WIDTH: u64 = 480;
    let mut text = String::from("<h2>The ladder</h2>\n");
    let height = bench.ladder.len() * 30;
    text.push_str(&format!(
        "<figure><svg role=\"img\" aria-label=\"Fixtures fixed by each level\" width=\"760\" \
         height=\"{height}\" viewBox=\"0 0 760 {height}\">\n"
    ));
    for (at, rung) in bench.ladder.iter().enumerate() {
        let top = at * 30;
        let share = |count: u64| (count * WIDTH).checked_div(rung.of).unwrap_or(0);
        let (before, here) = (
            share(rung.fixed_so_far.saturating_sub(rung.fixed)),
            share(rung.fixed),
        );
        text.push_str(&format!(
            "<text x=\"0\" y=\"{y}\">level {level}</text>\
             <rect x=\"60\" y=\"{top}\" width=\"{WIDTH}\" height=\"22\" class=\"rest\"/>\
             <rect x=\"60\" y=\"{top}\" width=\"{before}\" height=\"22\" class=\"bar\"/>\
             <rect x=\"{start}\" y=\"{top}\" width=\"{here}\" height=\"22\" class=\"strong\"/>\
             <text x=\"550\" y=\"{y}\">{so_far} of {of}, {bytes} bytes</text>\n",
            y = top + 16,
            level = rung.level,
            start = 60 + before,
            so_far = rung.fixed_so_far,
            of = rung.of,
            bytes = rung.mean_packet_bytes,
        ));
    }
    text.push_str("</svg></figure>\n");
    text
}
