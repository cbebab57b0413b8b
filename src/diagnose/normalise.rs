//! Restores the lines of a log: removes escapes, timestamps and prefixes of services.

use std::borrow::Cow;

use super::line::{Line, Mark};
use super::log::View;
use super::prefix::Wrapper;
use super::quiet;
use crate::policy::sanitize_log;
use crate::runners::pattern;

const LONGEST_LINE: usize = 4096;

/// A log as readable lines.
pub(super) struct Lines<'a> {
    /// With their original numbers.
    pub(super) all: Vec<Line<'a>>,
    /// Only this many bytes at each end of an overlong line are read.
    pub(super) cut: u64,
}

/// Splits a log into readable lines.
pub(super) fn lines_of(view: View<'_>) -> Lines<'_> {
    let wrapper = Wrapper::find(view.text);
    let mut lines = Vec::new();
    let mut captured = false;
    let mut cut = 0;
    for (number, raw) in view.lines() {
        let raw = match number {
            1 => raw.strip_prefix('\u{feff}').unwrap_or(raw),
            _ => raw,
        };
        cut += raw.len().saturating_sub(LONGEST_LINE) as u64;
        let (mark, text) = clean_line(raw, &wrapper);
        if let Some(begins) = captured_section(&text) {
            captured = begins;
        }
        lines.push(Line {
            number,
            text,
            mark,
            captured,
            claimed: false,
            quiet: false,
        });
    }
    super::runners::join_error_names(&mut lines);
    quiet::mark_quiet(&mut lines);
    Lines { all: lines, cut }
}

/// The lines of a log that is there whole.
#[cfg(test)]
pub(super) fn lines(log: &str) -> Vec<Line<'_>> {
    lines_of(View::whole(log)).all
}

pattern!(
    MARK,
    r"^(?:##\[(?<azure>error|warning|group|endgroup|command|section|debug|notice)\]|::(?<github>group|endgroup|error|warning|notice|debug)(?: [^:]*)?::)"
);
pattern!(
    TRAVIS,
    r"travis_time:(start|end):([\w-]+)|section_(start|end):\d+:([\w.-]+)"
);

// The text that a terminal would show of one raw line, and the service's mark on it.
fn clean_line<'a>(raw: &'a str, wrapper: &Wrapper) -> (Mark, Cow<'a, str>) {
    let mut mark = Mark::None;
    if raw.contains("travis_time:") || raw.contains("section_") {
        mark = section_mark(raw);
    }
    let raw = cut_text(raw, LONGEST_LINE);
    let raw = raw.strip_suffix('\r').unwrap_or(raw);
    let text = if raw.bytes().any(|byte| byte < 0x20 && byte != b'\t' || byte == 0x7f) {
        Cow::Owned(sanitize_log(raw.as_bytes()))
    } else {
        Cow::Borrowed(raw)
    };
    let mut skip = wrapper.length(&text);
    let rest = &text[skip..];
    if (rest.starts_with("##[") || rest.starts_with("::"))
        && let Some(found) = MARK.captures(rest)
    {
        skip += found[0].len();
        let word = found.name("azure").or_else(|| found.name("github"));
        mark = match word.map_or("", |word| word.as_str()) {
            "error" => Mark::Error,
            "group" | "section" => Mark::Open(text[skip..].to_owned()),
            "endgroup" => Mark::Close(String::new()),
            "command" => Mark::Command,
            _ => Mark::Remark,
        };
    }
    let text = match text {
        _ if skip == 0 => text,
        Cow::Borrowed(text) => Cow::Borrowed(&text[skip..]),
        Cow::Owned(text) => Cow::Owned(text[skip..].to_owned()),
    };
    (mark, text)
}

// The last fold of Travis or GitLab that a raw line opens or closes.
fn section_mark(raw: &str) -> Mark {
    let Some(found) = TRAVIS.captures_iter(raw).last() else {
        return Mark::None;
    };
    let mut parts = found.iter().skip(1).flatten().map(|part| part.as_str());
    let opens = parts.next() == Some("start");
    let name = parts.next().unwrap_or_default().to_owned();
    if opens { Mark::Open(name) } else { Mark::Close(name) }
}

fn cut_text(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

// Pytest and jest repeat the output of the program under test in marked sections.
fn captured_section(text: &str) -> Option<bool> {
    let bare = text.trim();
    let is_dashed = bare.starts_with("----");
    if is_dashed && bare.contains(" Captured ") {
        return Some(true);
    }
    let mut runner = [" coverage", " generated ", " benchmark", " snapshot"].iter();
    let is_of_runner = is_dashed && runner.any(|word| bare.contains(word));
    (is_of_runner || bare.starts_with("____") || bare.starts_with("====")).then_some(false)
}

/// Returns the lines of a log that are about a failure, without escapes and CI prefixes. Leaves out passed
/// and skipped tests, warnings, times, echoed scripts and repetitions.
pub fn telling_lines(log: &str) -> String {
    let mut seen = std::collections::HashSet::new();
    let lines = lines_of(View::whole(log)).all;
    let told = lines.iter().filter(|line| !line.quiet).map(|line| line.text.trim());
    let new = told.filter(|text| !text.is_empty() && seen.insert(*text));
    new.map(|text| format!("{text}\n")).collect()
}

/// A log without escapes and without what services and runners of several programs put before its lines.
pub fn plain_lines(log: &str) -> String {
    lines_of(View::whole(log)).all.iter().map(|l| format!("{}\n", l.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::{lines, plain_lines};

    fn only(log: &str) -> String {
        lines(log)[0].text.to_string()
    }

    #[test]
    fn strips_ci_prefixes() {
        for dressed in [
            "2026-11-21T02:38:34.1234567Z TypeError: x",
            "2026-11-21T02:38:34.1234567Z ##[error]TypeError: x",
            "\u{1b}[31mTypeError: x\u{1b}[39m\r",
            "test\tRun tests\t2026-11-21T02:38:34.1234567Z TypeError: x",
            "web-1  | TypeError: x",
            "50%\rTypeError: x",
            "2024-03-18T12:00:00.000000Z 01O TypeError: x",
            "#12 3.456 TypeError: x",
            "[CI/test]   | TypeError: x",
            "\u{1b}_bk;t=1700000000000\u{7}TypeError: x",
        ] {
            assert_eq!(only(dressed), "TypeError: x", "{dressed:?}");
        }
    }

    #[test]
    fn keeps_numbers_and_marks_captured_output() {
        let log = "a\n---- Captured stdout call ----\nNameError: x\n____ test_b ____\nc";
        let lines = lines(log);
        assert_eq!(lines[2].number, 3);
        assert!(lines[2].captured && !lines[4].captured);
    }

    #[test]
    fn strips_prefixes_of_several_programs() {
        let log = "\npackages/a test$ vitest run\npackages/a test:  Test Files  1 passed (1)\n\
                   packages/a test:       Tests  4 passed (4)\npackages/a test: Done\n";
        let plain = plain_lines(log);
        assert!(plain.contains("\n Test Files  1 passed (1)\n"), "{plain}");
    }

    #[test]
    fn survives_cut_escapes() {
        assert_eq!(only("a\x1b"), "a");
        assert_eq!(only("a\x1b[3"), "a");
        assert_eq!(only("a\x1b]8;;http://x\x07b\x1b]8;;\x1b\\"), "ab");
    }
}
