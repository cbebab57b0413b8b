//! Secrets of several lines: private keys in armor, and the values of Kubernetes secrets.

use std::ops::Range;

use super::credentials::shift;
use super::scan::Hit;
use super::value::{contains, reads_like_words};

const MAX_BYTES: usize = 64 * 1024;

/// Finds private keys and remembers how far it has looked, so that no stretch is searched twice.
#[derive(Debug, Default)]
pub(super) struct KeyBlocks {
    /// No last line of a key is before this place.
    no_end_before: usize,
}

impl KeyBlocks {
    /// Masks the key whose first line starts at `start`, to its last line, or as far as it goes when
    /// the text was cut.
    pub(super) fn mask_below(&mut self, text: &[u8], start: usize, hits: &mut Vec<Hit>) {
        if !is_private(text, start) {
            return;
        }
        let body = end_of_label(text, start);
        let end = self.find_end(text, body);
        let stop = end.unwrap_or(text.len().min(body + MAX_BYTES));
        let mut next = body;
        let lines = text[body..stop].split(|byte| *byte == b'\n').map(|line| {
            let at = next;
            next += line.len() + 1;
            (at, line)
        });
        let found = find_key_lines(lines, end.is_some());
        if !found.is_empty() {
            let labels = [
                Some(start..body),
                end.map(|end| end..end_of_label(text, end)),
            ];
            push_hits(found.into_iter().chain(labels.into_iter().flatten()), hits);
        }
    }

    /// Masks the lines above the last line of a key, which starts at `end`, when the first line is
    /// not in the text.
    pub(super) fn mask_above(text: &[u8], end: usize, hits: &mut Vec<Hit>) {
        if !is_private(text, end) {
            return;
        }
        let from = end.saturating_sub(MAX_BYTES);
        let above = memchr::memrchr(b'\n', &text[from..end]).map_or(from, |at| from + at);
        let mut next = above;
        let lines = text[from..above].rsplit(|byte| *byte == b'\n').map(|line| {
            let at = next - line.len();
            next = at.saturating_sub(1);
            (at, line)
        });
        push_hits(find_key_lines(lines, false).into_iter(), hits);
    }

    fn find_end(&mut self, text: &[u8], body: usize) -> Option<usize> {
        let limit = text.len().min(body + MAX_BYTES);
        let from = body.max(self.no_end_before).min(limit);
        let found = memchr::memmem::find(&text[from..limit], b"-----END").map(|at| from + at);
        if found.is_none() {
            self.no_end_before = limit;
        }
        // Another key begins before: this one was cut.
        found.filter(|end| !contains(&text[body..*end], b"-----BEGIN"))
    }
}

/// Returns the base64 in the lines of a key, whatever is before it: indentation, diff marks,
/// times, paths. Other lines between them are left alone; without the last line of the key they end it.
fn find_key_lines<'t>(
    lines: impl Iterator<Item = (usize, &'t [u8])>,
    has_end: bool,
) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut has_long, mut short) = (false, 0);
    // No key has more lines.
    for (at, line) in lines.take(400) {
        let run = match (find_long_run(line), find_short_run(line)) {
            (Some(run), _) => {
                (has_long, short) = (true, 0);
                run
            }
            (None, Some(run)) if short < 2 => {
                short += 1;
                run
            }
            // Headers of the armor, and the empty line behind them.
            _ if has_end
                || line.len() <= 3
                || contains(line, b"-Info:")
                || contains(line, b"-Type:") =>
            {
                continue;
            }
            _ => break,
        };
        found.push(shift(run, at));
    }
    if !has_long {
        found.clear();
    }
    found
}

/// Finds the base64 at the end of a line, since a path before it may look like some; all of it where a
/// long line holds a whole key with escaped line ends.
fn find_long_run(line: &[u8]) -> Option<Range<usize>> {
    let mut at = 0;
    let runs = line.split(|byte| !is_base64(*byte)).map(|run| {
        let start = at;
        at += run.len() + 1;
        start..start + run.len()
    });
    let runs: Vec<Range<usize>> = runs.filter(|run| run.len() > 1).collect();
    let last = runs.last()?;
    let from = if line.len() >= 200 { 0 } else { runs.len() - 1 };
    let first = runs[from..].iter().find(|run| {
        let run = &line[(*run).clone()];
        let is_varied = run.iter().any(|byte| Some(byte) != run.first());
        // Shortest run of base64 that counts as a line of a key.
        run.len() >= 16 && is_varied && !reads_like_words(run)
    });
    Some(first?.start..last.end)
}

/// Finds the last line of a key, or the checksum behind it.
fn find_short_run(line: &[u8]) -> Option<Range<usize>> {
    let line = line.trim_ascii_end();
    let length = line.iter().rev().take_while(|byte| is_base64(**byte)).count();
    let lead = line.len() - length;
    let is_alone = lead == 0 || b" \t\">|'-+:".contains(&line[lead - 1]);
    let is_run = is_alone && (2..=76).contains(&length) && (length >= 4 || lead < 3);
    is_run.then_some(lead..line.len())
}

fn push_hits(found: impl Iterator<Item = Range<usize>>, hits: &mut Vec<Hit>) {
    hits.extend(found.map(|range| Hit::new("private-key", range)));
}

/// Whether the label of an armor names a private key.
fn is_private(text: &[u8], at: usize) -> bool {
    contains(&text[at..text.len().min(at + 60)], b"PRIVATE KEY")
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

fn end_of_label(text: &[u8], at: usize) -> usize {
    let label = text[at..].iter().take(60);
    let label = label.take_while(|byte| matches!(byte, b'-' | b' ' | b'A'..=b'Z')).count();
    let dashes = text[at..at + label].iter().rposition(|byte| *byte == b'-');
    at + dashes.map_or(label, |dash| dash + 1)
}

/// Masks the values below `data:` and `stringData:` of the Kubernetes secret whose `kind: Secret`
/// is at `kind`. Returns where its document ends.
pub(super) fn mask_manifest(text: &[u8], kind: Range<usize>, hits: &mut Vec<Hit>) -> usize {
    if text.get(kind.end).copied().is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return kind.end;
    }
    let from = kind.start.saturating_sub(MAX_BYTES);
    let start = memchr::memmem::rfind(&text[from..kind.start], b"\n---");
    let start = start.map_or(from, |at| from + at + 1);
    let limit = text.len().min(kind.end + MAX_BYTES);
    let end = memchr::memmem::find(&text[kind.end..limit], b"\n---");
    let end = end.map_or(limit, |at| kind.end + at);
    let mut section = None;
    let mut at = start;
    for line in text[start..end].split(|byte| *byte == b'\n') {
        let indent = line.len() - line.trim_ascii_start().len();
        let body = line.trim_ascii();
        match section {
            _ if body.is_empty() => {}
            Some(outer) if indent > outer => {
                // A line without a key goes on with the block scalar above.
                let colon = memchr::memmem::find(body, b": ").map_or(0, |colon| colon + 2);
                let value = body[colon..].trim_ascii_start();
                let is_set =
                    !matches!(value.first(), None | Some(b'|' | b'>' | b'$' | b'{' | b'#'));
                if is_set && value.len() >= 4 && !value.ends_with(b":") {
                    let end = at + indent + body.len();
                    hits.push(Hit::new("kubernetes-secret", end - value.len()..end));
                }
            }
            _ => section = matches!(body, b"data:" | b"stringData:").then_some(indent),
        }
        at += line.len() + 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    const BODY: &str = "MIIEogIBAAKCAQEAjosMtDUqbE1/8zxZac1t8fkh2SxGuMXHk9yxniyM2m76don";

    fn masked(text: &str) -> String {
        Redactor::default().mask(text)
    }

    #[test]
    fn masks_key_lines_with_prefixes() {
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
    fn keeps_other_lines_in_key() {
        let lines = [
            "-----BEGIN PRIVATE KEY-----", BODY, BODY, "-----END PRIVATE KEY-----",
        ];
        let note = "note: a line of another thread, 3 of 4";
        for foreign in [1, 3, 4] {
            let between = format!("\n{}", format!("{note}\n").repeat(foreign));
            let out = masked(&lines.join(&between));
            assert_eq!(out.matches(note).count(), foreign * 3, "{out}");
            assert!(!out.contains(BODY), "{out}");
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
    fn public_material_is_kept() {
        for label in ["CERTIFICATE", "PUBLIC KEY", "CERTIFICATE REQUEST"] {
            let text = format!("-----BEGIN {label}-----\n{BODY}\n-----END {label}-----\n");
            assert_eq!(masked(&text), text);
        }
        let bare = "use `-----BEGIN PRIVATE KEY-----` and `-----END PRIVATE KEY-----`\nok\n";
        assert_eq!(masked(bare), bare);
    }
}
