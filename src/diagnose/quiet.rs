//! Marks lines that show no failure, such as passed tests and warnings. Rules skip them, because a test
//! may print any error text.

use std::sync::LazyLock;

use serde::Deserialize;

use super::line::{Line, Mark, lines_above, lines_below};
use crate::runners::{Cues, Pattern};

/// Marks the lines that are not about a failure: passed, skipped and expected tests, sections of warnings,
/// times and coverage, echoed scripts, console output of the program under test.
pub(super) fn mark_quiet(lines: &mut [Line<'_>]) {
    let mut section: Option<&Section> = None;
    // The script of a step and its environment, until the group ends.
    let mut script = false;
    for line in lines.iter_mut() {
        let text = line.text.as_ref();
        match &line.mark {
            Mark::Open(name) if name.starts_with("Run ") => (script, section) = (true, None),
            Mark::Close(_) => script = false,
            _ => {}
        }
        if !script {
            let begun = SECTIONS.rows(text).map(|row| &TABLE.section[row]);
            let mut begun = begun.filter(|section| section.opens.finds(text));
            let open = section.filter(|section| !section.closes.finds(text));
            section = begun.next().or(open);
        }
        line.quiet = script
            || section.is_some()
            || matches!(line.mark, Mark::Command | Mark::Remark)
            || is_of_no_failure(text);
    }
    for at in 0..lines.len() {
        let text = lines[at].text.as_ref();
        if text.starts_with(' ') && text.trim_start().starts_with("- ") {
            // Mocha lists a test that is yet to be written with a dash, among those that passed or above the counts.
            let is_pending = lines_above(lines, at, 3)
                .chain(lines_below(lines, at, 12))
                .any(|text| text.contains(['✓', '✔', '√']) || text.contains(" pending"));
            lines[at].quiet |= is_pending;
        }
    }
}

// A stretch of lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    cue: String,
    opens: Pattern,
    closes: Pattern,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    cues: Vec<String>,
    line: Pattern,
}

#[derive(Deserialize)]
struct Table {
    section: Vec<Section>,
    line: Vec<Row>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "embedded and tested")]
    crate::model::read_table(embedded!("diagnose/quiet.toml")).expect("quiet.toml parses")
});

// Words that are in the lines of each row.
static SECTIONS: LazyLock<Cues> =
    LazyLock::new(|| TABLE.section.iter().map(|row| row.cue.as_str()).zip(0..).collect());
static LINES: LazyLock<Cues> =
    LazyLock::new(|| Cues::of_rows(TABLE.line.iter().map(|row| &row.cues)));

fn is_of_no_failure(text: &str) -> bool {
    let mut rows = LINES.rows(text);
    rows.any(|row| TABLE.line[row].line.finds(text)) && !text.contains("UnhandledPromiseRejection")
}

#[cfg(test)]
mod tests {
    use crate::diagnose::normalise::lines;

    #[test]
    fn lines_without_failure_are_quiet() {
        for (text, quiet) in [
            (
                "  ✓ should display error on Invalid JSON-RPC response",
                true,
            ),
            ("tests/a.py::test_x[command not found] PASSED [ 3%]", true),
            ("test_x (a.B) ... skipped 'PYMONGO is not set'", true),
            ("ok 3 - handles ENOSPC", true),
            ("npm warn deprecated x", true),
            ("+ cat missing.txt", true),
            ("--- PASS: TestX (0.01s)", true),
            ("E   AssertionError: assert 'ok'", false),
            ("not ok 3 - handles it", false),
            ("  1) should skip", false),
            ("cat: ok: No such file or directory", false),
        ] {
            assert_eq!(lines(text)[0].quiet, quiet, "{text}");
        }
    }

    #[test]
    fn script_is_quiet_to_end_of_group() {
        let log = "##[group]Run x\n  echo 'ERROR: no'\n##[endgroup]\nERROR: yes";
        let quiet = |log| lines(log).iter().map(|line| line.quiet).collect::<Vec<bool>>();
        assert_eq!(quiet(log), [true, true, false, false]);
        let log = " EXPECTED FAILURES \n\n  1) a\n     Error: x\n  2 passing\nError: y";
        assert_eq!(quiet(log), [true, true, true, true, false, false]);
        let log = "Error: Uncaught [TypeError: x]\n    at f (a.js:1:1)\n    TypeError: y";
        assert_eq!(quiet(log), [true, true, false]);
    }
}
