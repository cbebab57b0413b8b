use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use super::cues::word;
use super::log::{Log, PassedOver, Run};
use super::rules::UserRules;
use crate::policy::decode_utf16;

// What is kept of a huge log: its start, its end, and in between what stands around telling words.
const HEAD: usize = 2 << 20;
const TAIL: usize = 4 << 20;
const MIDDLE: usize = 4 << 20;
// Lines that are kept around one that tells something.
const BEFORE: usize = 12;
const AFTER: usize = 40;
// Longer lines are read in pieces, of which what stands around the first telling word is kept.
const LONGEST_PIECE: usize = 1 << 16;
const AROUND: usize = 2000;

/// Reads a log line by line and keeps what [`Log::read`] promises.
pub(super) fn condensed(mut input: impl Read, rules: &UserRules) -> io::Result<Log> {
    let mut start = vec![0; 1 << 16];
    let mut length = 0;
    while length < start.len() {
        match input.read(&mut start[length..])? {
            0 => break,
            count => length += count,
        }
    }
    start.truncate(length);
    let mut condenser = Condenser {
        rules,
        tail: VecDeque::new(),
        tail_bytes: 0,
        waiting: VecDeque::new(),
        middle: 0,
        after: 0,
        kept: Kept {
            number: 1,
            ..Kept::default()
        },
    };
    if decode_utf16(&start).is_some() {
        input.read_to_end(&mut start)?;
        condenser.kept.bytes = start.len() as u64;
        let text = decode_utf16(&start).unwrap_or_default();
        condenser.read_lines(text.as_bytes())?;
    } else {
        let bytes = condenser.read_lines(BufReader::with_capacity(1 << 20, start.chain(input)))?;
        condenser.kept.bytes = bytes;
    }
    Ok(condenser.finish())
}

struct Condenser<'r> {
    rules: &'r UserRules,
    // The end of what was read so far.
    tail: VecDeque<Vec<u8>>,
    tail_bytes: usize,
    // Lines that what comes next may ask for.
    waiting: VecDeque<Vec<u8>>,
    middle: usize,
    // Lines from here on are still to be kept after one that told something.
    after: usize,
    kept: Kept,
}

#[derive(Default)]
struct Kept {
    text: Vec<u8>,
    runs: Vec<Run>,
    // Index of the next kept line, and the number of the next line of the log.
    index: usize,
    number: u64,
    // Whether lines were passed over since the last kept one.
    has_gap: bool,
    bytes: u64,
    passed_over: PassedOver,
}

impl Condenser<'_> {
    fn read_lines(&mut self, mut input: impl BufRead) -> io::Result<u64> {
        let mut bytes = 0;
        loop {
            let mut piece = Vec::new();
            let mut limited = input.by_ref().take(LONGEST_PIECE as u64);
            if limited.read_until(b'\n', &mut piece)? == 0 {
                return Ok(bytes);
            }
            bytes += piece.len() as u64;
            self.push(piece);
        }
    }

    fn push(&mut self, piece: Vec<u8>) {
        self.tail_bytes += piece.len();
        self.tail.push_back(piece);
        while self.tail_bytes > TAIL
            && let Some(oldest) = self.tail.pop_front()
        {
            self.tail_bytes -= oldest.len();
            if self.kept.text.len() < HEAD {
                self.kept.keep(&oldest);
            } else {
                self.settle(oldest);
            }
        }
    }

    // Keeps a line between head and tail where it, or one near it, tells something.
    fn settle(&mut self, piece: Vec<u8>) {
        let hit = word(&piece, 0);
        let tells = hit.is_some() || self.rules.raw.iter().any(|rule| rule.is_match(&piece));
        if tells {
            self.after = AFTER + 1;
            for before in std::mem::take(&mut self.waiting) {
                self.keep(&before, false);
            }
        }
        if self.after == 0 {
            self.waiting.push_back(piece);
            if self.waiting.len() > BEFORE
                && let Some(oldest) = self.waiting.pop_front()
            {
                self.kept.pass_over(&oldest);
            }
            return;
        }
        self.after -= 1;
        if piece.len() < LONGEST_PIECE {
            self.keep(&piece, tells);
            return;
        }
        let from = hit.unwrap_or(0).saturating_sub(AROUND);
        let to = (from + 2 * AROUND).min(piece.len());
        self.kept.pass_over(&piece[..from]);
        self.keep(&piece[from..to], tells);
        self.kept.pass_over(&piece[to..]);
    }

    fn keep(&mut self, piece: &[u8], tells: bool) {
        if self.middle + piece.len() <= MIDDLE {
            self.middle += piece.len();
            self.kept.keep(piece);
        } else {
            self.kept.passed_over.telling += u64::from(tells);
            self.kept.pass_over(piece);
        }
    }

    fn finish(mut self) -> Log {
        for piece in std::mem::take(&mut self.waiting) {
            self.kept.pass_over(&piece);
        }
        for piece in &self.tail {
            self.kept.keep(piece);
        }
        let text = String::from_utf8(self.kept.text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let log = Log {
            text,
            runs: self.kept.runs,
            bytes: self.kept.bytes,
            passed_over: self.kept.passed_over,
        };
        log.demultiplex()
    }
}

impl Kept {
    fn keep(&mut self, piece: &[u8]) {
        if std::mem::take(&mut self.has_gap) {
            if self.text.last().is_some_and(|last| *last != b'\n') {
                self.text.push(b'\n');
                self.index += 1;
            }
            self.runs.push(Run {
                from: self.index,
                number: self.number,
            });
        }
        let lines = usize::from(piece.ends_with(b"\n"));
        self.index += lines;
        self.number += lines as u64;
        self.text.extend_from_slice(piece);
    }

    fn pass_over(&mut self, piece: &[u8]) {
        let lines = u64::from(piece.ends_with(b"\n"));
        self.number += lines;
        self.passed_over.lines += lines;
        self.passed_over.bytes += piece.len() as u64;
        self.has_gap |= !piece.is_empty();
    }
}
