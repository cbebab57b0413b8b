use super::context_text::thousands;
use super::markup::{backticks, fenced};
use super::visible::harmless;
use crate::model::{CiReport, CiSuggestion, RunFailure};

/// A comment for a merge request. Its first line is a mark, by which the next one replaces it.
#[must_use]
pub fn ci_markdown(report: &CiReport) -> String {
    let mut text = format!("{MARK}\n");
    let patch = report.patch.as_deref();
    let message = match (report.failures.is_empty(), patch, report.verified) {
        (true, ..) => "### mendit: nothing failed\n",
        (_, Some(_), Some(true)) => "### mendit: there is a patch, and the tests pass with it\n",
        (_, Some(_), Some(false)) => "### mendit: there is a patch, and the tests still fail\n",
        (_, Some(_), None) => "### mendit: there is a patch, not tried\n",
        (_, None, _) if report.passes_here => {
            "### mendit: what failed in CI; the tests pass where they were run again\n"
        }
        (_, None, _) => "### mendit: what failed\n",
    };
    text.push_str(message);
    for row in &report.failures {
        let summary = &row.summary;
        let jobs: Vec<String> = row.jobs.iter().map(|it| code(it)).collect();
        text.push_str(&format!(
            "\n**{}** in {}: {}\n\n{}\n\n",
            summary.kind,
            jobs.join(", "),
            row.cause.words(),
            harmless(&summary.explanation)
        ));
        for (failure, tests, alike) in grouped(&summary.failures) {
            let place = match (&failure.path, failure.line) {
                (Some(path), Some(line)) => format!(" at {}", code(&format!("{path}:{line}"))),
                (Some(path), None) => format!(" at {}", code(path)),
                _ => String::new(),
            };
            let named: Vec<String> = tests.iter().take(MOST_TESTS).map(|it| code(it)).collect();
            let rest = match tests.len().saturating_sub(MOST_TESTS) as u64 + alike {
                0 => String::new(),
                rest => format!(" and {rest} more"),
            };
            let tests = match named.as_slice() {
                [] => String::new(),
                named => format!("{}{rest}: ", named.join(", ")),
            };
            text.push_str(&format!("- {tests}{}{place}\n", code(&failure.error)));
        }
        if summary.more > 0 {
            text.push_str(&format!("- and {} more\n", summary.more));
        }
        for certain in &summary.certain {
            text.push_str(&format!("- certain: {}\n", code(&certain.statement)));
        }
    }
    if report.verified == Some(true) && !report.left.is_empty() {
        let left: Vec<String> = report.left.iter().map(|it| code(it)).collect();
        text.push_str(&format!("\nNot shown to be mended: {}\n", left.join(", ")));
    }
    text.push_str(&took(report));
    if let Some(patch) = patch {
        let lines: String = patch.lines().map(|it| harmless(it) + "\n").collect();
        text.push_str(&format!("\n{}", fenced(&lines, "diff")));
    }
    text
}

fn took(report: &CiReport) -> String {
    let mut parts = vec![match report.attempts {
        0 => return String::new(),
        1 => "1 attempt".to_owned(),
        many => format!("{many} attempts"),
    }];
    if let Some(usage) = report.usage {
        let tokens = usage.input_tokens + usage.output_tokens;
        parts.push(format!("{} tokens", thousands(tokens)));
        parts.extend(usage.cost_usd.map(|it| format!("{it:.2} USD")));
    }
    format!("\n{}\n", parts.join(", "))
}

/// The review that GitHub's API takes: a suggestion for each change, which holds where the request's
/// own diff has the line.
#[must_use]
pub fn ci_review(suggestions: &[CiSuggestion], verified: Option<bool>) -> serde_json::Value {
    let tried = match verified {
        Some(true) => "The tests pass with all of these together.",
        Some(false) => "The tests still fail with these.",
        None => "These were not tried.",
    };
    let comments = suggestions.iter().map(|shown| {
        let mut text = shown.replacement.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        let mut comment = serde_json::json!({
            "path": shown.path,
            "line": shown.line,
            "side": "RIGHT",
            "body": fenced(&text, "suggestion"),
        });
        if shown.start_line < shown.line {
            comment["start_line"] = shown.start_line.into();
            comment["start_side"] = "RIGHT".into();
        }
        comment
    });
    serde_json::json!({
        "event": "COMMENT",
        "body": format!("{MARK}\n{tried}"),
        "comments": comments.collect::<Vec<_>>(),
    })
}

// What several tests died of in one place, once, with the tests and how many more there are.
fn grouped(failures: &[RunFailure]) -> Vec<(&RunFailure, Vec<&str>, u64)> {
    let mut rows: Vec<(&RunFailure, Vec<&str>, u64)> = Vec::new();
    for failure in failures {
        let same = |other: &RunFailure| {
            (&other.error, &other.path, other.line) == (&failure.error, &failure.path, failure.line)
        };
        let test = Some(failure.test.as_str()).filter(|it| !it.is_empty());
        match rows.iter_mut().find(|(first, ..)| same(first)) {
            Some((_, tests, alike)) => {
                tests.extend(test);
                *alike += failure.alike;
            }
            None => rows.push((failure, test.into_iter().collect(), failure.alike)),
        }
    }
    rows
}

const MOST_TESTS: usize = 3;

// Nothing in the text ends it.
fn code(text: &str) -> String {
    let text = harmless(text).replace(['\n', '\r'], " ");
    let fence = "`".repeat(backticks(&text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{blank}{text}{blank}{fence}")
}

const MARK: &str = "<!-- mendit: fix-ci -->";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CiCause, CiFailure, RunSummary, SCHEMA_VERSION};

    fn report(summary: RunSummary) -> CiReport {
        CiReport {
            schema_version: SCHEMA_VERSION,
            document: "ci-report",
            failures: vec![CiFailure {
                jobs: vec!["unit".to_owned()],
                cause: CiCause::Regression,
                summary,
            }],
            passed: Vec::new(),
            patch: None,
            suggestions: Vec::new(),
            left: Vec::new(),
            verified: None,
            passes_here: false,
            attempts: 0,
            usage: None,
        }
    }

    #[test]
    fn one_cause_of_many_tests_is_told_once() {
        let failure = |test: usize| RunFailure {
            test: format!("t{test}"),
            error: "NameError: x".to_owned(),
            path: Some("a.py".to_owned()),
            line: Some(if test == 2 { 9 } else { 3 }),
            alike: u64::from(test == 6),
            ..RunFailure::default()
        };
        let summary = RunSummary {
            failures: (1..=6).map(failure).collect(),
            ..RunSummary::default()
        };
        let text = ci_markdown(&report(summary));
        for line in [
            "- `t1`, `t3`, `t4` and 3 more: `NameError: x` at `a.py:3`",
            "- `t2`: `NameError: x` at `a.py:9`",
        ] {
            assert!(text.lines().any(|it| it == line), "{text}");
        }
        assert_eq!(text.matches("NameError").count(), 2, "{text}");
    }

    #[test]
    fn nothing_in_a_log_ends_its_frame() {
        let summary = RunSummary {
            failures: vec![RunFailure {
                test: "a`b".to_owned(),
                error: "x ``` </details> @all".to_owned(),
                ..RunFailure::default()
            }],
            ..RunSummary::default()
        };
        let text = ci_markdown(&CiReport {
            patch: Some("+```\n".to_owned()),
            verified: Some(true),
            ..report(summary)
        });
        assert!(text.starts_with(MARK));
        assert!(
            text.contains("``a`b``: ````x ``` </details> @all````"),
            "{text}"
        );
        assert!(text.contains("\n````diff\n+```\n````\n"), "{text}");
    }
}
