use serde_json::Value;

use super::json::{DEEPEST, Packet, packet};
use super::literal::strict;
use super::turns::Turns;

/// Reads JSON that is all of the input. `None` when it is none, or carries no change.
pub(super) fn whole(bytes: &[u8]) -> Option<Packet> {
    if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return None;
    }
    packet(&serde_json::from_slice(bytes).ok()?)
}

/// As [`whole`], for JSON that is nearly such: trailing commas, line feeds in strings, or a literal of
/// Python or JavaScript.
pub(super) fn nearly(bytes: &[u8]) -> Option<Packet> {
    let text = std::str::from_utf8(bytes).ok()?;
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?;
    let text = text.get(start..=end).filter(|it| it.len() < MOST_MENDED)?;
    packet(&serde_json::from_str(&strict(text)?).ok()?)
}

// Longer ones are not read a second time.
const MOST_MENDED: usize = 1 << 20;

/// Reads all JSON that opens a line, or a call in Mistral's form, and carries a change, with prose, tags or
/// fences around it.
pub(super) fn amid(bytes: &[u8]) -> Option<Packet> {
    let mut values = Vec::new();
    let (mut at, mut read, mut tried) = (0, 0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let call = memchr::memmem::find(line, CALL).filter(|_| line.starts_with(b"[TOOL_CALLS]"));
        let blank = line.len() - line.trim_ascii_start().len();
        let blank = call.map_or(blank, |at| at + CALL.len());
        let from = at + blank;
        at += line.len();
        // What stands inside a value that was read is no other one.
        if from < read || !matches!(line.get(blank), Some(b'{' | b'[')) {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_slice(bytes.get(from..)?).into_iter();
        match stream.next() {
            Some(Ok(value)) if carries(&value) => {
                read = from + stream.byte_offset();
                values.push(value);
            }
            // A turn of a transcript, which costs no second look.
            Some(Ok(_)) if from + stream.byte_offset() <= at => {}
            // The bound keeps hostile text linear.
            _ => {
                tried += 1;
                if tried == MOST_TRIED {
                    break;
                }
            }
        }
    }
    match values.as_slice() {
        [] => None,
        [one] => packet(one),
        _ => packet(&Value::Array(values)),
    }
}

fn carries(value: &Value) -> bool {
    packet(value).is_some() || Turns::of(value, DEEPEST).tells_of_failures()
}

const MOST_TRIED: usize = 16;

const CALL: &[u8] = b"[ARGS]";
