use std::borrow::Cow;
use std::io::{self, Read};

use super::condense::condensed;
use super::envelope::opened;
use super::rules::UserRules;
use super::speakers::together;
use crate::policy::decode_log;

/// A log as it is worked on: all of it, or of a huge one every line that can say something, each
/// under its own number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    pub(super) text: String,
    pub(super) runs: Vec<Run>,
    pub(super) bytes: u64,
    pub(super) passed_over: PassedOver,
}

/// From the kept line `from` (an index) on, lines have the numbers from `number` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) from: usize,
    pub(super) number: u64,
}

/// What of a huge log was looked at and not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PassedOver {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// Lines that hold a word of a rule and found no room.
    pub(super) telling: u64,
}

impl Log {
    /// Reads a log of any size in bounded memory.
    ///
    /// A log of up to 6 MiB is kept as it is. Of a larger one the first 2 and the last 4 MiB are,
    /// and of what lies between the lines around words that a rule, a runner or a service knows, up
    /// to 4 MiB; every line is looked at, and what is passed over is counted.
    ///
    /// # Errors
    /// What the input gives.
    pub fn read(input: impl Read, rules: &UserRules) -> io::Result<Self> {
        condensed(input, rules)
    }

    /// What was kept of it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes of the log as it was given.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of it that were looked at and not kept.
    #[must_use]
    pub fn bytes_passed_over(&self) -> u64 {
        self.passed_over.bytes
    }

    /// Removes what every line is wrapped in, and puts the lines of each program together where
    /// several wrote at the same time.
    pub(super) fn demultiplex(mut self) -> Self {
        if let Some(text) = opened(&self.text) {
            self.text = text;
        }
        if let Some((text, runs)) = together(self.view()) {
            (self.text, self.runs) = (text, runs);
        }
        self
    }

    pub(super) fn view(&self) -> View<'_> {
        View {
            text: &self.text,
            runs: &self.runs,
            passed_over: self.passed_over,
        }
    }
}

impl From<String> for Log {
    fn from(text: String) -> Self {
        let bytes = text.len() as u64;
        let log = Self {
            text,
            bytes,
            ..Self::default()
        };
        log.demultiplex()
    }
}

impl From<Vec<u8>> for Log {
    fn from(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        let text = match decode_log(&bytes) {
            Cow::Owned(text) => text,
            Cow::Borrowed(text) if text.len() < bytes.len() => text.to_owned(),
            // It is UTF-8 as it stands.
            Cow::Borrowed(_) => String::from_utf8(bytes).unwrap_or_default(),
        };
        Self {
            bytes: length,
            ..Self::from(text)
        }
    }
}

/// The lines of a log with their numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) text: &'a str,
    pub(super) runs: &'a [Run],
    pub(super) passed_over: PassedOver,
}

impl<'a> View<'a> {
    /// A log that was kept whole.
    pub(super) fn whole(text: &'a str) -> Self {
        Self {
            text,
            runs: &[],
            passed_over: PassedOver::default(),
        }
    }

    /// The kept lines that end with `end`, with their 1-based numbers.
    pub(super) fn lines(self, end: char) -> impl Iterator<Item = (u64, &'a str)> {
        let mut runs = self.runs.iter().peekable();
        let mut run = Run { from: 0, number: 1 };
        self.text.split(end).enumerate().map(move |(at, line)| {
            while let Some(next) = runs.next_if(|next| next.from <= at) {
                run = *next;
            }
            (run.number + (at - run.from) as u64, line)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, UserRules};
    use crate::config::DiagnoseRule;
    use crate::model::FailureKind;

    const FILLER: &str = "nothing to see on this line, it only takes up room\n";

    fn read(log: &str) -> Log {
        Log::read(log.as_bytes(), &UserRules::default()).unwrap()
    }

    fn numbered(log: &Log, word: &str) -> Option<u64> {
        let mut lines = log.view().lines('\n');
        lines.find(|row| row.1.contains(word)).map(|row| row.0)
    }

    #[test]
    fn a_small_log_is_kept_as_it_is() {
        for log in ["", "a\nb", "\u{feff}a\r\nb\n", "\n\n"] {
            assert_eq!(read(log).text(), log);
            assert_eq!(Log::from(log.to_owned()).text(), log);
        }
        let wide: Vec<u8> = "\u{feff}a é\nb"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(Log::from(wide.clone()).text(), "a é\nb");
        let rules = UserRules::default();
        assert_eq!(Log::read(wide.as_slice(), &rules).unwrap().text(), "a é\nb");
    }

    #[test]
    fn of_a_huge_log_what_tells_stays_under_its_number() {
        let filler = FILLER.repeat(700_000);
        let log = format!("first\n{filler}src/a.py:3:1: F401 unused\n{filler}last");
        let read = read(&log);
        assert!(read.text.len() < 9 << 20, "{}", read.text.len());
        assert_eq!(read.bytes(), log.len() as u64);
        assert_eq!(numbered(&read, "F401"), Some(700_002));
        assert_eq!(numbered(&read, "first"), Some(1));
        assert_eq!(numbered(&read, "last"), Some(1_400_003));
        let kept = read.text.lines().count() as u64;
        assert_eq!(kept + read.passed_over.lines, 1_400_003);
        let bytes = read.text.len() as u64 + read.passed_over.bytes;
        assert_eq!((bytes, read.passed_over.telling), (log.len() as u64, 0));
    }

    #[test]
    fn more_that_tells_than_there_is_room_for_is_counted() {
        let log = "src/a.py:3:1: F401 unused, and a long explanation of it\n".repeat(1_500_000);
        let read = read(&log);
        assert!(read.text.len() < 13 << 20);
        assert!(read.passed_over.telling > 100_000);
        assert_eq!(read.passed_over.telling, read.passed_over.lines);
    }

    #[test]
    fn a_line_without_an_end_is_read_in_bounded_memory() {
        let log = format!(
            "{}ValueError: deep{}",
            "x".repeat(30 << 20),
            "y".repeat(40 << 20)
        );
        let read = read(&log);
        assert!(read.text.len() < 11 << 20);
        assert!(read.text.contains("ValueError: deep"));
        let bytes = read.text.len() as u64 + read.passed_over.bytes;
        assert!(bytes >= log.len() as u64);
    }

    #[test]
    fn the_words_of_a_users_rule_tell_too() {
        let rule = DiagnoseRule {
            id: "own".to_owned(),
            kind: FailureKind::ConfigError,
            subkind: None,
            pattern: "^the grommet is askew".to_owned(),
            tool: None,
            weight: None,
            example: None,
            why: None,
        };
        let rules = UserRules::new(&[rule]).unwrap();
        let filler = FILLER.repeat(400_000);
        let log = format!("{filler}the grommet is askew\n{filler}");
        let read = Log::read(log.as_bytes(), &rules).unwrap();
        assert_eq!(numbered(&read, "grommet"), Some(400_001));
    }
}
