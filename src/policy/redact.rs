use std::borrow::Cow;
use std::ops::Range;

use super::secrets::{Hit, KnownValues, scan};

/// Masks secrets in text that is about to leave the machine or to be stored.
///
/// Two layers: the values of secret-named environment variables, verbatim and encoded, and the rules
/// of [`super::secrets`] on the text and on a decoded view of it. Cheap to build: a rule's regular
/// expression is compiled when its keyword turns up for the first time.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    known: KnownValues,
}

/// A text with its secrets masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The text; borrowed when nothing was found. It has as many lines as the original.
    pub text: Cow<'t, str>,
    /// What was masked, in the order of the text; one entry per line and secret.
    pub findings: Vec<Finding>,
}

/// Bytes with their secrets masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedBytes<'t> {
    /// The bytes; borrowed when nothing was found.
    pub bytes: Cow<'t, [u8]>,
    /// What was masked, as in [`Redacted`].
    pub findings: Vec<Finding>,
}

/// Where a secret stood. Never holds the secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Finding {
    /// 1-based line.
    pub line: u32,
    /// First byte in the original text.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The name of the rule.
    pub rule: Cow<'static, str>,
}

impl Redactor {
    /// Learns the values of variables whose names speak of secrets. Short, common and path-like
    /// values are left out, since masking them would eat ordinary text.
    #[must_use]
    pub fn new(env: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            known: KnownValues::new(env),
        }
    }

    /// Masks every secret with `[REDACTED:rule]`. A secret over several lines is masked line by
    /// line. Masking twice changes nothing more.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        let mut hits = scan(text.as_bytes(), &self.known);
        for hit in &mut hits {
            hit.start = text.floor_char_boundary(hit.start);
            hit.end = text.ceil_char_boundary(hit.end);
        }
        let findings = findings(text.as_bytes(), hits);
        if findings.is_empty() {
            return Redacted {
                text: Cow::Borrowed(text),
                findings,
            };
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for finding in &findings {
            out.push_str(text.get(at..finding.start).unwrap_or_default());
            push_mask(&mut out, &finding.rule);
            at = finding.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Redacted {
            text: Cow::Owned(out),
            findings,
        }
    }

    /// The same for bytes that need not be UTF-8.
    #[must_use]
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> RedactedBytes<'t> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            let Redacted { text, findings } = self.redact(text);
            let bytes = match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
            return RedactedBytes { bytes, findings };
        }
        let findings = findings(bytes, scan(bytes, &self.known));
        if findings.is_empty() {
            return RedactedBytes {
                bytes: Cow::Borrowed(bytes),
                findings,
            };
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for finding in &findings {
            out.extend_from_slice(bytes.get(at..finding.start).unwrap_or_default());
            let mut mask = String::new();
            push_mask(&mut mask, &finding.rule);
            out.extend_from_slice(mask.as_bytes());
            at = finding.end;
        }
        out.extend_from_slice(bytes.get(at..).unwrap_or_default());
        RedactedBytes {
            bytes: Cow::Owned(out),
            findings,
        }
    }

    /// Masks every line that is not blank: for files that hold credentials by their nature and
    /// must be shown all the same.
    #[must_use]
    pub fn mask_all<'t>(&self, bytes: &'t [u8]) -> RedactedBytes<'t> {
        let whole = Hit {
            start: 0,
            end: bytes.len(),
            rule: "credential-file",
        };
        let findings = findings(bytes, vec![whole]);
        let mut out = String::new();
        let mut lines = findings.iter().map(|finding| finding.line).peekable();
        let count = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
        for number in 1..=count {
            if number > 1 {
                out.push('\n');
            }
            if lines
                .next_if(|line| usize::try_from(*line) == Ok(number))
                .is_some()
            {
                push_mask(&mut out, "credential-file");
            }
        }
        RedactedBytes {
            bytes: Cow::Owned(out.into_bytes()),
            findings,
        }
    }
}

fn push_mask(out: &mut String, rule: &str) {
    out.push_str("[REDACTED:");
    out.push_str(rule);
    out.push(']');
}

// Merges overlapping hits, splits them at line ends and counts lines.
fn findings(text: &[u8], mut hits: Vec<Hit>) -> Vec<Finding> {
    hits.retain(|hit| hit.start < hit.end && hit.end <= text.len());
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut merged: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.start < last.end => last.end = last.end.max(hit.end),
            _ => merged.push(hit),
        }
    }
    let mut findings = Vec::with_capacity(merged.len());
    let (mut line, mut counted) = (1, 0);
    for hit in merged {
        line += line_ends(text, counted..hit.start);
        counted = hit.start;
        let mut start = hit.start;
        for part in text
            .get(hit.start..hit.end)
            .unwrap_or_default()
            .split(|byte| *byte == b'\n')
        {
            let visible = part.trim_ascii();
            if !visible.is_empty() {
                let lead = part.len() - part.trim_ascii_start().len();
                findings.push(Finding {
                    line: line + line_ends(text, counted..start),
                    start: start + lead,
                    end: start + lead + visible.len(),
                    rule: Cow::Borrowed(hit.rule),
                });
            }
            line += line_ends(text, counted..start);
            counted = start;
            start += part.len() + 1;
        }
    }
    findings
}

fn line_ends(text: &[u8], range: Range<usize>) -> u32 {
    let text = text.get(range).unwrap_or_default();
    u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX)
}
