use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// One line of a log, without escapes and CI decoration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// 1-based line of the log as it was given.
    pub(super) number: u64,
    /// What the tool printed.
    pub(super) text: Cow<'a, str>,
    /// Whether it stands in a section that repeats what the program under test printed.
    pub(super) captured: bool,
}

// Logs up to this size are read whole; of larger ones head, tail and the lines around cues.
const WHOLE: usize = 12 << 20;
const HEAD: usize = 3 << 20;
const TAIL: usize = 6 << 20;
const MIDDLE: usize = 3 << 20;
const CONTEXT: u32 = 24;
const LONGEST_LINE: usize = 4096;

/// Splits a log into readable lines and keeps their original numbers.
pub(super) fn lines(log: &str) -> Vec<Line<'_>> {
    let log = log.strip_prefix('\u{feff}').unwrap_or(log);
    let mut lines = Vec::new();
    let mut captured = false;
    let mut middle = Middle::default();
    let mut offset = 0;
    for (index, raw) in log.split('\n').enumerate() {
        let start = offset;
        offset += raw.len() + 1;
        if log.len() > WHOLE && start >= HEAD && start + TAIL < log.len() && !middle.keeps(raw) {
            continue;
        }
        let text = clean(raw);
        if let Some(begins) = captured_section(&text) {
            captured = begins;
        }
        lines.push(Line {
            number: index as u64 + 1,
            text,
            captured,
        });
    }
    lines
}

// Decides which lines between head and tail of a huge log stay.
#[derive(Default)]
struct Middle {
    taken: usize,
    after_cue: u32,
}

impl Middle {
    fn keeps(&mut self, raw: &str) -> bool {
        if self.taken >= MIDDLE {
            return false;
        }
        if CUES.is_match(raw) {
            self.after_cue = CONTEXT;
        } else if self.after_cue == 0 {
            return false;
        }
        self.after_cue -= 1;
        self.taken += raw.len().min(LONGEST_LINE);
        true
    }
}

static CUES: LazyLock<aho_corasick::AhoCorasick> = LazyLock::new(|| {
    let cues = [
        "Traceback (most",
        "Error: ",
        "error TS",
        "FAILED ",
        "not ok ",
        "ERROR collecting",
        "fatal:",
        "panic",
        "Segmentation fault",
        "No space left",
    ];
    #[expect(
        clippy::expect_used,
        reason = "the cues are constants and a test builds them"
    )]
    aho_corasick::AhoCorasick::new(cues).expect("a small automaton")
});

static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    super::pattern::compile(
        r"^(?:[^\t]{1,80}\t[^\t]{1,80}\t\u{feff}?)?(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]? ?|\[\d\d:\d\d:\d\d(?:\.\d+)?\] )?(?:\d\d[OE] )?(?:##\[(?:error|warning|group|endgroup|command|section|debug|notice)\]|::(?:group|endgroup|error|warning|notice|debug)(?: [^:]*)?::|section_(?:start|end):\d+:[\w.-]+)?(?:[\w.-]{1,40}-\d+ +\| )?",
    )
});

static WORKFLOW: LazyLock<Regex> = LazyLock::new(|| {
    super::pattern::compile(
        r"::(?:error|warning) file=([^,:]+),line=(\d+)(?:,[^:]*?col=(\d+))?[^:]*::(.*)$",
    )
});

// What a terminal would show of one raw line.
fn clean(raw: &str) -> Cow<'_, str> {
    let raw = cut(raw, LONGEST_LINE);
    let raw = raw.strip_suffix('\r').unwrap_or(raw);
    let text = if raw
        .bytes()
        .any(|byte| byte < 0x20 && byte != b'\t' || byte == 0x7f)
    {
        let plain = strip_controls(raw);
        Cow::Owned(last_overwrite(&plain).to_owned())
    } else {
        Cow::Borrowed(raw)
    };
    if (text.contains("::error file=") || text.contains("::warning file="))
        && let Some(found) = WORKFLOW.captures(&text)
    {
        let column = found.get(3).map_or("1", |column| column.as_str());
        return Cow::Owned(format!(
            "{}:{}:{column}: {}",
            &found[1],
            &found[2],
            found[4].replace("%0A", " ")
        ));
    }
    let skip = PREFIX.find(&text).map_or(0, |prefix| prefix.end());
    match text {
        _ if skip == 0 => text,
        Cow::Borrowed(text) => Cow::Borrowed(&text[skip..]),
        Cow::Owned(text) => Cow::Owned(text[skip..].to_owned()),
    }
}

fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

// A progress line is rewritten with carriage returns: the last non-empty version stays.
fn last_overwrite(text: &str) -> &str {
    text.rsplit('\r')
        .find(|part| !part.trim().is_empty())
        .unwrap_or("")
}

fn strip_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => match chars.next() {
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']') => {
                    // An operating system command ends with BEL or ESC \.
                    while let Some(c) = chars.next() {
                        if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                _ => {}
            },
            '\t' | '\r' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

// Pytest and jest repeat the output of the program under test in marked sections.
fn captured_section(text: &str) -> Option<bool> {
    let bare = text.trim();
    if bare.starts_with("----") && bare.contains(" Captured ") {
        return Some(true);
    }
    let ruled = bare.starts_with("____") || bare.starts_with("====");
    (ruled || bare.starts_with("-----")).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::{lines, strip_controls};

    fn only(log: &str) -> String {
        lines(log)[0].text.to_string()
    }

    #[test]
    fn undresses_ci_lines() {
        for dressed in [
            "2026-11-21T02:38:34.1234567Z TypeError: x",
            "2026-11-21T02:38:34.1234567Z ##[error]TypeError: x",
            "\u{1b}[31mTypeError: x\u{1b}[39m\r",
            "test\tRun tests\t2026-11-21T02:38:34.1234567Z TypeError: x",
            "web-1  | TypeError: x",
            "50%\rTypeError: x",
            "2024-03-18T12:00:00.000000Z 01O TypeError: x",
        ] {
            assert_eq!(only(dressed), "TypeError: x", "{dressed:?}");
        }
    }

    #[test]
    fn reads_workflow_annotations_as_located_lines() {
        assert_eq!(
            only("::error file=src/a.ts,line=3,endLine=3,col=7,endColumn=9::TS2304 boom"),
            "src/a.ts:3:7: TS2304 boom"
        );
    }

    #[test]
    fn keeps_numbers_and_marks_captured_output() {
        let log = "a\n---- Captured stdout call ----\nNameError: x\n____ test_b ____\nc";
        let lines = lines(log);
        assert_eq!(lines[2].number, 3);
        assert!(lines[2].captured && !lines[4].captured);
    }

    #[test]
    fn survives_cut_escapes() {
        assert_eq!(strip_controls("a\x1b"), "a");
        assert_eq!(strip_controls("a\x1b[3"), "a");
        assert_eq!(strip_controls("a\x1b]8;;http://x\x07b\x1b]8;;\x1b\\"), "ab");
    }

    #[test]
    fn of_a_huge_log_keeps_head_tail_and_cues() {
        let filler = "nothing to see on this line, it only takes up room\n".repeat(400_000);
        let log = format!("first\n{filler}ValueError: Error: deep\n{filler}last");
        let lines = lines(&log);
        assert_eq!(lines[0].text, "first");
        assert_eq!(lines[lines.len() - 1].text, "last");
        assert!(lines.iter().any(|line| line.number == 400_002));
        assert!(lines.len() < 250_000);
    }
}
