use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

// Shorter encoded text holds no secret worth the name.
const MIN_RUN: usize = 24;
// A run up to this length is masked whole, a longer one only where the secret is.
const MASK_WHOLE: usize = 512;

/// Text in base64 inside the text: calls back with its range and what it decodes to.
pub(super) fn each_encoded(text: &[u8], mut found: impl FnMut(Encoded)) {
    let mut at = 0;
    while let Some(range) = next_run(text, at) {
        at = range.end;
        let run = text.get(range.clone()).unwrap_or_default();
        // A run may start in the middle of what was encoded, behind a `=` or `/` of its own.
        if let Some(decoded) = decode_text(run) {
            found(Encoded { range, decoded });
        }
    }
}

/// A run of base64 that decodes to text.
pub(super) struct Encoded {
    range: Range<usize>,
    /// What it decodes to.
    pub(super) decoded: Vec<u8>,
}

impl Encoded {
    /// Where a range of the decoded text stands in the outer text.
    pub(super) fn outer(&self, start: usize, end: usize) -> Range<usize> {
        if self.range.len() <= MASK_WHOLE {
            return self.range.clone();
        }
        let from = self.range.start + start / 3 * 4;
        let to = self.range.start + end.div_ceil(3) * 4;
        from..to.min(self.range.end)
    }
}

/// Decodes base64 of either alphabet, padded or not.
pub(super) fn decode(value: &[u8]) -> Option<Vec<u8>> {
    let url = value.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let value = match value.len() % 4 {
        1 => value.get(..value.len() - 1)?,
        _ => value,
    };
    if url {
        URL_SAFE.decode(value).ok()
    } else {
        STANDARD.decode(value).ok()
    }
}

fn decode_text(run: &[u8]) -> Option<Vec<u8>> {
    let printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    // Almost everything is dismissed by its first bytes.
    let head = decode(run.get(..20)?)?;
    if !head.iter().all(printable) {
        return None;
    }
    let decoded = decode(run)?;
    let plain = decoded
        .iter()
        .filter(|byte| printable(byte) || **byte >= 0x80)
        .count();
    (plain * 20 >= decoded.len() * 19).then_some(decoded)
}

// The next run of at least MIN_RUN characters of base64, found by looking at every MIN_RUN-th byte.
fn next_run(text: &[u8], mut from: usize) -> Option<Range<usize>> {
    let part = |at: usize| text.get(at).copied().is_some_and(is_part);
    loop {
        let probe = from + MIN_RUN - 1;
        if probe >= text.len() {
            return None;
        }
        if !part(probe) {
            from = probe + 1;
            continue;
        }
        let back = text
            .get(from..probe)?
            .iter()
            .rev()
            .take_while(|byte| is_part(**byte))
            .count();
        let start = probe - back;
        if start > from {
            // The run may be long enough from here on.
            let length = text
                .get(start..)?
                .iter()
                .take(MIN_RUN)
                .take_while(|byte| is_part(**byte))
                .count();
            if length < MIN_RUN {
                from = start + length;
                continue;
            }
        }
        let length = text
            .get(start..)?
            .iter()
            .take_while(|byte| is_part(**byte))
            .count();
        let padding = text
            .get(start + length..)?
            .iter()
            .take(2)
            .take_while(|byte| **byte == b'=')
            .count();
        return Some(start..start + length + padding);
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::{each_encoded, next_run};

    #[test]
    fn runs_are_found_wherever_they_start() {
        let run = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4";
        for lead in 0..60 {
            let text = format!("{}\"{run}\" tail", "x ".repeat(lead));
            let range = next_run(text.as_bytes(), 0).unwrap();
            assert_eq!(&text[range], run);
        }
        assert_eq!(next_run(b"short words only, none of them is long", 0), None);
    }

    #[test]
    fn only_text_is_handed_on() {
        let mut found = Vec::new();
        each_encoded(b"dG9rZW49YWJjZGVmZ2hpamtsbW5vcA== iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", |encoded| {
            found.push(String::from_utf8(encoded.decoded).unwrap());
        });
        assert_eq!(found, ["token=abcdefghijklmnop"]);
    }
}
