use super::anchors::{Anchor, Anchors};
use super::assignment::assigned_secret;
use super::block::{key_above, private_key};
use super::command::command_secret;
use super::encoded::each_encoded;
use super::header::header_secret;
use super::hit::Hit;
use super::known::KnownValues;
use super::manifest::secret_manifest;
use super::provider::Matcher;
use super::url::url_secret;
use super::view::each_view;

/// Every secret of the text, in no order, overlaps included. What a mask covers already is left
/// alone.
pub(in crate::policy) fn scan(text: &[u8], known: &KnownValues) -> Vec<Hit> {
    let mut hits = Vec::new();
    scan_decoded(text, known, &mut hits);
    each_view(text, |view| {
        let mut inner = Vec::new();
        scan_decoded(&view.text, known, &mut inner);
        hits.extend(inner.into_iter().map(|hit| {
            let range = view.origin(hit.start, hit.end);
            Hit {
                start: range.start,
                end: range.end,
                ..hit
            }
        }));
    });
    if !hits.is_empty() {
        let masks = masks(text);
        hits.retain(|hit| {
            let next = masks.partition_point(|mask| mask.1 <= hit.start);
            masks.get(next).is_none_or(|mask| hit.end <= mask.0)
        });
    }
    hits
}

// The text as it stands, and the text inside its base64.
fn scan_decoded(text: &[u8], known: &KnownValues, hits: &mut Vec<Hit>) {
    scan_plain(text, known, hits);
    let mut inner = Vec::new();
    each_encoded(text, |encoded| {
        inner.clear();
        scan_plain(&encoded.decoded, known, &mut inner);
        hits.extend(inner.iter().map(|hit| {
            let range = encoded.outer(hit.start, hit.end);
            Hit {
                start: range.start,
                end: range.end,
                ..*hit
            }
        }));
    });
}

fn scan_plain(text: &[u8], known: &KnownValues, hits: &mut Vec<Hit>) {
    known.find(text, hits);
    let mut matcher = Matcher::default();
    let (mut named_until, mut manifest_until) = (0, 0);
    Anchors::each(text, |anchor, start, end| {
        let found = match anchor {
            Anchor::Rule(index) => matcher.find(text, index, start, end),
            Anchor::Name if start < named_until => None,
            Anchor::Name => {
                let (found, until) = assigned_secret(text, start);
                named_until = until;
                found
            }
            Anchor::Url => url_secret(text, end).map(|range| ("url-credentials", range)),
            Anchor::Header => header_secret(text, start, end).map(|range| ("authorization", range)),
            Anchor::Command => {
                command_secret(text, start, end).map(|range| ("command-line", range))
            }
            Anchor::Block => {
                private_key(text, start, hits);
                None
            }
            Anchor::BlockEnd => {
                key_above(text, start, hits);
                None
            }
            Anchor::Manifest => {
                if start >= manifest_until {
                    manifest_until = secret_manifest(text, start, hits);
                }
                None
            }
        };
        if let Some((rule, range)) = found {
            hits.push(Hit {
                start: range.start,
                end: range.end,
                rule,
            });
        }
    });
}

// The masks that stand in the text already.
fn masks(text: &[u8]) -> Vec<(usize, usize)> {
    const OPEN: &[u8] = b"[REDACTED:";
    memchr::memmem::find_iter(text, OPEN)
        .filter_map(|start| {
            let inner = text.get(start + OPEN.len()..)?;
            let length = inner
                .iter()
                .take(64)
                .take_while(|byte| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-'
                })
                .count();
            let end = start + OPEN.len() + length;
            (text.get(end) == Some(&b']')).then_some((start, end + 1))
        })
        .collect()
}
