//! Formats the summary of a failed command.

use super::page::paint_lines;
use super::why::failed_before;
use crate::model::{FailureKind, RunFailure, RunSummary, WhyDocument, WhyReason, WhyVerdict};

/// Groups of failures on the first screen.
const MAX_GROUPS: usize = 3;

/// Summarizes a failed command for a terminal: its first failures with their places, and candidate fixes.
pub fn run_summary(summary: &RunSummary, color: bool) -> String {
    let mut lines = failures(summary, true);
    lines.extend(list_proposals(summary, false));
    paint_lines(&lines, color)
}

/// Formats the culprit, or the uncommitted changes that may be it, and what to type next.
pub fn run_culprit(
    summary: &RunSummary,
    found: Option<&WhyDocument>,
    steps: &[String],
    color: bool,
) -> String {
    let mut lines = Vec::new();
    let searched = found.filter(|found| found.reason != Some(WhyReason::NoBase));
    match (&summary.cause, searched) {
        (Some(_), _) => {
            lines.extend(culprit(summary));
            let before = found.and_then(|found| failed_before(&found.failed_before));
            lines.extend(before.map(|before| format!("    {before}")));
        }
        (None, Some(found)) => {
            lines.push(format!("  ~ {}", found.message));
            let names_some = found.suspects.iter().any(|one| one.why.contains("passed once"));
            if found.verdict != WhyVerdict::NotByThisChange && !names_some {
                lines.extend(culprit(summary));
            }
        }
        (None, None) => lines.extend(culprit(summary)),
    }
    for (at, step) in steps.iter().enumerate() {
        let name = if at == 0 { "next:" } else { "" };
        lines.push(format!("{name:<5} {step}"));
    }
    paint_lines(&lines, color)
}

/// Summarizes a failed command in full: the culprit first, all failures, candidate fixes.
///
/// `has_shell` adds the commands to type.
pub fn kept_summary(summary: &RunSummary, has_shell: bool, color: bool) -> String {
    let mut lines: Vec<String> = culprit(summary).into_iter().collect();
    lines.extend(failures(summary, false));
    lines.extend(list_proposals(summary, has_shell));
    paint_lines(&lines, color)
}

// The change that made it fail, else those that may have.
fn culprit(summary: &RunSummary) -> Option<String> {
    if let Some(cause) = &summary.cause {
        return Some(format!("  ✗ culprit: {}", cause.message));
    }
    let count = summary.suspects.len() as u64 + summary.more_suspects;
    match summary.suspects.as_slice() {
        [] => None,
        few if count <= 3 => Some(format!("  ~ uncommitted changes: {}", few.join(", "))),
        [first, ..] => Some(format!(
            "  ~ {count} uncommitted changes, most likely {first}"
        )),
    }
}

// The failures, grouped by error: tests, error, place.
fn failures(summary: &RunSummary, is_first_screen: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let is_unread = summary.kind == FailureKind::Unknown && !summary.failures.iter().any(is_named);
    if is_unread && !summary.failures.is_empty() {
        lines.push("    the log's last lines:".to_owned());
        let last = summary.failures.iter();
        lines.extend(last.map(|last| format!("      {}", strip_drawing(&last.error))));
        return lines;
    }
    let mut more = summary.more;
    for (at, group) in summary.failures.chunk_by(has_same_error).enumerate() {
        // Nine lines leave room for the rest of the first screen.
        if is_first_screen && (at >= MAX_GROUPS || lines.len() >= 9) {
            more += group.len() as u64;
            continue;
        }
        add_group(&mut lines, group);
    }
    if more > 0 {
        lines.push(format!("    and {more} more"));
    }
    lines
}

fn has_same_error(a: &RunFailure, b: &RunFailure) -> bool {
    let is_error = is_named(a) && is_named(b) && !a.error.is_empty();
    is_error && (&a.error, &a.path, a.line) == (&b.error, &b.path, b.line)
}

// A log that no rule knows is shown, and not as a failure.
fn is_named(failure: &RunFailure) -> bool {
    !failure.test.is_empty()
}

fn add_group(lines: &mut Vec<String>, group: &[RunFailure]) {
    let Some(failure) = group.first() else { return };
    if failure.test.is_empty() {
        lines.push(format!("  ✗ {}", strip_drawing(&failure.error)));
    } else {
        lines.extend(group.iter().map(|failure| format!("  ✗ {}", failure.test)));
        let error = shorten(&failure.error);
        lines.extend((!error.is_empty()).then(|| format!("      {error}")));
    }
    lines.extend(failure_place(failure, group.len() == 1).map(|place| format!("      {place}")));
}

// Where it was raised, and from which line of the test. A compiler's line begins with its place.
fn failure_place(failure: &RunFailure, with_test: bool) -> Option<String> {
    let path = failure.path.as_ref()?;
    if failure.error.starts_with(path.as_str()) {
        return None;
    }
    let raised = place_text(path, failure.line);
    Some(match failure.test_path.as_ref().filter(|_| with_test) {
        Some(test) => format!("{raised}, from {}", place_text(test, failure.test_line)),
        None => raised,
    })
}

fn place_text(path: &str, line: Option<u32>) -> String {
    match line {
        Some(line) => format!("{path}:{line}"),
        None => path.to_owned(),
    }
}

// Candidate fixes and environment problems, with the command to type.
fn list_proposals(summary: &RunSummary, has_shell: bool) -> Vec<String> {
    let typed = |command: &str| {
        if has_shell { format!("  ({command})") } else { String::new() }
    };
    let mut lines = Vec::new();
    for (imports, word, otherwise) in [
        (&summary.certain, "✓ certain", "mendit hint --apply"),
        (&summary.perhaps, "? perhaps", "mendit hint"),
    ] {
        for import in imports {
            let command = typed(if import.tried { "mendit fix" } else { otherwise });
            lines.push(format!("  {word}: {}{command}", import.statement));
        }
    }
    for fix in &summary.mends {
        lines.push(format!("  ? perhaps: {fix}{}", typed("mendit fix")));
    }
    for remedy in &summary.remedies {
        let command = remedy.command.iter();
        let command: String = command.map(|command| format!("  ({command})")).collect();
        lines.push(format!("  ! {}{command}", remedy.problem));
    }
    lines
}

// A tool's own line without the rules and columns that it draws.
fn strip_drawing(text: &str) -> String {
    let text = text.trim_matches(['=', '━', '─', '⎯', '═', ' ']);
    let columns = text.split("   ").map(str::trim).filter(|column| !column.is_empty());
    shorten(&columns.collect::<Vec<_>>().join("  "))
}

fn shorten(text: &str) -> String {
    // Longer errors are cut.
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ListedImport, Remedy};

    fn import(statement: &str, tried: bool) -> ListedImport {
        ListedImport {
            statement: statement.to_owned(),
            tried,
            ..ListedImport::default()
        }
    }

    fn summary() -> RunSummary {
        RunSummary {
            failures: vec![RunFailure {
                test: "tests/test_x.py::test_a".to_owned(),
                error: "NameError: name 'Help' is not defined".to_owned(),
                path: Some("src/core.py".to_owned()),
                line: Some(309),
                ..RunFailure::default()
            }],
            more: 2,
            certain: vec![import("from .formatting import Help", true)],
            kind: FailureKind::ImportError,
            ..RunSummary::default()
        }
    }

    #[test]
    fn kept_summary_names_commands_of_proposals() {
        let mut summary = summary();
        summary.perhaps = vec![import("import a", true), import("import b", false)];
        summary.mends = vec!["`slice` for `slise` in a.ts".to_owned()];
        let problem = "`yaml` is neither installed nor declared";
        summary.remedies = vec![Remedy::new(problem, Some("uv add yaml".to_owned()))];
        let text = kept_summary(&summary, true, false);
        for line in [
            "  ✓ certain: from .formatting import Help  (mendit fix)",
            "  ? perhaps: import a  (mendit fix)",
            "  ? perhaps: import b  (mendit hint)",
            "  ? perhaps: `slice` for `slise` in a.ts  (mendit fix)",
            "  ! `yaml` is neither installed nor declared  (uv add yaml)",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
        }
        assert!(!kept_summary(&summary, false, false).contains("mendit"));
    }

    #[test]
    fn run_summary_shows_one_cause_of_many_tests_once() {
        let mut summary = summary();
        let mut other = summary.failures[0].clone();
        other.test = "tests/test_x.py::test_b".to_owned();
        other.test_path = Some("tests/test_x.py".to_owned());
        other.test_line = Some(4);
        summary.failures.push(other.clone());
        other.line = Some(7);
        summary.failures.push(other);
        assert_eq!(
            run_summary(&summary, false),
            "  ✗ tests/test_x.py::test_a\n  ✗ tests/test_x.py::test_b\n      NameError: name 'Help' is not defined\n      src/core.py:309\n  \
             ✗ tests/test_x.py::test_b\n      NameError: name 'Help' is not defined\n      \
             src/core.py:7, from tests/test_x.py:4\n    and 2 more\n  \
             ✓ certain: from .formatting import Help\n"
        );
        let colored = run_summary(&summary, true).replace("\x1b[1;31m", "");
        let plain = colored.replace("\x1b[1;32m", "").replace("\x1b[0m", "");
        assert_eq!(plain, run_summary(&summary, false));
    }

    #[test]
    fn run_summary_shows_unknown_lines_without_mark() {
        let row = |error: &str| RunFailure {
            error: error.to_owned(),
            ..RunFailure::default()
        };
        let rows = [
            "src/a.ts:4:1 lint/x   FIXABLE  ━━━━",
            "==== 3 deselected ====",
        ];
        let mut summary = RunSummary {
            failures: rows.map(row).to_vec(),
            ..RunSummary::default()
        };
        let lines =
            "    the log's last lines:\n      src/a.ts:4:1 lint/x  FIXABLE\n      3 deselected\n";
        assert_eq!(run_summary(&summary, false), lines);
        summary.kind = FailureKind::LintError;
        summary.failures[0].path = Some("src/a.ts".to_owned());
        let lines = "  ✗ src/a.ts:4:1 lint/x  FIXABLE\n  ✗ 3 deselected\n";
        assert_eq!(run_summary(&summary, false), lines);
    }
}
