use std::borrow::Cow;
use std::ops::Range;

use super::secrets::{
    Given, Hit, Learned, LearnedFinder, UserRuleError, UserRules, scan, scan_learned,
};
use super::utf16::Utf16;
use crate::config::SecretRule;

/// Masks secrets in text that is about to leave the machine or to be stored.
///
/// Three layers: values that are known to be secret, as they stand and encoded; the rules of the
/// secret table; the user's own rules. All are asked of the text and of what it reads as: UTF-16,
/// escapes, percent-encoding, base64 and terminal sequences decoded, lines joined that were broken in
/// the middle of a word. Cheap to build: a rule's regular expression is compiled when its keyword
/// turns up for the first time.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    given: Given,
    learned: Option<LearnedFinder>,
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
        let mut redactor = Self::default();
        redactor.know(env);
        redactor
    }

    /// Learns more variables, such as those of `--env NAME=VALUE`, by the same measure.
    pub fn know(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        self.given.known.learn(variables);
    }

    /// Adds the user's own rules, in place of those that were added before.
    ///
    /// # Errors
    /// [`UserRuleError`] for the first rule that cannot be used.
    pub fn with_rules(mut self, rules: &[SecretRule]) -> Result<Self, UserRuleError> {
        self.given.rules = UserRules::new(rules)?;
        Ok(self)
    }

    /// One that knows also what the surroundings of this text tell of its secrets, for what else
    /// speaks of them.
    #[must_use]
    pub fn learning(&self, text: &str) -> Self {
        let mut learned = Learned::default();
        self.mask_alone(text.as_bytes(), Vec::new(), &mut learned);
        let mut redactor = self.clone();
        if !learned.is_empty() {
            redactor.learned = Some(learned.finder());
        }
        redactor
    }

    /// Masks every secret with `[REDACTED:rule]`. What is known by its surroundings in one place is
    /// masked in all others. A secret over several lines is masked line by
    /// line. Masking twice changes nothing more.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<'t> {
        let (findings, masked) = self.mask(text.as_bytes());
        let text = match masked.map(String::from_utf8) {
            None => Cow::Borrowed(text),
            Some(Ok(masked)) => Cow::Owned(masked),
            Some(Err(broken)) => {
                Cow::Owned(String::from_utf8_lossy(broken.as_bytes()).into_owned())
            }
        };
        Redacted { text, findings }
    }

    /// The same for bytes that need not be UTF-8. UTF-16 is decoded before and encoded again
    /// afterwards; the ranges of the findings are those of the bytes as they came.
    #[must_use]
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> RedactedBytes<'t> {
        if let Some(wide) = Utf16::detect(bytes) {
            return self.redact_wide(wide, bytes);
        }
        let (findings, masked) = self.mask(bytes);
        let bytes = masked.map_or(Cow::Borrowed(bytes), Cow::Owned);
        RedactedBytes { bytes, findings }
    }

    /// Masks the strings of a JSON text, keys and values, each by itself, so that it stays JSON and
    /// everything without a secret stays as it is, byte for byte. What one string tells is masked in
    /// all of them.
    #[must_use]
    pub fn redact_json(&self, json: &str) -> String {
        let mut learned = Learned::default();
        let masked = mask_strings(json, |text| self.mask_learning(text, &mut learned).1);
        if learned.is_empty() {
            return masked;
        }
        let finder = learned.finder();
        mask_strings(&masked, |text| {
            let found = findings(text, scan_learned(text, &finder));
            (!found.is_empty()).then(|| render(text, &found, push_mask))
        })
    }

    fn redact_wide<'t>(&self, wide: Utf16, bytes: &'t [u8]) -> RedactedBytes<'t> {
        let text = wide.decode(bytes);
        let (mut findings, masked) = self.mask(text.as_bytes());
        if masked.is_none() {
            let bytes = Cow::Borrowed(bytes);
            return RedactedBytes { bytes, findings };
        }
        let ends = findings.iter().flat_map(|found| [found.start, found.end]);
        let places = wide.places(bytes, ends);
        for (found, place) in findings.iter_mut().zip(places.chunks_exact(2)) {
            if let [start, end] = place {
                (found.start, found.end) = (*start, *end);
            }
        }
        let mask = |out: &mut Vec<u8>, rule: &str| {
            out.extend(wide.encode(&format!("[REDACTED:{rule}]")));
        };
        let bytes = Cow::Owned(render(bytes, &findings, mask));
        RedactedBytes { bytes, findings }
    }

    fn mask(&self, text: &[u8]) -> (Vec<Finding>, Option<Vec<u8>>) {
        self.mask_learning(text, &mut Learned::default())
    }

    // In two passes: what the first one knows by its surroundings the second one masks wherever it
    // stands.
    fn mask_learning(&self, text: &[u8], learned: &mut Learned) -> (Vec<Finding>, Option<Vec<u8>>) {
        let mut own = Learned::default();
        let hits = self.mask_alone(text, Vec::new(), &mut own);
        let finders = [
            (!own.is_empty()).then(|| own.finder()),
            self.learned.clone(),
        ];
        learned.extend(own);
        let mut all = hits;
        let count = all.len();
        for finder in finders.iter().flatten() {
            all.extend(scan_learned(text, finder));
        }
        if all.len() > count {
            all = self.mask_alone(text, all, learned);
        }
        let found = findings(text, all);
        let masked = (!found.is_empty()).then(|| render(text, &found, push_mask));
        (found, masked)
    }

    // A mask can bring a neighbour to light, so the lines around masks are looked at again until
    // nothing new turns up.
    fn mask_alone(&self, text: &[u8], first: Vec<Hit>, learned: &mut Learned) -> Vec<Hit> {
        let mut hits = first;
        let mut found = findings(text, hits.clone());
        let mut masked = (!found.is_empty()).then(|| render(text, &found, push_mask));
        for _ in 0..MAX_ROUNDS {
            let origin = Origin::new(&found);
            let new = match &masked {
                None => scan(text, &self.given),
                Some(masked) => self.scan_around(masked, &origin),
            };
            if new.is_empty() {
                break;
            }
            hits.extend(new.into_iter().map(|hit| Hit {
                start: char_start(text, origin.original(hit.start)),
                end: char_end(text, origin.original(hit.end)),
                rule: hit.rule,
            }));
            let next = findings(text, hits.clone());
            if next == found {
                break;
            }
            masked = Some(render(text, &next, push_mask));
            found = next;
        }
        for hit in &found {
            learned.take(text.get(hit.start..hit.end).unwrap_or_default(), &hit.rule);
        }
        hits
    }

    fn scan_around(&self, masked: &[u8], origin: &Origin) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut done = 0;
        let mut places = origin.after_masks().peekable();
        while let Some(place) = places.next() {
            if place < done {
                continue;
            }
            let from = line_start(masked, place.saturating_sub(NEIGHBOURHOOD)).max(done);
            let mut to = place + NEIGHBOURHOOD;
            while let Some(next) = places.next_if(|next| *next < to + NEIGHBOURHOOD) {
                to = next + NEIGHBOURHOOD;
            }
            done = line_end(masked, to);
            let window = masked.get(from..done).unwrap_or_default();
            hits.extend(scan(window, &self.given).into_iter().map(|hit| Hit {
                start: hit.start + from,
                end: hit.end + from,
                rule: hit.rule,
            }));
        }
        hits
    }

    /// Masks every line that is not blank: for files that hold credentials by their nature and
    /// must be shown all the same.
    #[must_use]
    pub fn mask_all<'t>(&self, bytes: &'t [u8]) -> RedactedBytes<'t> {
        let whole = Hit {
            start: 0,
            end: bytes.len(),
            rule: Cow::Borrowed("credential-file"),
        };
        let findings = findings(bytes, vec![whole]);
        let mut out = Vec::new();
        let mut lines = findings.iter().map(|finding| finding.line).peekable();
        let count = memchr::memchr_iter(b'\n', bytes).count() + 1;
        for number in 1..=count {
            if number > 1 {
                out.push(b'\n');
            }
            if lines
                .next_if(|line| usize::try_from(*line) == Ok(number))
                .is_some()
            {
                push_mask(&mut out, "credential-file");
            }
        }
        RedactedBytes {
            bytes: Cow::Owned(out),
            findings,
        }
    }
}

// Masks each string of a JSON text by itself.
fn mask_strings(json: &str, mut mask: impl FnMut(&[u8]) -> Option<Vec<u8>>) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(open) = rest.find('"') {
        let (before, from) = rest.split_at(open);
        let (literal, after) = from.split_at(string_end(from));
        out.push_str(before);
        let text = serde_json::from_str::<String>(literal).unwrap_or_default();
        let masked = mask(text.as_bytes());
        let masked = masked.and_then(|masked| {
            serde_json::to_string(String::from_utf8_lossy(&masked).as_ref()).ok()
        });
        out.push_str(masked.as_deref().unwrap_or(literal));
        rest = after;
    }
    out.push_str(rest);
    out
}

const MAX_ROUNDS: usize = 6;
// Bytes on each side of a mask that its appearance can change the meaning of.
const NEIGHBOURHOOD: usize = 4096;

// The place behind the JSON string that a text starts with.
fn string_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn line_start(text: &[u8], place: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)
}

pub(super) fn line_end(text: &[u8], place: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |at| place + at)
}

fn push_mask(out: &mut Vec<u8>, rule: &str) {
    out.extend_from_slice(b"[REDACTED:");
    out.extend_from_slice(rule.as_bytes());
    out.push(b']');
}

fn render(text: &[u8], findings: &[Finding], mask: impl Fn(&mut Vec<u8>, &str)) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        out.extend_from_slice(text.get(at..finding.start).unwrap_or_default());
        mask(&mut out, &finding.rule);
        at = finding.end;
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

// Leads from places in a masked text to places in the original.
struct Origin {
    // Where each unmasked stretch starts: in the masked text, in the original.
    stretches: Vec<(usize, usize)>,
}

impl Origin {
    fn new(findings: &[Finding]) -> Self {
        let mut stretches = vec![(0, 0)];
        let (mut at, mut masked) = (0, 0);
        for finding in findings {
            masked += finding.start - at + "[REDACTED:]".len() + finding.rule.len();
            at = finding.end;
            stretches.push((masked, at));
        }
        Self { stretches }
    }

    // The place behind each mask, in the masked text.
    fn after_masks(&self) -> impl Iterator<Item = usize> + '_ {
        self.stretches.iter().skip(1).map(|(masked, _)| *masked)
    }

    fn original(&self, place: usize) -> usize {
        let next = self
            .stretches
            .partition_point(|(masked, _)| *masked <= place);
        let stretch = next.checked_sub(1).and_then(|at| self.stretches.get(at));
        stretch.map_or(place, |(masked, original)| original + place - masked)
    }
}

fn char_start(text: &[u8], place: usize) -> usize {
    (place.saturating_sub(3)..=place)
        .rev()
        .find(|at| !text.get(*at).copied().is_some_and(is_continuation))
        .unwrap_or(place)
}

fn char_end(text: &[u8], place: usize) -> usize {
    (place..place.saturating_add(4))
        .find(|at| !text.get(*at).copied().is_some_and(is_continuation))
        .unwrap_or(place)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
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
                    rule: hit.rule.clone(),
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
