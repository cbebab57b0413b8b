use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;

use super::cues::word;
use super::log::{Log, PassedOver, Run};
use super::rules::UserRules;
use crate::policy::Utf16;

const HEAD: usize = 2 << 20;
const TAIL: usize = 4 << 20;
const MIDDLE: usize = 4 << 20;
// What is read at a time.
const CHUNK: usize = 1 << 20;
// Lines that are kept around one that tells something.
const BEFORE: usize = 12;
const AFTER: usize = 40;
// Of a line above this only what stands around telling words is kept, so many bytes.
const LONGEST_LINE: usize = 1 << 18;
const AROUND: usize = 2000;

/// Reads a log chunk by chunk and keeps what [`Log::read`] promises.
pub(super) fn condensed(mut input: impl Read, rules: &UserRules) -> io::Result<Log> {
    let mut reader = Reader {
        rules,
        last: Vec::new(),
        middle: 0,
        after: 0,
        kept: Kept {
            number: 1,
            ..Kept::default()
        },
    };
    let mut wide = None;
    loop {
        let mut chunk = Vec::new();
        input.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            return Ok(reader.finish());
        }
        if reader.kept.bytes == 0 {
            wide = Utf16::detect(&chunk);
        }
        reader.kept.bytes += chunk.len() as u64;
        if let Some(wide) = &mut wide {
            let here = std::mem::replace(wide, wide.without_mark());
            chunk = here.decode(&chunk).into_bytes();
        }
        reader.push(chunk);
    }
}

struct Reader<'r> {
    rules: &'r UserRules,
    // The end of what was read so far, and before it lines that may yet be wanted.
    last: Vec<u8>,
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
    gap: bool,
    bytes: u64,
    passed_over: PassedOver,
}

impl Reader<'_> {
    fn push(&mut self, mut chunk: Vec<u8>) {
        self.last.append(&mut chunk);
        if self.last.len() < TAIL + CHUNK {
            return;
        }
        let far = self.last.len() - TAIL;
        let end = memchr::memrchr(b'\n', &self.last[..far]).map_or(far, |at| at + 1);
        let tail = self.last.split_off(end);
        let block = std::mem::replace(&mut self.last, tail);
        if self.kept.text.len() < HEAD {
            self.kept.keep(&block);
        } else {
            let wanted = self.condense(&block);
            self.last.splice(0..0, block[wanted..].iter().copied());
        }
    }

    fn finish(mut self) -> Log {
        self.kept.keep(&self.last);
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

    // Keeps of a block what stands around telling words; says where the lines at its end begin for which
    // what comes next may ask.
    fn condense(&mut self, block: &[u8]) -> usize {
        let mut waiting: VecDeque<Range<usize>> = VecDeque::new();
        let mut from = 0;
        while from < block.len() {
            let end = memchr::memchr(b'\n', &block[from..]).map_or(block.len(), |at| from + at + 1);
            let line = from..end;
            from = end;
            let text = &block[line.clone()];
            let own = |rule: &regex::bytes::Regex| rule.is_match(text);
            let tells = word(text, 0).is_some() || self.rules.raw.iter().any(own);
            let long = line.len() > LONGEST_LINE;
            if tells {
                self.after = AFTER + 1;
            }
            if tells || long {
                for before in waiting.drain(..) {
                    self.keep(&block[before], false);
                }
            }
            if long {
                self.piece(text);
            } else if self.after > 0 {
                self.keep(text, tells);
                self.after -= 1;
            } else {
                waiting.push_back(line);
                if waiting.len() > BEFORE
                    && let Some(before) = waiting.pop_front()
                {
                    self.kept.pass_over(&block[before]);
                }
            }
        }
        waiting.front().map_or(block.len(), |it| it.start)
    }

    // Whether there was room.
    fn keep(&mut self, wanted: &[u8], tells: bool) -> bool {
        let has_room = self.middle + wanted.len() <= MIDDLE;
        if has_room {
            self.middle += wanted.len();
            self.kept.keep(wanted);
        } else {
            self.kept.passed_over.telling += u64::from(tells);
            self.kept.pass_over(wanted);
        }
        has_room
    }

    // What tells something becomes a line of its own, under the number of the line.
    fn piece(&mut self, piece: &[u8]) {
        let mut at = 0;
        while let Some(hit) = word(piece, at) {
            let from = hit.saturating_sub(AROUND).max(at);
            let to = (hit + AROUND).min(piece.len());
            self.kept.pass_over(&piece[at..from]);
            self.kept.gap = true;
            if self.keep(&piece[from..to], true) {
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
