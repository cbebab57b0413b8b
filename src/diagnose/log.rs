//! Holds a log, or the end of a huge one, so that memory stays bounded, and facts about its run that it does not contain.

use std::io::{self, Read};

use crate::exec::{End, Outcome};
use crate::policy::decode_log;

// Bytes that are kept of the end of a log that is twice as long.
const KEPT: usize = 5 << 20;

/// A log as it is worked on: all of it, or of a huge one its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    text: String,
    bytes: u64,
    first_line: u64,
    dropped_bytes: u64,
}

impl Log {
    /// Reads a log of any size in bounded memory: of one above 10 MiB the end is kept.
    ///
    /// # Errors
    /// Returns the error of the input.
    pub fn read(mut input: impl Read) -> io::Result<Self> {
        let mut kept = Vec::new();
        let (mut bytes, mut first_line, mut dropped_bytes) = (0, 1, 0);
        loop {
            let count = input.by_ref().take(1 << 20).read_to_end(&mut kept)?;
            bytes += count as u64;
            if kept.len() > 2 * KEPT {
                let from = kept.len() - KEPT;
                let end = memchr::memchr(b'\n', kept.get(from..).unwrap_or_default());
                let to = from + end.map_or(0, |end| end + 1);
                first_line += memchr::memchr_iter(b'\n', &kept[..to]).count() as u64;
                dropped_bytes += to as u64;
                kept.drain(..to);
            }
            if count == 0 {
                return Ok(Self {
                    bytes,
                    first_line,
                    dropped_bytes,
                    ..Self::from(kept)
                });
            }
        }
    }

    /// The part that was kept.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes of the log as it was given.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that were not kept.
    pub fn bytes_passed_over(&self) -> u64 {
        self.dropped_bytes
    }

    pub(super) fn view(&self) -> View<'_> {
        View {
            text: &self.text,
            first_line: self.first_line,
            dropped_bytes: self.dropped_bytes,
        }
    }
}

impl From<String> for Log {
    fn from(text: String) -> Self {
        Self {
            bytes: text.len() as u64,
            text,
            first_line: 1,
            dropped_bytes: 0,
        }
    }
}

impl From<Vec<u8>> for Log {
    fn from(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        let text = decode_log(&bytes).into_owned();
        Self {
            bytes: length,
            ..Self::from(text)
        }
    }
}

/// The text of a log and the number of its first line.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) text: &'a str,
    pub(super) first_line: u64,
    pub(super) dropped_bytes: u64,
}

impl<'a> View<'a> {
    /// A log that was kept whole.
    pub(super) fn whole(text: &'a str) -> Self {
        Self {
            text,
            first_line: 1,
            dropped_bytes: 0,
        }
    }

    /// The lines with their 1-based numbers.
    pub(super) fn lines(self) -> impl Iterator<Item = (u64, &'a str)> {
        (self.first_line..).zip(self.text.split('\n'))
    }
}

/// The facts of the run beside its log.
#[derive(Debug, Clone, Default)]
pub struct LogFacts {
    /// The command's exit code; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// The command line.
    pub command: Option<String>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
}

impl LogFacts {
    /// The facts that the end of a run of `command` shows.
    pub fn new(outcome: &Outcome, command: &str) -> Self {
        Self {
            exit_code: outcome.end.code_or_signal(),
            command: Some(command.to_owned()),
            timed_out: matches!(outcome.end, End::TimedOut),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Log;

    #[test]
    fn read_keeps_small_log_whole() {
        for log in ["", "a\nb", "a\r\nb\n", "\n\n"] {
            assert_eq!(Log::read(log.as_bytes()).unwrap().text(), log);
            assert_eq!(Log::from(log.to_owned()).text(), log);
        }
        let wide: Vec<u8> = "\u{feff}a é\nb".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(Log::read(wide.as_slice()).unwrap().text(), "a é\nb");
    }

    #[test]
    fn read_keeps_end_of_huge_log_under_its_numbers() {
        let filler = "nothing to see on this line, it only takes up room\n".repeat(700_000);
        let log = format!("first\n{filler}last");
        let read = Log::read(log.as_bytes()).unwrap();
        assert!(read.text.len() < 11 << 20, "{}", read.text.len());
        assert_eq!(read.bytes(), log.len() as u64);
        assert_eq!(read.text.len() as u64 + read.dropped_bytes, read.bytes());
        assert_eq!(read.view().lines().last(), Some((700_002, "last")));
        let one_line = Log::read("x".repeat(30 << 20).as_bytes()).unwrap();
        assert!(one_line.text.len() < 11 << 20);
    }
}
