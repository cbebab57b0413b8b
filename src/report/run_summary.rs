use super::why_text::failed_before;
use crate::model::{FailureKind, RunFailure, RunSummary, WhyDocument, WhyReason, WhyVerdict};

/// Summarizes a failed command for a terminal `width` columns wide: its first failures with their places, and
/// certain fixes. The culprit and the next steps follow in [`run_culprit`].
#[must_use]
pub fn run_summary(summary: &RunSummary, color: bool, width: usize) -> String {
    let mut rows = failures(summary, SHOWN);
    rows.extend(proposals(summary, false));
    inked(laid_out(rows, width), color)
}

/// The culprit, or the uncommitted changes that may be it, and what to type next.
#[must_use]
pub fn run_culprit(
    summary: &RunSummary,
    found: Option<&WhyDocument>,
    steps: &[String],
    color: bool,
) -> String {
    let mut text = String::new();
    if let Some(cause) = &summary.cause {
        text.push_str(&format!("  ✗ culprit: {}\n", cause.message));
        let before = found.map_or(0, |found| found.failed_before.len());
        if before > 0 {
            text.push_str(&format!("    {}\n", failed_before(before)));
        }
    } else {
        if let Some(found) = found.filter(|it| it.reason != Some(WhyReason::NoBase)) {
            text.push_str(&format!("  ~ {}\n", found.message));
        }
        let is_denied = found.is_some_and(|it| it.verdict == WhyVerdict::NotByThisChange);
        if let Some(changed) = changed(summary).filter(|_| !is_denied) {
            text.push_str(&format!("  ~ {changed}\n"));
        }
    }
    for (at, step) in steps.iter().enumerate() {
        let name = if at == 0 { "next:" } else { "" };
        text.push_str(&format!("{name:<5} {step}\n"));
    }
    inked(text, color)
}

/// The same for a program that has no shell: without commands to type and the size of the packet.
#[must_use]
pub fn run_failures(summary: &RunSummary) -> String {
    rows_of(summary, 100, false)
}

/// A kept run, as `mendit report` prints it.
#[must_use]
pub fn kept_summary(summary: &RunSummary, color: bool, width: usize) -> String {
    inked(rows_of(summary, width.clamp(40, 160), true), color)
}

fn rows_of(summary: &RunSummary, width: usize, shell: bool) -> String {
    let mut rows = failures(summary, usize::MAX);
    rows.extend(proposals(summary, shell));
    rows.extend(cause(summary, shell));
    laid_out(rows, width)
}

fn laid_out(rows: Vec<Row<'_>>, width: usize) -> String {
    rows.into_iter()
        .map(|(left, right)| line(&left, right, width))
        .collect()
}

// The change that made it fail, else those that may have.
fn cause(summary: &RunSummary, shell: bool) -> Option<Row<'_>> {
    let typed = if shell { "mendit why" } else { "" };
    match &summary.cause {
        Some(cause) => Some((format!("  ✗ culprit: {}", cause.message), "")),
        None => changed(summary).map(|changed| (format!("  ~ {changed}"), typed)),
    }
}

/// Failures that the first screen lists.
const SHOWN: usize = 3;

// What is said, and behind it or below it what is typed.
fn line(left: &str, right: &str, width: usize) -> String {
    let start = COLUMN.max(left.chars().count() + 2);
    let fits = start + right.chars().count() <= width;
    let gap = match right {
        "" => String::new(),
        _ if fits => " ".repeat(start - left.chars().count()),
        _ => "\n      ".to_owned(),
    };
    format!("{left}{gap}{right}\n")
}

type Row<'a> = (String, &'a str);

fn failures(summary: &RunSummary, most: usize) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut say = |text: String| rows.push((text, ""));
    let same = |a: &RunFailure, b: &RunFailure| {
        let test = !a.test.is_empty() && !b.test.is_empty();
        test && !a.error.is_empty() && (&a.error, &a.path, a.line) == (&b.error, &b.path, b.line)
    };
    // What no rule knows is shown, and not as what failed.
    let unread = summary.kind == FailureKind::Unknown;
    let unread = unread && summary.failures.iter().all(|it| it.test.is_empty());
    let mut failures = summary.failures.as_slice();
    if unread && !failures.is_empty() {
        say("    the log's last lines:".to_owned());
        for last in failures {
            say(format!("      {}", undrawn(&last.error)));
        }
        failures = &[];
    }
    let all: Vec<&[RunFailure]> = failures.chunk_by(same).collect();
    let count =
        |group: &[RunFailure]| group.len() as u64 + group.last().map_or(0, |failure| failure.alike);
    let (shown, rest) = all.split_at(most.min(all.len()));
    for group in shown {
        let group = *group;
        let [failure, others @ ..] = group else {
            continue;
        };
        let alike = group.last().map_or(0, |it| it.alike);
        if others.is_empty() && alike == 0 {
            let (head, rest) = self::rows(failure);
            say(format!("  ✗ {head}"));
            for row in rest {
                say(format!("      {row}"));
            }
            continue;
        }
        say(format!("  ✗ {}", shortened(&failure.error)));
        if let Some(place) = place(failure, same_test_line(group)) {
            say(format!("      {place}"));
        }
        say(format!("      in {} tests:", group.len() as u64 + alike));
        for row in group.iter().take(most) {
            say(format!("        {}", row.test));
        }
        let unnamed = count(group) - group.len().min(most) as u64;
        if unnamed > 0 {
            say(format!("        and {unnamed} more"));
        }
    }
    let more = summary.more + rest.iter().map(|group| count(group)).sum::<u64>();
    if more > 0 {
        say(format!("    and {more} more"));
    }
    rows
}

// Candidate fixes and environment problems, each with the command to type.
fn proposals(summary: &RunSummary, shell: bool) -> Vec<Row<'_>> {
    let typed = |command| if shell { command } else { "" };
    // A person names the file by asking for it.
    let tried = |tried, otherwise| typed(if tried { "mendit fix" } else { otherwise });
    let mut rows = Vec::new();
    for hint in &summary.certain {
        let guess = format!("  ✓ certain: {}", hint.statement);
        rows.push((guess, tried(hint.tried, "mendit hint --apply")));
    }
    for hint in &summary.perhaps {
        let guess = format!("  ? perhaps: {}", hint.statement);
        rows.push((guess, tried(hint.tried, "mendit hint")));
    }
    for mend in &summary.mends {
        rows.push((format!("  ? perhaps: {mend}"), typed("mendit fix")));
    }
    for remedy in &summary.remedies {
        let command = remedy.command.as_deref().unwrap_or_default();
        rows.push((format!("  ! {}", remedy.problem), command));
    }
    rows
}

// The suspects, by their places if there are few.
fn changed(summary: &RunSummary) -> Option<String> {
    let count = summary.suspects.len() as u64 + summary.more_suspects;
    match summary.suspects.as_slice() {
        [] => None,
        few if count <= FEW => Some(format!("changed since the last commit: {}", few.join(", "))),
        [first, ..] => Some(format!(
            "{count} changes since the last commit, first {first}"
        )),
    }
}

/// Changes that are named one by one.
const FEW: u64 = 3;

fn same_test_line(group: &[RunFailure]) -> bool {
    let own = |it: &RunFailure| (it.test_path.clone(), it.test_line);
    group
        .first()
        .is_some_and(|first| group.iter().all(|it| own(it) == own(first)))
}

// Where it was raised, and from which line of the test.
fn place(failure: &RunFailure, with_test: bool) -> Option<String> {
    let at = |path: &String, line: Option<u32>| match line {
        Some(line) => format!("{path}:{line}"),
        None => path.clone(),
    };
    let raised = at(failure.path.as_ref()?, failure.line);
    let test = failure.test_path.as_ref().filter(|_| with_test);
    Some(match test {
        Some(test) => format!("{raised}, from {}", at(test, failure.test_line)),
        None => raised,
    })
}

// The test and below it what it died of with its place; without a test the error comes first.
fn rows(failure: &RunFailure) -> (String, Vec<String>) {
    // A compiler's line begins with its place.
    let leads = |path: &String| failure.error.starts_with(path.as_str());
    let place = match &failure.path {
        Some(path) if leads(path) => None,
        _ => place(failure, true),
    };
    if failure.test.is_empty() {
        return (undrawn(&failure.error), place.into_iter().collect());
    }
    let error = shortened(&failure.error);
    let rows = [Some(error).filter(|it| !it.is_empty()), place];
    (failure.test.clone(), rows.into_iter().flatten().collect())
}

// A tool's own line without the rules and columns that it draws.
fn undrawn(text: &str) -> String {
    let text = match text.strip_prefix("====") {
        Some(title) => title.trim_matches(['=', ' ']),
        None => text.trim_end_matches(['━', '─', '⎯', '═', ' ']),
    };
    let columns = text.split("   ").map(str::trim).filter(|it| !it.is_empty());
    shortened(&columns.collect::<Vec<_>>().join("  "))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

// Colours the marks at the start of lines; they mean the same without.
fn inked(text: String, color: bool) -> String {
    let marks = [
        ("  ✗", RED),
        ("  ✓", GREEN),
        ("  !", YELLOW),
        ("  ?", YELLOW),
    ];
    let ink = |line: &str| {
        let mut found = marks.iter().filter_map(|(mark, color)| {
            let rest = line.strip_prefix(mark)?;
            Some(format!("{color}{mark}\x1b[0m{rest}\n"))
        });
        found.next().unwrap_or_else(|| format!("{line}\n"))
    };
    if color {
        text.lines().map(ink).collect()
    } else {
        text
    }
}

// Where commands to type begin, when there is room.
const COLUMN: usize = 52;
const MOST: usize = 200;
const RED: &str = "\x1b[1;31m";
const GREEN: &str = "\x1b[1;32m";
const YELLOW: &str = "\x1b[1;33m";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CertainImport, Level, PacketSize, Remedy};

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
            certain: vec![CertainImport {
                name: "Help".to_owned(),
                statement: "from .formatting import Help".to_owned(),
                tried: true,
            }],
            packet: Some(PacketSize {
                level: Level::Targets,
                files: 6,
                bytes: 33_000,
                tokens: 9_400,
                prompt_tokens: 12_100,
            }),
            kind: FailureKind::ImportError,
            ..RunSummary::default()
        }
    }

    #[test]
    fn what_mendit_tries_itself_is_offered_before_an_agent() {
        let mut summary = summary();
        summary.certain.clear();
        for (name, tried) in [("a", true), ("b", false)] {
            summary.perhaps.push(CertainImport {
                name: name.to_owned(),
                statement: format!("import {name}"),
                tried,
            });
        }
        summary.mends = vec!["`slice` for `slise` in a.ts".to_owned()];
        let text = kept_summary(&summary, false, 80);
        for line in [
            "  ? perhaps: import a                               mendit fix",
            "  ? perhaps: import b                               mendit hint",
            "  ? perhaps: `slice` for `slise` in a.ts            mendit fix",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }

    #[test]
    fn one_cause_of_many_tests_is_shown_once() {
        let mut summary = summary();
        let mut other = summary.failures[0].clone();
        other.test = "tests/test_x.py::test_b".to_owned();
        other.test_path = Some("tests/test_x.py".to_owned());
        other.test_line = Some(4);
        summary.failures.push(other.clone());
        other.line = Some(7);
        summary.failures.push(other);
        let text = run_summary(&summary, false, 80);
        assert_eq!(text.matches("NameError").count(), 2, "{text}");
        for part in [
            "  ✗ NameError: name 'Help' is not defined\n      src/core.py:309\n      in 2 tests:\n        \
             tests/test_x.py::test_a\n        tests/test_x.py::test_b\n",
            "      src/core.py:7, from tests/test_x.py:4\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        summary.failures[1].alike = 12;
        let text = run_summary(&summary, false, 80);
        assert!(text.contains("in 14 tests:") && text.contains("test_b\n        and 12 more\n"));
    }

    #[test]
    fn what_no_rule_knows_is_not_called_a_failure() {
        let row = |error: &str| RunFailure {
            error: error.to_owned(),
            ..RunFailure::default()
        };
        let mut summary = RunSummary {
            failures: vec![
                row("src/a.ts:4:1 lint/x   FIXABLE  ━━━━"),
                row("==== 3 deselected ===="),
            ],
            ..RunSummary::default()
        };
        let text = run_summary(&summary, false, 80);
        assert!(!text.contains('✗'), "{text}");
        assert!(text.contains("    the log's last lines:\n      src/a.ts:4:1 lint/x  FIXABLE\n"));
        summary.kind = FailureKind::LintError;
        summary.failures[0].path = Some("src/a.ts".to_owned());
        let text = run_summary(&summary, false, 80);
        assert!(
            text.starts_with("  ✗ src/a.ts:4:1 lint/x  FIXABLE\n  ✗ 3 deselected\n"),
            "{text}"
        );
    }

    #[test]
    fn it_says_what_failed_and_what_to_type() {
        let text = run_summary(&summary(), false, 80);
        for line in [
            "  ✗ tests/test_x.py::test_a",
            "      NameError: name 'Help' is not defined",
            "      src/core.py:309",
            "    and 2 more",
            "  ✓ certain: from .formatting import Help",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_another_line_and_colour_changes_no_word() {
        let narrow = run_summary(&summary(), false, 44);
        assert!(
            narrow.contains("  ✓ certain: from .formatting import Help\n"),
            "{narrow}"
        );
        let coloured = run_summary(&summary(), true, 80);
        let plain = coloured
            .replace(RED, "")
            .replace(GREEN, "")
            .replace("\x1b[0m", "");
        assert_eq!(plain, run_summary(&summary(), false, 80));
        let failures = run_failures(&summary());
        assert!(
            failures.contains("✓ certain") && !failures.contains("mendit"),
            "{failures}"
        );
    }

    #[test]
    fn the_environment_is_mended_by_a_command() {
        let text = run_summary(
            &RunSummary {
                remedies: vec![Remedy::new(
                    "`yaml` is not installed, and no manifest names it",
                    Some("uv add yaml".to_owned()),
                )],
                requires_user_action: true,
                ..RunSummary::default()
            },
            false,
            100,
        );
        assert!(text.contains("no manifest names it  ") && text.contains("uv add yaml"));
    }
}
