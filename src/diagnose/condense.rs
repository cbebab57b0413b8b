use std::collections::VecDeque;
use std::io::{self, Read};

use super::cues::is_telling;

const HEAD: usize = 24 << 20;
const TAIL: usize = 40 << 20;
const MIDDLE: usize = 48 << 20;
const BEFORE: usize = 12;
const AFTER: usize = 40;
const CHUNK: usize = 1 << 20;
const LONGEST_LINE: usize = 4096;

/// Reads a log of any size in bounded memory.
///
/// Of what lies between the first 24 and the last 40 MiB every line is looked at, and those around
/// words that a rule or a runner knows are kept; the others become empty lines, so that line
/// numbers stay those of the log.
///
/// # Errors
///
/// What the input gives.
pub fn read_log(mut input: impl Read) -> io::Result<String> {
    let mut reader = Reader::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return Ok(reader.finish()),
            Ok(count) => reader.push(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[derive(Default)]
struct Reader {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    middle: Middle,
    // The part of a line that left the tail before its end.
    line: Vec<u8>,
}

#[derive(Default)]
struct Middle {
    kept: Vec<u8>,
    before: VecDeque<Vec<u8>>,
    after: usize,
    text: usize,
}

impl Reader {
    fn push(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend(&bytes[room..]);
        if self.tail.len() < TAIL + CHUNK {
            return;
        }
        let surplus = self.tail.len() - TAIL;
        for byte in self.tail.drain(..surplus) {
            if byte == b'\n' {
                self.middle.take(&self.line);
                self.line.clear();
            } else if self.line.len() < LONGEST_LINE {
                self.line.push(byte);
            }
        }
    }

    fn finish(mut self) -> String {
        let mut text = self.head;
        self.middle.flush();
        text.extend_from_slice(&self.middle.kept);
        text.extend_from_slice(&self.line);
        text.extend(self.tail);
        match String::from_utf8(text) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }
}

impl Middle {
    fn take(&mut self, line: &[u8]) {
        let telling = self.text < MIDDLE && is_telling(line);
        if telling {
            while let Some(before) = self.before.pop_front() {
                self.keep(&before);
            }
            self.after = AFTER;
        }
        if telling || self.after > 0 {
            self.after = self.after.saturating_sub(1);
            self.keep(line);
            return;
        }
        self.before.push_back(line.to_vec());
        if self.before.len() > BEFORE {
            self.before.pop_front();
            self.kept.push(b'\n');
        }
    }

    fn keep(&mut self, line: &[u8]) {
        self.text += line.len();
        self.kept.extend_from_slice(line);
        self.kept.push(b'\n');
    }

    fn flush(&mut self) {
        while self.before.pop_front().is_some() {
            self.kept.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read_log;

    #[test]
    fn a_small_log_comes_back_as_it_is() {
        assert_eq!(read_log("a\nb".as_bytes()).unwrap(), "a\nb");
    }

    #[test]
    fn of_a_huge_log_what_tells_stays_under_its_number() {
        let filler = "nothing to see on this line, it only takes up room\n".repeat(1_000_000);
        let log = format!("{filler}ModuleNotFoundError: No module named 'x'\n{filler}last");
        let read = read_log(log.as_bytes()).unwrap();
        assert!(read.len() < log.len());
        assert_eq!(read.lines().count(), log.lines().count());
        assert!(
            read.lines()
                .nth(1_000_000)
                .unwrap()
                .starts_with("ModuleNotFound")
        );
        assert!(read.ends_with("last"));
    }
}
