//! What a store or a copy put around every line of a log is taken off, each line under its number.

use super::providers::PROVIDERS;

// Lines that show what a log is wrapped in.
const SAMPLE: usize = 400;
// Fewer lines show nothing.
const FEWEST: usize = 3;

const BARS: [char; 2] = ['│', '┃'];
// Shapes that may stand in one another.
const DEEPEST: usize = 3;

/// The same log without what every line is wrapped in; none where nothing is. Lines stay lines.
pub(super) fn opened(log: &str) -> Option<String> {
    let mut found = headed(log);
    for _ in 1..DEEPEST {
        found = found.as_deref().and_then(headed).or(found);
    }
    found
}

// Whether nine of ten lines are like that.
fn most(text: &str, mut is_so: impl FnMut(&str) -> bool) -> bool {
    let (mut all, mut those) = (0, 0);
    let filled = text.split('\n').filter(|line| !line.trim().is_empty());
    for line in filled.take(SAMPLE) {
        all += 1;
        those += usize::from(is_so(line));
    }
    all >= FEWEST && those * 10 >= all * 9
}

fn headed(text: &str) -> Option<String> {
    let is_row = |line: &str| {
        let text = line.trim();
        text.ends_with(BARS) && !text.trim_matches(BARS).is_empty()
    };
    let head = PROVIDERS
        .head
        .iter()
        .map(|row| row.line.get())
        .find(|head| {
            let mut last: Option<u64> = None;
            most(text, |line| {
                let found = head.captures(line);
                let number = found.as_ref().and_then(|it| it.name("number"));
                let number = number.and_then(|it| it.as_str().parse().ok());
                // Numbers of places in a file are not those of lines one after the other.
                let follows = number.is_none_or(|number| {
                    last.replace(number)
                        .is_none_or(|last| last.saturating_add(1) == number)
                });
                // What ends with a bar too is a row of a table.
                found.is_some() && follows && !is_row(line)
            })
        })?;
    let bare = |line: &str| {
        let end = head.find(line).map_or(0, |found| found.end());
        line.get(end..).unwrap_or(line).to_owned()
    };
    let lines: Vec<String> = text.split('\n').map(bare).collect();
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::opened;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::model::FailureKind;

    const LOG: &str = "============ FAILURES ============\n____ test_a ____\n\n    def test_a():\n>       \
                       f()\n\ntests/test_a.py:4:\n_ _ _ _\n    f()\nE   NameError: name 'x' is not \
                       defined\n\nsrc/a.py:9: NameError\n== short test summary info ==\nFAILED \
                       tests/test_a.py::test_a - NameError: name 'x' is not defined\n";

    #[test]
    fn what_stands_around_every_line_is_taken_off() {
        let each = |f: &dyn Fn(usize, &str) -> String| {
            let rows: Vec<String> = LOG.lines().enumerate().map(|(at, it)| f(at, it)).collect();
            rows.join("\n")
        };
        for (name, log) in [
            (
                "CRI",
                each(&|at, it| format!("2026-11-22T10:00:{at:02}.5Z stdout F {it}")),
            ),
            (
                "syslog",
                each(&|at, it| format!("Nov 22 10:00:{at:02} host1 ci[471]: {it}")),
            ),
            (
                "journal",
                each(&|at, it| format!("2026-11-22T10:00:{at:02}+01:00 host1 ci[471]: {it}")),
            ),
            ("step", each(&|at, it| format!("[unit:{at}] {it}"))),
            ("quoted", each(&|_, it| format!("> {it}"))),
        ] {
            let found = diagnose(&log, &LogFacts::default(), None);
            assert_eq!(found.kind, FailureKind::ImportError, "{name}");
            assert_eq!(found.undefined_names, ["x"], "{name}");
            assert_eq!(found.failing_tests, ["tests/test_a.py::test_a"], "{name}");
            assert_eq!(found.evidence[0].line, 10, "{name}");
            assert_eq!(
                found.tests[0].crash_path.as_deref(),
                Some("src/a.py"),
                "{name}"
            );
        }
    }

    #[test]
    fn a_log_as_it_was_written_stays_so() {
        for log in [
            LOG,
            "> test\n> jest\n\nFAIL a.test.js\n",
            "{\"level\":30,\"msg\":\"up\"}\nTypeError: x is not a function\n    at a.js:1:2\n",
            "[gw0] [ 50%] PASSED a.py::b\n[gw1] [100%] FAILED a.py::c\n[gw0] done\n",
            "12 | const a = b;\n13 | f(a);\n   |   ^ Cannot find name 'a'.\n14 | g();\n",
            "3:15 error 'a' is not defined\n4:2 error 'b' is not defined\n9:1 error c\n",
            "| name | tests |\n|---|---|\n| a.py | 3 |\n| b.py | 1 |\n",
            "│ name │ tests │\n│ a.py │ 3     │\n│ b.py │ 1     │\n",
            "[INFO] a\n[INFO] b\n[ERROR] c\n[INFO] d\n",
        ] {
            assert_eq!(opened(log), None, "{log}");
        }
    }
}
