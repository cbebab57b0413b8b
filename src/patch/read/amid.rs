//! Finds JSON in prose, tags or fences.

use std::ops::Range;

use super::claims::Rows;
use super::json::{Packet, read_packet};
use super::reader::line_number;

/// Reads JSON that is all of the input. `None` when it is none, or carries no change.
pub(super) fn read_whole(bytes: &[u8]) -> Option<Packet> {
    if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[' | b'"')) {
        return None;
    }
    read_packet(&[(1, serde_json::from_slice(bytes).ok()?)]).filter(Packet::is_read)
}

/// Reads all JSON that opens a line and carries a change, with prose, tags or
/// fences around it; and the rows that it takes.
pub(super) fn find_amid(bytes: &[u8]) -> Option<(Packet, Vec<Range<usize>>)> {
    let mut values = Vec::new();
    let mut spans = Vec::new();
    let rows = Rows::from_bytes(bytes);
    let (mut at, mut read, mut tried) = (0, 0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let blank = line.len() - line.trim_ascii_start().len();
        let from = at + blank;
        at += line.len();
        // What is inside a value that was read is no other one.
        if from < read || !matches!(line.get(blank), Some(b'{' | b'[')) {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_slice(bytes.get(from..)?).into_iter();
        match stream.next() {
            Some(Ok(value)) => {
                let line = line_number(rows.touched_rows(&(from..from + 1)).start);
                let value = [(line, value)];
                if read_packet(&value).is_some() {
                    read = from + stream.byte_offset();
                    spans.push(rows.touched_rows(&(from..read)));
                    values.extend(value);
                } else if from + stream.byte_offset() > at {
                    tried += 1;
                }
            }
            _ => tried += 1,
        }
        // Bounded so that hostile text takes linear time.
        if tried >= MOST_TRIED {
            break;
        }
    }
    Some((read_packet(&values)?, spans))
}

const MOST_TRIED: usize = 16;
