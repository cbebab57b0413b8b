//! Finds JSON in prose, tags or fences.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};
use serde_json::Value;

use super::json::{Packet, read_packet};
use crate::patch::set::line_number;
use crate::patch::text::Text;

/// Reads input that is JSON as a whole. `None` for other input, or JSON without a change.
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
    let rows = Text::new(bytes);
    let (mut at, mut read, mut tried) = (0, 0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let blank = line.len() - line.trim_ascii_start().len();
        let from = at + blank;
        at += line.len();
        // What is inside a value that was read is no other one.
        if from < read || !matches!(line.get(blank), Some(b'{' | b'[')) {
            continue;
        }
        match parse_value(bytes.get(from..)?) {
            Some((value, length)) => {
                let line = line_number(rows.touched_rows(&(from..from + 1)).start);
                let value = [(line, value)];
                if read_packet(&value).is_some() {
                    read = from + length;
                    spans.push(rows.touched_rows(&(from..read)));
                    values.extend(value);
                } else if from + length > at {
                    tried += 1;
                }
            }
            None => tried += 1,
        }
        // Bounded so that hostile text takes linear time.
        if tried >= 16 {
            break;
        }
    }
    Some((read_packet(&values)?, spans))
}

/// Reads the value that a text opens with, and how many bytes it takes: JSON, or what becomes JSON with other quotes,
/// constants, commas and line ends.
fn parse_value(text: &[u8]) -> Option<(Value, usize)> {
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter();
    if let Some(Ok(value)) = stream.next() {
        return Some((value, stream.byte_offset()));
    }
    let (json, length) = write_strictly(text)?;
    Some((serde_json::from_slice(&json).ok()?, length))
}

/// What differs between JSON and its relatives: strings in either quotes, a comma before a closing bracket, constants.
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let strings = r#""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"#;
    Regex::new(&format!(
        r"(?s-u){strings}|,\s*[}}\]]|[{{}}\[\]]|\b(?:True|False|None)\b"
    ))
    .ok()
});

/// What a string of JSON writes in another way.
static UNESCAPED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?s-u)\\.|"|[\x00-\x1f]"#).ok());

/// Rewrites the value that a text opens with as strict JSON, and counts the bytes that it takes. `None` where it does
/// not end.
fn write_strictly(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut out, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for token in TOKEN.as_ref()?.find_iter(text) {
        out.extend_from_slice(text.get(from..token.start())?);
        from = token.end();
        match token.as_bytes() {
            [b'"' | b'\'', string @ .., _] => out.extend(write_string(string)?),
            b"None" => out.extend(b"null"),
            word @ (b"True" | b"False") => out.extend(word.to_ascii_lowercase()),
            [.., bracket @ (b'}' | b']')] => {
                out.push(*bracket);
                depth = depth.checked_sub(1)?;
            }
            bracket => {
                out.extend_from_slice(bracket);
                depth += 1;
            }
        }
        if depth == 0 {
            return Some((out, from));
        }
    }
    None
}

fn write_string(string: &[u8]) -> Option<Vec<u8>> {
    let inner = UNESCAPED.as_ref()?.replace_all(string, |found: &Captures<'_>| match &found[0] {
        br"\'" => b"'".to_vec(),
        b"\"" => br#"\""#.to_vec(),
        [byte @ 0..b' '] => format!("\\u{byte:04x}").into_bytes(),
        escaped => escaped.to_vec(),
    });
    Some([b"\"", &*inner, b"\""].concat())
}
