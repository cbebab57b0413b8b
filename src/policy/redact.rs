//! Masks secrets in text that is about to leave the machine or to be stored.

use std::borrow::Cow;
use std::ops::Range;

use super::sanitize::decode_utf16;
use super::secrets::{
    Hit, Learned, LearnedFinder, OwnSources, UserRuleError, UserRules, scan, scan_learned,
};
use crate::config::SecretRule;

/// Masks secrets by four sources: known values, token formats, credentials by their place, and values
/// given to secret names; beside them the user's own rules.
///
/// Cheap to build: a rule's regular expression is compiled when its keyword turns up for the first
/// time.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    own: OwnSources,
    learned: Option<LearnedFinder>,
}

/// A text with its secrets masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The text; borrowed when nothing was found. It has as many lines as the original.
    pub text: Cow<'t, str>,
    /// The masked secrets in the order of the text; one entry per line and secret.
    pub findings: Vec<Finding>,
}

/// Bytes with their secrets masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedBytes<'t> {
    /// The bytes; borrowed when nothing was found.
    pub bytes: Cow<'t, [u8]>,
    /// The masked secrets, as in [`Redacted`].
    pub findings: Vec<Finding>,
}

/// The position of a secret, without the secret.
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
    pub fn new(env: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::default().know(env)
    }

    /// Learns more variables, such as those of `--env NAME=VALUE`, by the same measure.
    pub fn know(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.own.known.learn(variables);
        self
    }

    /// Adds the user's own rules, in place of those that were added before.
    ///
    /// # Errors
    /// [`UserRuleError`] for the first rule that cannot be used.
    pub fn with_rules(mut self, rules: &[SecretRule]) -> Result<Self, UserRuleError> {
        self.own.rules = UserRules::new(rules)?;
        Ok(self)
    }

    /// Returns a redactor that also knows the secrets that this text gives away, for other texts that
    /// mention them.
    pub fn learning(&self, text: &str) -> Self {
        let mut learned = Learned::default();
        self.mask_to_end(text.as_bytes(), Vec::new(), &mut learned);
        let learned = learned.finder().or_else(|| self.learned.clone());
        Self {
            own: self.own.clone(),
            learned,
        }
    }

    /// Masks every secret with `[REDACTED:rule]`. A value that its surroundings give away in one
    /// place is masked in all others, a secret of several lines line by line. Masking twice changes
    /// nothing more.
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        let (findings, masked) = self.mask_text(text.as_bytes(), &mut Learned::default());
        let text = masked.map_or(Cow::Borrowed(text), |masked| Cow::Owned(into_text(masked)));
        Redacted { text, findings }
    }

    /// Masks every secret of a text that is shown.
    pub fn mask(&self, text: &str) -> String {
        self.redact(text).text.into_owned()
    }

    /// Checks that a text holds no secret.
    pub fn finds_nothing(&self, text: &str) -> bool {
        self.redact(text).findings.is_empty()
    }

    /// Masks bytes that need not be UTF-8. UTF-16 with a secret becomes UTF-8; the ranges of the findings
    /// are those of the decoded text.
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> RedactedBytes<'t> {
        let wide = decode_utf16(bytes);
        let text = wide.as_ref().map_or(bytes, String::as_bytes);
        let (findings, masked) = self.mask_text(text, &mut Learned::default());
        RedactedBytes {
            bytes: masked.map_or(Cow::Borrowed(bytes), Cow::Owned),
            findings,
        }
    }

    /// Masks the strings of a JSON text, keys and values, each by itself, so that it stays JSON and
    /// everything without a secret stays as it is, byte for byte. A value that one string gives away
    /// is masked in all of them.
    pub fn redact_json(&self, json: &str) -> String {
        let mut learned = Learned::default();
        let masked = mask_strings(json, |text| self.mask_text(text, &mut learned).1);
        let Some(finder) = learned.finder() else {
            return masked;
        };
        mask_strings(&masked, |text| {
            render_masked(text, &merge_hits(text, scan_learned(text, &finder)))
        })
    }

    /// Masks every line that is not blank: for files that hold credentials by their nature and must
    /// be shown all the same.
    pub fn mask_all<'t>(&self, bytes: &'t [u8]) -> RedactedBytes<'t> {
        let findings = merge_hits(bytes, vec![Hit::new("credential-file", 0..bytes.len())]);
        RedactedBytes {
            bytes: render_masked(bytes, &findings).map_or(Cow::Borrowed(bytes), Cow::Owned),
            findings,
        }
    }

    /// Masks a text in two passes: the first finds values by their context, the second masks these values
    /// everywhere.
    fn mask_text(&self, text: &[u8], learned: &mut Learned) -> (Vec<Finding>, Option<Vec<u8>>) {
        let mut own = Learned::default();
        let mut hits = self.mask_to_end(text, Vec::new(), &mut own);
        let finders = [own.finder(), self.learned.clone()];
        let known = finders.iter().flatten().flat_map(|finder| scan_learned(text, finder));
        let known: Vec<Hit> = known.collect();
        if !known.is_empty() {
            hits.extend(known);
            hits = self.mask_to_end(text, hits, &mut own);
        }
        learned.extend(own);
        let findings = merge_hits(text, hits);
        let masked = render_masked(text, &findings);
        (findings, masked)
    }

    /// Scans until nothing new turns up: a mask can bring a neighbor to light.
    fn mask_to_end(&self, text: &[u8], mut hits: Vec<Hit>, learned: &mut Learned) -> Vec<Hit> {
        let mut found = merge_hits(text, hits.clone());
        // What a mask joins anew may hold another secret.
        for _ in 0..6 {
            let masked = render_masked(text, &found);
            let new = scan(masked.as_deref().unwrap_or(text), &self.own);
            hits.extend(new.into_iter().map(|hit| Hit {
                start: place_in_original(&found, hit.start),
                end: place_in_original(&found, hit.end),
                rule: hit.rule,
            }));
            let next = merge_hits(text, hits.clone());
            if next == found {
                break;
            }
            found = next;
        }
        for finding in &found {
            learned.learn(&text[finding.start..finding.end], &finding.rule);
        }
        hits
    }
}

/// Masks each string of a JSON text by itself.
fn mask_strings(json: &str, mut mask: impl FnMut(&[u8]) -> Option<Vec<u8>>) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(open) = rest.find('"') {
        let (before, from) = rest.split_at(open);
        let (literal, after) = from.split_at(string_end(from));
        out.push_str(before);
        let text = serde_json::from_str::<String>(literal).unwrap_or_default();
        let masked = mask(text.as_bytes()).map(into_text);
        let masked = masked.and_then(|masked| serde_json::to_string(&masked).ok());
        out.push_str(masked.as_deref().unwrap_or(literal));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the place behind the JSON string that a text starts with.
fn string_end(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return at + 1,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    text.len()
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned())
}

/// Writes the text with a mask for each finding; `None` without any.
fn render_masked(text: &[u8], findings: &[Finding]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        out.extend_from_slice(&text[at..finding.start]);
        out.extend_from_slice(format!("[REDACTED:{}]", finding.rule).as_bytes());
        at = finding.end;
    }
    out.extend_from_slice(&text[at..]);
    (!findings.is_empty()).then_some(out)
}

/// Returns the place in the original of a place in the masked text.
fn place_in_original(findings: &[Finding], place: usize) -> usize {
    let (mut masked, mut original) = (0, 0);
    for finding in findings {
        let next = masked + (finding.start - original) + "[REDACTED:]".len() + finding.rule.len();
        if next > place {
            break;
        }
        (masked, original) = (next, finding.end);
    }
    original + (place - masked)
}

/// Merges overlapping hits, widens them to whole characters, splits them at line ends and counts
/// lines.
fn merge_hits(text: &[u8], mut hits: Vec<Hit>) -> Vec<Finding> {
    for hit in &mut hits {
        hit.end = hit.end.min(text.len());
        while hit.start > 0
            && hit.start < hit.end
            && text.get(hit.start).is_some_and(|byte| byte & 0xc0 == 0x80)
        {
            hit.start -= 1;
        }
        while text.get(hit.end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            hit.end += 1;
        }
    }
    hits.retain(|hit| hit.start < hit.end);
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
        let mut start = hit.start;
        for part in text[hit.start..hit.end].split(|byte| *byte == b'\n') {
            line += count_line_ends(text, counted..start);
            counted = start;
            let lead = part.len() - part.trim_ascii_start().len();
            let visible = part.trim_ascii().len();
            if visible > 0 {
                let (start, rule) = (start + lead, hit.rule.clone());
                findings.push(Finding {
                    line,
                    start,
                    end: start + visible,
                    rule,
                });
            }
            start += part.len() + 1;
        }
    }
    findings
}

fn count_line_ends(text: &[u8], range: Range<usize>) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', &text[range]).count()).unwrap_or(u32::MAX)
}
