use std::collections::VecDeque;
use std::ops::Range;

use super::cues::Hits;
use super::log::{Log, PassedOver, Run};
use super::rules::UserRules;
use crate::policy::Utf16;

const HEAD: usize = 2 << 20;
const TAIL: usize = 4 << 20;
const MIDDLE: usize = 4 << 20;
// Lines that are kept around one that tells something.
const BEFORE: usize = 12;
const AFTER: usize = 40;
// A line above this is read in pieces.
const LONGEST_LINE: usize = 1 << 20;
// What is kept of a piece around what tells something.
const AROUND: usize = 2000;

/// Reads a log block by block and keeps what [`Log`] promises.
pub(super) struct Reader<'r> {
    rules: &'r UserRules,
    wide: Option<Utf16>,
    started: bool,
    // Bytes after the last line end.
    partial: Vec<u8>,
    tail: VecDeque<Vec<u8>>,
    tail_bytes: usize,
    middle: usize,
    // Lines from here on are still to be kept after one that told something.
    after: usize,
    // The last lines of the block before, which may yet be wanted; they are not counted so far.
    carried: Vec<u8>,
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
    gap: bool,
    bytes: u64,
    passed_over: PassedOver,
}

impl<'r> Reader<'r> {
    pub(super) fn new(rules: &'r UserRules) -> Self {
        Self {
            rules,
            wide: None,
            started: false,
            partial: Vec::new(),
            tail: VecDeque::new(),
            tail_bytes: 0,
            middle: 0,
            after: 0,
            carried: Vec::new(),
            kept: Kept {
                number: 1,
                ..Kept::default()
            },
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.kept.bytes += bytes.len() as u64;
        self.partial.extend_from_slice(bytes);
        if !self.started && self.partial.len() < 4096 {
            return;
        }
        self.start();
        if let Some(end) = self.border() {
            let rest = self.partial.split_off(end);
            let block = std::mem::replace(&mut self.partial, rest);
            self.block(block);
        }
    }

    fn start(&mut self) {
        if !self.started {
            self.started = true;
            self.wide = Utf16::of(&self.partial);
        }
    }

    // Where the whole lines that are there end.
    fn border(&self) -> Option<usize> {
        let after_line = match self.wide {
            None => memchr::memrchr(b'\n', &self.partial).map(|at| at + 1),
            Some(wide) => wide.after_last_line(&self.partial),
        };
        let even = self.partial.len() & !1;
        after_line.or_else(|| (self.partial.len() > LONGEST_LINE).then_some(even))
    }

    fn block(&mut self, block: Vec<u8>) {
        let block = match &mut self.wide {
            None => block,
            Some(wide) => std::mem::replace(wide, wide.without_mark())
                .decode(&block)
                .into_bytes(),
        };
        if self.tail.is_empty() && self.kept.text.len() < HEAD {
            self.kept.keep(&block);
            return;
        }
        self.tail_bytes += block.len();
        self.tail.push_back(block);
        while let Some(first) = self.tail.front().map(Vec::len)
            && self.tail_bytes - first >= TAIL
        {
            self.tail_bytes -= first;
            if let Some(first) = self.tail.pop_front() {
                self.condense(first);
            }
        }
    }

    pub(super) fn finish(mut self) -> Log {
        self.start();
        let rest = std::mem::take(&mut self.partial);
        if !rest.is_empty() {
            self.block(rest);
        }
        let carried = std::mem::take(&mut self.carried);
        self.kept.keep(&carried);
        for block in std::mem::take(&mut self.tail) {
            self.kept.keep(&block);
        }
        let text = String::from_utf8(self.kept.text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let log = Log {
            text,
            runs: self.kept.runs,
            bytes: self.kept.bytes,
            passed_over: self.kept.passed_over,
        };
        log.told_apart()
    }

    // Keeps of a block what stands around telling words.
    fn condense(&mut self, block: Vec<u8>) {
        if block.last() != Some(&b'\n') {
            self.piece(&block);
            return;
        }
        let block = if self.carried.is_empty() {
            block
        } else {
            [std::mem::take(&mut self.carried), block].concat()
        };
        // What is done with, and the end of the stretch that is being kept.
        let mut done = 0;
        let mut open = (self.after > 0).then_some(0);
        let mut last = 0;
        let mut lines = self.after;
        self.after = 0;
        let mut from = 0;
        let mut telling = 0;
        let mut hits = Hits::new(&block, self.rules);
        while let Some(hit) = hits.next(from) {
            let start = memchr::memrchr(b'\n', &block[..hit]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &block[hit..]).map_or(block.len(), |at| hit + at + 1);
            if let Some(begun) = open
                && lines_within(&block[last..start], lines + BEFORE) >= lines + BEFORE
            {
                let close = after_lines(&block, last, lines);
                self.keep(&block, done, begun..close, telling);
                done = close;
                telling = 0;
                open = None;
            }
            telling += 1;
            open.get_or_insert_with(|| before_lines(&block, done, start));
            (last, lines, from) = (end, AFTER, end);
        }
        if let Some(begun) = open {
            let close = after_lines(&block, last, lines);
            self.keep(&block, done, begun..close, telling);
            self.after = lines - lines_within(&block[last..close], lines);
            done = close;
        }
        let carried = before_lines(&block, done, block.len());
        self.kept.pass_over(&block[done..carried]);
        self.carried = block[carried..].to_vec();
    }

    fn keep(&mut self, block: &[u8], done: usize, wanted: Range<usize>, telling: u64) {
        self.kept.pass_over(&block[done..wanted.start]);
        let wanted = &block[wanted];
        if self.middle + wanted.len() <= MIDDLE {
            self.middle += wanted.len();
            self.kept.keep(wanted);
        } else {
            self.kept.passed_over.telling += telling;
            self.kept.pass_over(wanted);
        }
    }

    // A part of a line without an end in sight: what tells something becomes a line of its own, under
    // the number of the line.
    fn piece(&mut self, piece: &[u8]) {
        let carried = std::mem::take(&mut self.carried);
        self.kept.pass_over(&carried);
        let mut at = 0;
        let mut hits = Hits::new(piece, self.rules);
        while let Some(hit) = hits.next(at) {
            let from = hit.saturating_sub(AROUND).max(at);
            let to = (hit + AROUND).min(piece.len());
            self.kept.pass_over(&piece[at..from]);
            if self.middle + to - from > MIDDLE {
                self.kept.passed_over.telling += 1;
                self.kept.pass_over(&piece[from..to]);
            } else {
                self.middle += to - from;
                self.kept.gap = true;
                self.kept.keep(&piece[from..to]);
                self.kept.end_line();
            }
            at = to;
        }
        self.kept.pass_over(&piece[at..]);
    }
}

impl Kept {
    fn keep(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if std::mem::take(&mut self.gap) {
            if self.text.last().is_some_and(|last| *last != b'\n') {
                self.end_line();
            }
            self.runs.push(Run {
                from: self.index,
                number: self.number,
            });
        }
        let lines = memchr::memchr_iter(b'\n', bytes).count();
        self.index += lines;
        self.number += lines as u64;
        self.text.extend_from_slice(bytes);
    }

    // A line of the kept text ends where the log's goes on.
    fn end_line(&mut self) {
        self.text.push(b'\n');
        self.index += 1;
        self.gap = true;
    }

    fn pass_over(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.number += lines;
        self.passed_over.lines += lines;
        self.passed_over.bytes += bytes.len() as u64;
        self.gap = true;
    }
}

// How many lines end in the bytes, counted up to `most`.
fn lines_within(bytes: &[u8], most: usize) -> usize {
    memchr::memchr_iter(b'\n', bytes).take(most).count()
}

// Where `count` lines from `from` on end.
fn after_lines(block: &[u8], from: usize, count: usize) -> usize {
    let Some(last) = count.checked_sub(1) else {
        return from;
    };
    memchr::memchr_iter(b'\n', &block[from..])
        .nth(last)
        .map_or(block.len(), |at| from + at + 1)
}

// Where the lines begin that stand before the line at `start`, not before `floor`.
fn before_lines(block: &[u8], floor: usize, start: usize) -> usize {
    memchr::memrchr_iter(b'\n', &block[floor..start])
        .nth(BEFORE)
        .map_or(floor, |at| floor + at + 1)
}
