//! Secrets of several lines: private keys in armor, and the values of Kubernetes secrets.

use std::ops::Range;

use super::scan::Hit;
use super::value::{contains, reads_like_words};

const MAX_LINES: usize = 400;
const MAX_BYTES: usize = 64 * 1024;
// Shortest run of base64 that counts as a line of a key.
const MIN_RUN: usize = 16;

/// Finds private keys and remembers how far it has looked, so that no stretch is searched twice.
#[derive(Debug, Default)]
pub(super) struct KeyBlocks {
    /// No last line of a key stands before this place.
    no_end_before: usize,
}

impl KeyBlocks {
    /// Masks the key whose first line starts at `start`, to its last line, or as far as it goes when
    /// the text was cut. Works through indentation, diff marks, times and paths before the lines, and
    /// leaves other lines between them alone.
    pub(super) fn mask_below(&mut self, text: &[u8], start: usize, hits: &mut Vec<Hit>) {
        if !is_private(text, start) {
            return;
        }
        let body = end_of_label(text, start);
        let end = self.find_end(text, body);
        let stop = end.unwrap_or(text.len().min(body + MAX_BYTES));
        let mut lines = KeyLines::behind(&text[line_start(text, start)..start]);
        let mut at = body;
        for line in text[body..stop]
            .split(|byte| *byte == b'\n')
            .take(MAX_LINES)
        {
            let is_key = lines.add(line, at);
            if !is_key && end.is_none() && at > body {
                break;
            }
            at += line.len() + 1;
        }
        if lines.has_long {
            lines.found.push(start..body);
            lines
                .found
                .extend(end.map(|end| end..end_of_label(text, end)));
            lines.push_hits(hits);
        }
    }

    /// Masks the lines above the last line of a key, which starts at `end`, when the first line is
    /// not in the text.
    pub(super) fn mask_above(text: &[u8], end: usize, hits: &mut Vec<Hit>) {
        if !is_private(text, end) {
            return;
        }
        let from = end.saturating_sub(MAX_BYTES);
        let above = line_start(text, end).saturating_sub(1).max(from);
        let mut lines = KeyLines::behind(&text[line_start(text, end)..end]);
        let mut at = above;
        for line in text[from..above]
            .rsplit(|byte| *byte == b'\n')
            .take(MAX_LINES)
        {
            at = at.saturating_sub(line.len());
            if !lines.add(line, at) {
                break;
            }
            at = at.saturating_sub(1);
        }
        if lines.has_long {
            lines.push_hits(hits);
        }
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

/// The lines of a key found so far.
#[derive(Default)]
struct KeyLines<'t> {
    /// The text before the first or last line of the key, which its other lines may repeat.
    prefix: &'t [u8],
    found: Vec<Range<usize>>,
    has_long: bool,
    /// Short lines beside the last long one: the last line of a key, and the checksum behind it.
    short: usize,
}

impl<'t> KeyLines<'t> {
    fn behind(prefix: &'t [u8]) -> Self {
        Self {
            prefix,
            ..Self::default()
        }
    }

    /// Adds the runs of base64 in a line that starts at `start`; false for a line of something else.
    fn add(&mut self, line: &[u8], start: usize) -> bool {
        let lead = if line.starts_with(self.prefix) {
            self.prefix.len()
        } else {
            0
        };
        let (line, start) = (&line[lead..], start + lead);
        let mut at = start;
        let mut found = Vec::new();
        for run in line.split(|byte| !is_base64(*byte)) {
            let is_varied = run.iter().any(|byte| Some(byte) != run.first());
            if run.len() >= MIN_RUN && is_varied && !reads_like_words(run) {
                found.push(at..at + run.len());
            }
            at += run.len() + 1;
        }
        // A path before the line may look like one; on one line with escaped ends there are many.
        if let Some(last) = found.pop() {
            let first = found
                .first()
                .filter(|_| line.len() > 200)
                .map_or(last.start, |it| it.start);
            self.found.push(first..last.end);
            (self.has_long, self.short) = (true, 0);
            return true;
        }
        let line = line.trim_ascii_end();
        let length = line
            .iter()
            .rev()
            .take_while(|byte| is_base64(**byte))
            .count();
        let lead = line.len() - length;
        let is_alone = lead == 0 || b" \t\">|'-+".contains(&line[lead - 1]);
        if is_alone && (2..=76).contains(&length) && (length >= 4 || lead < 3) && self.short < 2 {
            self.short += 1;
            self.found.push(start + lead..start + line.len());
            return true;
        }
        // Headers of the armor, and the empty line behind them.
        line.len() <= 3 || contains(line, b"Proc-Type:") || contains(line, b"DEK-Info:")
    }

    fn push_hits(self, hits: &mut Vec<Hit>) {
        let found = self.found.into_iter();
        hits.extend(found.map(|range| Hit::new("private-key", range)));
    }
}

/// Whether the label of an armor names a private key.
fn is_private(text: &[u8], at: usize) -> bool {
    contains(&text[at..text.len().min(at + 60)], b"PRIVATE KEY")
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

fn line_start(text: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(4096);
    memchr::memrchr(b'\n', &text[from..at]).map_or(from, |found| from + found + 1)
}

fn end_of_label(text: &[u8], at: usize) -> usize {
    let is_label = |byte: &&u8| matches!(byte, b'-' | b' ') || byte.is_ascii_uppercase();
    let label = text[at..].iter().take(60).take_while(is_label).count();
    let dashes = text[at..at + label].iter().rposition(|byte| *byte == b'-');
    at + dashes.map_or(label, |dash| dash + 1)
}

/// Masks the values below `data:` and `stringData:` of the Kubernetes secret whose `kind: Secret`
/// stands at `kind`. Returns where its document ends.
pub(super) fn mask_manifest(text: &[u8], kind: Range<usize>, hits: &mut Vec<Hit>) -> usize {
    let behind = text.get(kind.end).copied();
    if behind.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
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
