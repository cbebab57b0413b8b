use std::ops::Range;

use super::scan::Hit;

const RULE: &str = "private-key";
const MAX_LINES: usize = 400;
// Shortest piece of a line that counts as part of a key.
const MIN_PIECE: usize = 16;

/// The lines of a private key in armour, from its first line to its last or as far as it goes when
/// the text ends early. Works through indentation, diff marks and time stamps before the lines.
pub(super) fn private_key(text: &[u8], at: usize, hits: &mut Vec<Hit>) {
    let Some(first) = text.get(at..line_end(text, at)) else {
        return;
    };
    if first.starts_with(b"Private-Lines") {
        putty(text, at, hits);
        return;
    }
    let label = first.get(..first.len().min(80)).unwrap_or_default();
    let Some(marker) = memchr::memmem::find(label, b"PRIVATE KEY") else {
        return;
    };
    // The whole key on one line, its line ends escaped or replaced by blanks.
    let body = at + marker;
    let line = body..line_end(text, at);
    if let Some(end) = text
        .get(line.clone())
        .and_then(|rest| memchr::memmem::find(rest, b"-----END"))
    {
        let inside = text.get(body..body + end).unwrap_or_default();
        if piece(inside).is_some() {
            let close = text.get(body + end..line.end).unwrap_or_default();
            let tail =
                memchr::memmem::find(close, b"KEY").map_or(close.len().min(40), |key| key + 3);
            let dashes = close
                .get(tail..)
                .unwrap_or_default()
                .iter()
                .take_while(|byte| matches!(byte, b'-' | b' ') || byte.is_ascii_uppercase())
                .count();
            hits.push(hit(at..body + end + tail + dashes));
        }
        return;
    }
    let mut found = vec![at..line.end];
    if let Some(rest) = text
        .get(line.clone())
        .and_then(|rest| piece(rest.get(16..).unwrap_or_default()))
    {
        found.push(line.start + 16 + rest.start..line.start + 16 + rest.end);
    }
    let mut next = line.end + 1;
    for _ in 0..MAX_LINES {
        let end = line_end(text, next);
        let Some(line) = text.get(next..end) else {
            break;
        };
        if let Some(close) = memchr::memmem::find(line, b"-----END") {
            found.push(next + close..end);
            break;
        }
        let inner = piece(line).or_else(|| last_piece(line).filter(|_| found.len() > 1));
        match inner {
            Some(range) => found.push(next + range.start..next + range.end),
            None if is_key_header(line) => {}
            None => break,
        }
        next = end + 1;
    }
    if found.len() > 2
        || (found.len() == 2
            && found.last().is_some_and(|range| {
                range.len() >= MIN_PIECE
                    && text
                        .get(range.clone())
                        .is_some_and(|line| !line.starts_with(b"-----END"))
            }))
    {
        hits.extend(found.into_iter().map(hit));
    }
}

/// The lines of a key above its last line, when its first line is not in the text.
pub(super) fn key_above(text: &[u8], at: usize, hits: &mut Vec<Hit>) {
    let label = text.get(at..text.len().min(at + 60)).unwrap_or_default();
    if memchr::memmem::find(label, b"PRIVATE KEY").is_none() {
        return;
    }
    let mut end = line_start(text, at);
    for _ in 0..MAX_LINES {
        let Some(last) = end.checked_sub(1) else {
            break;
        };
        let start = line_start(text, last);
        let Some(range) = text.get(start..last).and_then(piece) else {
            break;
        };
        hits.push(hit(start + range.start..start + range.end));
        end = start;
    }
}

// `Private-Lines: N` and the N lines after it.
fn putty(text: &[u8], at: usize, hits: &mut Vec<Hit>) {
    let end = line_end(text, at);
    let Some(line) = text.get(at..end) else {
        return;
    };
    let Some(count) = line.strip_prefix(b"Private-Lines:") else {
        return;
    };
    let count = std::str::from_utf8(count.trim_ascii())
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0_usize);
    let mut next = end + 1;
    for _ in 0..count.min(MAX_LINES) {
        let end = line_end(text, next);
        let Some(range) = text.get(next..end).and_then(last_piece) else {
            break;
        };
        hits.push(hit(next + range.start..next + range.end));
        next = end + 1;
    }
}

fn hit(range: Range<usize>) -> Hit {
    Hit {
        start: range.start,
        end: range.end,
        rule: RULE,
    }
}

fn line_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len().max(from), |at| from + at)
}

fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', text.get(..at).unwrap_or_default()).map_or(0, |found| found + 1)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

// The longest piece of base64 in a line, with its neighbours up to the end of the line.
fn piece(line: &[u8]) -> Option<Range<usize>> {
    let mut best = 0..0;
    let mut start = 0;
    for at in 0..=line.len() {
        if !line.get(at).copied().is_some_and(is_base64) {
            if at - start > best.len() {
                best = start..at;
            }
            start = at + 1;
        }
    }
    let bytes = line.get(best.clone())?;
    let varied = bytes
        .iter()
        .any(|byte| *byte != bytes.first().copied().unwrap_or(0));
    (best.len() >= MIN_PIECE && varied && best.start <= 120).then_some(best)
}

// A last, short line of base64.
fn last_piece(line: &[u8]) -> Option<Range<usize>> {
    let end = line.trim_ascii_end().len();
    let line = line.get(..end)?;
    let length = line
        .iter()
        .rev()
        .take_while(|byte| is_base64(**byte))
        .count();
    let rest = line.get(..end - length)?;
    let alone = rest.is_empty()
        || rest
            .last()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'"' | b'>' | b'|' | b'\'' | b'-'));
    (length >= 2 && alone && rest.len() <= 60 && (rest.len() < 3 || length >= 4))
        .then_some(end - length..end)
}

fn is_key_header(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty()
        || [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:"]
            .iter()
            .any(|head| memchr::memmem::find(line, head).is_some())
        || line.len() <= 3
}
