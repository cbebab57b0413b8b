//! A file's bytes as lines.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// A file's bytes as lines, found once.
#[derive(Debug, Clone)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    // Start of each line; a line ends where the next starts.
    starts: Vec<u32>,
    /// How its lines end.
    pub(super) ends: LineEnds,
    /// Whether the last line has a line feed; true for an empty file.
    pub(super) final_newline: bool,
    // Carriage returns before line feeds are left out of lines.
    without_cr: bool,
}

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// All with a line feed alone, or there is none.
    Lf,
    /// All with carriage return and line feed.
    CrLf,
    /// Some one way, some the other.
    Mixed,
}

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut starts = Vec::with_capacity(bytes.len() / 24 + 1);
        let mut start = 0;
        let (mut with_cr, mut feeds) = (0_usize, 0_usize);
        for feed in memchr::memchr_iter(b'\n', bytes) {
            starts.push(to_offset(start));
            feeds += 1;
            with_cr += usize::from(feed > start && bytes.get(feed - 1) == Some(&b'\r'));
            start = feed + 1;
        }
        let final_newline = start == bytes.len();
        if !final_newline {
            starts.push(to_offset(start));
        }
        let ends = match with_cr {
            0 => LineEnds::Lf,
            count if count == feeds => LineEnds::CrLf,
            _ => LineEnds::Mixed,
        };
        Self {
            bytes,
            starts,
            ends,
            final_newline,
            without_cr: false,
        }
    }

    /// The same with lines that leave out the carriage return.
    pub(super) fn without_cr(mut self) -> Self {
        self.without_cr = true;
        self
    }

    /// Whether lines leave out the carriage return.
    pub(super) fn hides_cr(&self) -> bool {
        self.without_cr
    }

    /// Whether a carriage return is anywhere.
    pub(super) fn has_cr(&self) -> bool {
        memchr::memchr(b'\r', self.bytes).is_some()
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns a line without its end; `None` past the last.
    pub(super) fn get(&self, at: usize) -> Option<&'a [u8]> {
        (at < self.len()).then(|| self.line(at))
    }

    /// A line without its end; empty past the last.
    pub(super) fn line(&self, at: usize) -> &'a [u8] {
        let whole = self.whole(at);
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        if self.without_cr {
            line.strip_suffix(b"\r").unwrap_or(line)
        } else {
            line
        }
    }

    /// A line with its end.
    pub(super) fn whole(&self, at: usize) -> &'a [u8] {
        self.span(at, at + 1)
    }

    /// Returns the lines that a range of bytes touches.
    pub(super) fn touched_rows(&self, range: &Range<usize>) -> Range<usize> {
        let [start, end] = [range.start, range.end.saturating_sub(1)]
            .map(|at| self.starts.partition_point(|start| *start as usize <= at));
        start.saturating_sub(1)..end
    }

    /// The bytes of the lines from `from` up to `to`.
    pub(super) fn span(&self, from: usize, to: usize) -> &'a [u8] {
        let [from, to] = [from, to]
            .map(|at| self.starts.get(at).map_or(self.bytes.len(), |start| *start as usize));
        self.bytes.get(from..to).unwrap_or_default()
    }
}

// An offset fits because files above 64 MiB are never read.
fn to_offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A text whose lines end so; a last one without an end keeps none.
pub(super) fn with_line_ends(text: &[u8], end: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 32);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
                out.extend_from_slice(end);
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// Whether a text has a pattern that was compiled once.
pub(super) fn matches_pattern(pattern: &LazyLock<Option<Regex>>, text: &[u8]) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// The decimal number that a text starts with, and what follows it.
pub(super) fn leading_number<T: std::str::FromStr>(text: &[u8]) -> Option<(T, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    let (digits, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::{LineEnds, Text};

    #[test]
    fn finds_lines_and_their_ends() {
        let text = Text::new(b"a\r\nb\r\nc");
        assert_eq!((text.len(), text.final_newline), (3, false));
        assert_eq!(
            (text.line(0), text.whole(2), text.line(9)),
            (&b"a\r"[..], &b"c"[..], &b""[..])
        );
        assert_eq!(text.ends, LineEnds::CrLf);
        assert_eq!(text.clone().without_cr().line(1), b"b");
        assert_eq!(text.span(1, 3), b"b\r\nc");
        assert_eq!(Text::new(b"a\nb\r\n").ends, LineEnds::Mixed);
        assert_eq!(
            (Text::new(b"").len(), Text::new(b"").final_newline),
            (0, true)
        );
    }
}
