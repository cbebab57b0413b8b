use std::ops::Range;

use super::scan::Hit;
use super::value::reads_like_words;

const RULE: &str = "private-key";
const MAX_LINES: usize = 400;
// Lines are looked at for so many bytes at most.
const MAX_LINE: usize = 32 * 1024;
// Shortest piece of a line that counts as part of a key.
const MIN_PIECE: usize = 16;
// Lines of something else that may stand together between those of a key, as where the output of
// threads is mixed.
const MAX_FOREIGN: usize = 3;

/// The lines of a private key in armour whose first line starts at `at`, to its last line or as far
/// as it goes when the text ends early. Works through indentation, diff marks, time stamps and paths
/// before the lines.
pub(super) fn private_key(text: &[u8], at: usize, hits: &mut Vec<Hit>) {
    let first = at..line_end(text, at);
    let Some(line) = text.get(first.clone()) else {
        return;
    };
    if line.starts_with(b"Private-Lines") {
        putty(text, first, hits);
        return;
    }
    let label = line.get(..80).unwrap_or(line);
    let Some(marker) = memchr::memmem::find(label, b"PRIVATE KEY") else {
        return;
    };
    let rest = line.get(marker..).unwrap_or_default();
    let open = memchr::memmem::find(rest, b"-----").map_or(rest.len(), |dashes| dashes + 5);
    let body = rest.get(open..).unwrap_or_default();
    // The whole key on one line, its line ends escaped or replaced by blanks: the next dashes are
    // those of its last line.
    if let Some(length) = memchr::memmem::find(body, b"-----") {
        let (inside, close) = body.split_at(length);
        if close.starts_with(b"-----END") && piece(inside).is_some() {
            let named = |byte: &&u8| matches!(byte, b'-' | b' ') || byte.is_ascii_uppercase();
            let tail = close.iter().take(60).take_while(named).count();
            hits.push(hit(at..at + marker + open + length + tail));
        }
        return;
    }
    let mut pieces = usize::from(piece(body).is_some());
    let prefix = text.get(line_start(text, at)..at).unwrap_or_default();
    let last = last_line(text, first.end + 1);
    let mut next = first.end + 1;
    let mut found = vec![first];
    let (mut foreign, mut short) = (0, 0);
    for _ in 0..MAX_LINES {
        let end = line_end(text, next);
        let Some(line) = text.get(next..end) else {
            break;
        };
        if last.as_ref().is_some_and(|last| last.start < end) {
            found.extend(last);
            break;
        }
        let lead = behind(prefix, line);
        let body = line.get(lead..).unwrap_or_default();
        let whole = piece(body);
        // Only the last line of a key, and the check sum behind it, are short.
        let tail = || last_piece(body).filter(|_| pieces > 0 && short < 2);
        if let Some(range) = whole.clone().or_else(tail) {
            pieces += 1;
            short = if whole.is_some() { 0 } else { short + 1 };
            foreign = if whole.is_some() { 0 } else { foreign };
            found.push(next + lead + range.start..next + lead + range.end);
        } else if !is_key_header(body) {
            foreign += 1;
            if last.is_none() || foreign > MAX_FOREIGN {
                break;
            }
        }
        next = end + 1;
    }
    if pieces > 0 {
        hits.extend(found.into_iter().map(hit));
    }
}

// The last line of the key whose lines start at `from`, from its dashes on.
fn last_line(text: &[u8], from: usize) -> Option<Range<usize>> {
    let mut next = from;
    for _ in 0..MAX_LINES {
        let end = line_end(text, next);
        let line = text.get(next..end)?;
        if let Some(close) = memchr::memmem::find(line, b"-----END") {
            return Some(next + close..end);
        }
        if memchr::memmem::find(line, b"-----BEGIN").is_some() {
            return None;
        }
        next = end + 1;
    }
    None
}

// Where a line of a key goes on behind what stands before its first or last line too: a path, a
// time, the name of a job.
fn behind(prefix: &[u8], line: &[u8]) -> usize {
    let same = prefix.iter().zip(line).take_while(|(a, b)| a == b).count();
    let shared = line.get(..same).unwrap_or_default();
    let mark = shared.iter().rposition(|byte| !is_base64(*byte));
    mark.map_or(0, |mark| mark + 1)
}

/// The lines of a key above its last line, which starts at `at`, when its first line is not in the
/// text.
pub(super) fn key_above(text: &[u8], at: usize, hits: &mut Vec<Hit>) {
    let label = text.get(at..line_end(text, at)).unwrap_or_default();
    let label = label.get(..60).unwrap_or(label);
    if memchr::memmem::find(label, b"PRIVATE KEY").is_none() {
        return;
    }
    let mut found = Vec::new();
    let mut pieces = 0;
    let mut end = line_start(text, at);
    let prefix = text.get(end..at).unwrap_or_default();
    for _ in 0..MAX_LINES {
        let Some(last) = end.checked_sub(1) else {
            break;
        };
        let start = line_start(text, last);
        let line = text.get(start..last).unwrap_or_default();
        let from = start + behind(prefix, line);
        let body = text.get(from..last).unwrap_or_default();
        let whole = piece(body);
        pieces += usize::from(whole.is_some());
        // Only the last line of a key is short.
        let Some(range) = whole.or_else(|| last_piece(body).filter(|_| found.is_empty())) else {
            break;
        };
        found.push(hit(from + range.start..from + range.end));
        end = start;
    }
    if pieces > 0 {
        hits.extend(found);
    }
}

// `Private-Lines: N` and the N lines after it, or the rest of the line when the line ends are gone.
fn putty(text: &[u8], first: Range<usize>, hits: &mut Vec<Hit>) {
    let line = text.get(first.clone()).unwrap_or_default();
    let lead = b"Private-Lines: ".len();
    let count = line.get(lead..).unwrap_or_default();
    let digits = count
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let rest = count.get(digits..).unwrap_or_default();
    if piece(rest).is_some() {
        let end = memchr::memmem::find(rest, b"Private-MAC").unwrap_or(rest.len());
        let start = first.start + lead + digits;
        hits.push(hit(start..start + end));
        return;
    }
    let count = count
        .get(..digits)
        .and_then(|count| std::str::from_utf8(count).ok());
    let count = count
        .and_then(|count| count.parse().ok())
        .unwrap_or(0_usize);
    let mut next = first.end + 1;
    for _ in 0..count.min(MAX_LINES) {
        let end = line_end(text, next);
        let Some(line) = text.get(next..end) else {
            break;
        };
        let Some(range) = piece(line).or_else(|| last_piece(line)) else {
            break;
        };
        hits.push(hit(next + range.start..next + range.end));
        next = end + 1;
    }
}

fn hit(range: Range<usize>) -> Hit {
    Hit::new(RULE, range)
}

fn line_end(text: &[u8], from: usize) -> usize {
    let most = text.len().min(from.saturating_add(MAX_LINE));
    let rest = text.get(from..most).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(most.max(from), |at| from + at)
}

fn line_start(text: &[u8], at: usize) -> usize {
    let least = at.saturating_sub(4096);
    let before = text.get(least..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(least, |found| least + found + 1)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

// The longest piece of base64 in a line; a path or a long name is none.
fn piece(line: &[u8]) -> Option<Range<usize>> {
    let mut best = 0..0;
    let mut start = 0;
    for at in 0..=line.len() {
        if !line.get(at).copied().is_some_and(is_base64) {
            let run = line.get(start..at).unwrap_or_default();
            if run.len() > best.len() && !reads_like_words(run) {
                best = start..at;
            }
            start = at + 1;
        }
    }
    let bytes = line.get(best.clone())?;
    let first = bytes.first()?;
    let varied = bytes.iter().any(|byte| byte != first);
    (best.len() >= MIN_PIECE && varied && best.start <= 120).then_some(best)
}

// A last, short line of base64.
fn last_piece(line: &[u8]) -> Option<Range<usize>> {
    let line = line.trim_ascii_end();
    let base64 = |byte: &&u8| is_base64(**byte);
    let length = line.iter().rev().take_while(base64).count();
    let lead = line.len() - length;
    let before = lead.checked_sub(1).and_then(|at| line.get(at));
    let alone = before.is_none_or(|byte| b" \t\">|'-+".contains(byte));
    let long = length >= 4 || (length >= 2 && lead < 3);
    (alone && long && lead <= 60).then_some(lead..line.len())
}

fn is_key_header(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let heads = [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:"];
    line.len() <= 3
        || heads
            .iter()
            .any(|head| memchr::memmem::find(line, head).is_some())
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    const BODY: &str = "MIIEogIBAAKCAQEAjosMtDUqbE1/8zxZac1t8fkh2SxGuMXHk9yxniyM2m76don";

    fn masked(text: &str) -> String {
        Redactor::default().redact(text).text.into_owned()
    }

    #[test]
    fn keys_are_masked_line_by_line_behind_any_prefix() {
        let path =
            "/home/ci/work/project/project/tests/fixtures/certificates/server/private/py312/key:";
        let wide = format!("{} ", "x".repeat(130));
        for prefix in [
            "",
            "    ",
            "+",
            "2026-01-02T03:04:05.123Z ",
            "\u{1b}[33m",
            path,
            "integration/tests/for/the/whole/project/on/the/latest/build of it: ",
            &wide,
        ] {
            let key = format!(
                "a\n{prefix}-----BEGIN RSA PRIVATE KEY-----\n{prefix}{BODY}\n{prefix}{BODY}\n{prefix}Yk0=\n\
                 {prefix}-----END RSA PRIVATE KEY-----\nb\n"
            );
            let out = masked(&key);
            assert!(
                !out.contains(BODY) && !out.contains("Yk0=") && !out.contains("BEGIN"),
                "{out}"
            );
            assert!(
                out.starts_with("a\n") && out.ends_with("\nb\n") && out.lines().count() == 7,
                "{out}"
            );
        }
    }

    #[test]
    fn parts_of_keys_are_masked_too() {
        let cut = format!("-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}");
        let tail = format!("{BODY}\n{BODY}\n-----END PRIVATE KEY-----\n");
        let escaped = format!(
            "{{\"key\":\"-----BEGIN EC PRIVATE KEY-----\\n{BODY}\\n-----END EC PRIVATE KEY-----\\n\"}}"
        );
        for text in [cut, tail, escaped] {
            assert!(!masked(&text).contains(BODY), "{text}");
        }
    }

    #[test]
    fn other_lines_between_those_of_a_key_are_kept() {
        let lines = [
            "-----BEGIN PRIVATE KEY-----",
            BODY,
            BODY,
            "-----END PRIVATE KEY-----",
        ];
        let note = "note: a line of another thread, 3 of 4";
        for (foreign, left) in [(1, 0), (3, 0), (4, 2)] {
            let between = format!("\n{}", format!("{note}\n").repeat(foreign));
            let out = masked(&lines.join(&between));
            assert_eq!(out.matches(note).count(), foreign * 3, "{out}");
            assert_eq!(out.matches(BODY).count(), left, "{out}");
        }
        // A key that was cut ends with its first short line.
        let cut = format!("-----BEGIN PRIVATE KEY-----\n{BODY}\nYk0=\none\ntwo words\nand more\n");
        let out = masked(&cut);
        assert!(
            !out.contains("Yk0=") && out.ends_with("\ntwo words\nand more\n"),
            "{out}"
        );
    }

    #[test]
    fn putty_keys_are_masked_in_any_layout() {
        let lines = format!("Private-Lines: 2\n{BODY}\n{BODY}\nPrivate-MAC: 00\n");
        for text in [
            lines.clone(),
            lines.replace('\n', " "),
            lines.replace('\n', "\\n"),
            lines
                .lines()
                .map(|line| format!("\"{line}\\n\" +\n"))
                .collect(),
        ] {
            let out = masked(&text);
            assert!(!out.contains(BODY) && out.contains("Private-MAC"), "{out}");
        }
    }

    #[test]
    fn public_material_is_kept() {
        for label in ["CERTIFICATE", "PUBLIC KEY", "CERTIFICATE REQUEST"] {
            let text = format!("-----BEGIN {label}-----\n{BODY}\n-----END {label}-----\n");
            assert_eq!(masked(&text), text);
        }
        let bare = "use `-----BEGIN PRIVATE KEY-----` and `-----END PRIVATE KEY-----`\nok\n";
        assert_eq!(masked(bare), bare);
    }
}
