//! Captures the head and tail of a stream, so that memory stays bounded for any output.

use std::collections::VecDeque;

/// The head and the tail of a stream, and how long it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes; empty while all fits into the head.
    pub tail: Vec<u8>,
    /// Bytes that came in all.
    pub bytes: u64,
}

impl Captured {
    /// Bytes that are neither in the head nor in the tail.
    pub fn omitted(&self) -> u64 {
        self.bytes.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    /// Head and tail as text. When something is left out they are cut on line borders, or between two
    /// words where there are none, and a line between them says how many bytes are missing.
    pub fn text(&self) -> String {
        if self.omitted() == 0 {
            let all = [self.head.as_slice(), &self.tail].concat();
            return String::from_utf8_lossy(&all).into_owned();
        }
        let head_end =
            memchr::memrchr(b'\n', &self.head).map_or_else(|| last_gap(&self.head), |at| at + 1);
        let tail_start = memchr::memchr(b'\n', &self.tail)
            .map(|at| at + 1)
            .filter(|start| *start < self.tail.len())
            .unwrap_or_else(|| first_gap(&self.tail));
        let (head, _) = self.head.split_at(head_end);
        let (_, tail) = self.tail.split_at(tail_start);
        let omitted = self.bytes.saturating_sub((head.len() + tail.len()) as u64);
        let mut text = String::from_utf8_lossy(head).into_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&omission_marker(omitted));
        text.push_str(&String::from_utf8_lossy(tail));
        text
    }
}

// Cuts fall between words, because half of a secret would not be recognized as one.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.+/=~%:@".contains(&byte) || byte >= 0x80
}

// The end of the last whole word; the end of the text when the last word is longer than any secret.
fn last_gap(text: &[u8]) -> usize {
    let mut near = text.iter().rev().take(MAX_WORD);
    near.position(|byte| !in_word(*byte))
        .map_or(text.len(), |back| text.len() - back)
}

// The start of the first whole word.
fn first_gap(text: &[u8]) -> usize {
    let mut near = text.iter().take(MAX_WORD);
    near.position(|byte| !in_word(*byte)).unwrap_or(0)
}

const MAX_WORD: usize = 16 * 1024;

/// The line that represents bytes left out.
fn omission_marker(omitted: u64) -> String {
    format!("[{omitted} bytes left out]\n")
}

/// Takes a stream of any length in bounded memory.
#[derive(Debug)]
pub(super) struct Ring {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    max_head: usize,
    max_tail: usize,
}

impl Ring {
    pub(super) fn new(max_head: usize, max_tail: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            bytes: 0,
            max_head,
            max_tail,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let room = self.max_head.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let (_, kept) = rest.split_at(rest.len().saturating_sub(self.max_tail));
        let surplus = (self.tail.len() + kept.len()).saturating_sub(self.max_tail);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(kept);
    }

    pub(super) fn captured(&self) -> Captured {
        Captured {
            head: self.head.clone(),
            tail: self.tail.iter().copied().collect(),
            bytes: self.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;

    fn taken(chunks: &[&str], head: usize, tail: usize) -> super::Captured {
        let mut ring = Ring::new(head, tail);
        for chunk in chunks {
            ring.push(chunk.as_bytes());
        }
        ring.captured()
    }

    #[test]
    fn keeps_short_output_whole() {
        let all = taken(&["one\n", "two\n", "three\n"], 5, 9);
        assert_eq!((all.bytes, all.omitted()), (14, 0));
        assert_eq!(all.text(), "one\ntwo\nthree\n");
        assert_eq!(taken(&[], 5, 9).text(), "");
    }

    #[test]
    fn cuts_middle_at_line_ends() {
        let lines: Vec<String> = (0..100).map(|n| format!("line {n:02}\n")).collect();
        for size in [1, 7, 800] {
            let all = lines.concat();
            let chunks: Vec<&str> = all
                .as_bytes()
                .chunks(size)
                .map(|chunk| std::str::from_utf8(chunk).unwrap())
                .collect();
            let cut = taken(&chunks, 20, 20);
            assert_eq!(
                cut.text(),
                "line 00\nline 01\n[768 bytes left out]\nline 98\nline 99\n"
            );
            assert_eq!(cut.bytes, 800);
        }
    }

    #[test]
    fn cuts_inside_long_line() {
        let cut = taken(&["aaaaaaaaaa"], 3, 3);
        assert_eq!(cut.text(), "aaa\n[4 bytes left out]\naaa");
        let cut = taken(&["see key=abcdefgh and token=ijklmnop so"], 12, 12);
        assert_eq!(cut.text(), "see \n[31 bytes left out]\n so");
    }
}
