//! What a store or a copy put around every line of a log is taken off, each line under its number.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::runners::{compile, pattern};

// Lines that show what a log is wrapped in.
const SAMPLE: usize = 400;
// Fewer lines show nothing.
const FEWEST: usize = 3;

const BARS: [char; 2] = ['│', '┃'];

const CLOCK: &str = concat!(
    r"^(?:\d{9,10}\.\d+|\d+\.\d{3}",
    r"|\(?(?:\d{4}/\d\d/\d\d |(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]?\d )?\d{1,2}:\d\d:\d\d",
    r"(?:[.,]\d+)?(?: [AP]M)?(?: (?:UTC|GMT|[A-Z]{1,3}[SD]T))?(?: \d{4})?\)?:?)",
);

// What nearly all lines begin with: the system's log, a step with the line's number, a quotation, what
// an escape leaves in a copy, a frame, the line's number, a clock.
static HEADS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"^(?:<\d+>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?:(?: |$)",
        r"^(?:<\d+>1 )?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)? [\w.-]+ [\w./-]+\[\d+\]:(?: |$)",
        r"^\[[A-Za-z][\w ./-]*:\d+\](?: |$)",
        r"^>(?: |$)",
        r"^_bk;t=\d{13}",
        r"^ {0,2}[│┃](?: |$)",
        r"^ *L?(?<number>\d+)(?: ?[:|│](?: |$)|→|\t|  |$)",
        r"^ *L?(?<number>\d+)(?:[:|]| |$)",
        r"^\d\d:\d\d:\d\d(?:  |$)",
        &[CLOCK, r"(?:[ \t]|$)"].concat(),
    ]
    .into_iter()
    .map(compile)
    .collect()
});

/// The same log without what every line is wrapped in; none where nothing is. Lines stay lines.
pub(super) fn opened(log: &str) -> Option<String> {
    let mut text = Cow::Borrowed(log);
    for open in [of_html, indented, headed, headed, headed, colours] {
        if let Some(inner) = open(&text) {
            text = Cow::Owned(inner);
        }
    }
    matches!(text, Cow::Owned(_)).then(|| text.into_owned())
}

fn filled(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split('\n').filter(|line| !line.trim().is_empty());
    lines.take(SAMPLE)
}

fn mapped<'a>(text: &'a str, each: impl Fn(&'a str) -> Cow<'a, str>) -> String {
    let lines: Vec<Cow<'a, str>> = text.split('\n').map(each).collect();
    lines.join("\n")
}

// Whether nine of ten lines are like that.
fn most(text: &str, mut is_so: impl FnMut(&str) -> bool) -> bool {
    let (mut all, mut those) = (0, 0);
    for line in filled(text) {
        all += 1;
        those += usize::from(is_so(line));
    }
    all >= FEWEST && those * 10 >= all * 9
}

// A page that shows a log.
fn of_html(text: &str) -> Option<String> {
    pattern!(
        TAG,
        r"</?(?:html|head|body|pre|code|span|div|p|b|i|a|em|font|strong|br)(?: [^<>]*)?/?>|<!DOCTYPE [^<>]*>"
    );
    const WORDS: [(&str, &str); 7] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let head = text.get(..text.floor_char_boundary(4096))?;
    let shows = head.contains("<pre") && WORDS.iter().any(|(word, _)| text.contains(word));
    shows.then(|| {
        let bare = TAG.replace_all(text, "");
        let plain = |text: String, (word, sign): &(&str, &str)| text.replace(word, sign);
        WORDS.iter().fold(bare.into_owned(), plain)
    })
}

// All of it moved to the right, as in a list or a message.
fn indented(text: &str) -> Option<String> {
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    if filled(text).count() < 2 * FEWEST || filled(text).any(|line| depth(line) < 4) {
        return None;
    }
    let all = text.split('\n').filter(|line| !line.trim().is_empty());
    // Reports of mocha stand two columns in.
    let least = all.map(depth).min().filter(|it| *it > 3)?;
    let rest = |line: &'_ str| line.len().min(least);
    Some(mapped(text, |line| {
        Cow::Borrowed(line.get(rest(line)..).unwrap_or(""))
    }))
}

fn headed(text: &str) -> Option<String> {
    let is_row = |line: &str| {
        let text = line.trim();
        text.ends_with(BARS) && !text.trim_matches(BARS).is_empty()
    };
    let head = HEADS.iter().find(|head| {
        let mut last: Option<u64> = None;
        most(text, |line| {
            let found = head.captures(line);
            let number = found.as_ref().and_then(|it| it.name("number"));
            let number = number.and_then(|it| it.as_str().parse().ok());
            // Numbers of places in a file are not those of lines one after the other.
            let follows = number.is_none_or(|it| {
                last.replace(it)
                    .is_none_or(|last| last.saturating_add(1) == it)
            });
            // What ends with a bar too is a row of a table.
            found.is_some() && follows && !is_row(line)
        })
    })?;
    Some(mapped(text, |line| {
        let end = head.find(line).map_or(0, |found| found.end());
        Cow::Borrowed(line.get(end..).unwrap_or(line))
    }))
}

// Colours whose escape was lost in a copy or is written as a caret; not one that a program shows as
// text.
fn colours(text: &str) -> Option<String> {
    pattern!(
        COLOUR,
        r"(?<text>\\(?:x1b|u001b|033|e))?(?:\^\[|␛)?\[\d{0,3}(?:;\d{1,3})*[mK]"
    );
    if text.contains('\x1b') || !text.contains("[0m") && !text.contains("[39m") {
        return None;
    }
    let is_colour = |line: &&str| {
        let mut found = COLOUR.captures_iter(line);
        found.any(|it| it.name("text").is_none())
    };
    let coloured = text.split('\n').filter(is_colour).take(FEWEST).count();
    let bare = |found: &Captures<'_>| match found.name("text") {
        Some(_) => found[0].to_owned(),
        None => String::new(),
    };
    (coloured == FEWEST).then(|| COLOUR.replace_all(text, bare).into_owned())
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
        let escaped = |line: &str| line.replace('\'', "&#x27;").replace('>', "&gt;");
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
            ("indented", each(&|_, it| format!("    {it}"))),
            (
                "colours",
                each(&|_, it| {
                    it.replace("E   ", "^[[31mE   ")
                        .replace("FAILED ", "[31mFAILED[0m ")
                }) + "\n[31m1 failed[0m",
            ),
            (
                "HTML",
                format!("<html><body><pre>{}</pre>", each(&|_, it| escaped(it))),
            ),
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
            "print('[31m')\nprint('[0m')\nprint('ok')\n",
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
