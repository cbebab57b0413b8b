use std::borrow::Cow;

use super::anchors::{Anchor, Anchors, argument_secret, login_secret};
use super::assignment::assigned_secrets;
use super::block::{key_above, private_key};
use super::command::command_secret;
use super::encoded::each_encoded;
use super::header::header_secret;
use super::known::KnownValues;
use super::manifest::secret_manifest;
use super::provider::Matcher;
use super::url::{grant, url_secret};
use super::user::UserRules;
use super::view::{View, each_view};
use super::wrap::each_wrapped;

/// Every secret of the text, in no order, overlaps included. What a mask covers already is left
/// alone.
pub(in crate::policy) fn scan(text: &[u8], given: &Given) -> Vec<Hit> {
    let mut hits = Vec::new();
    scan_decoded(text, given, &mut hits);
    each_view(text, |view| hits.extend(viewed(view, given)));
    // Of lines that are read as one, only what stands on more than one of them is news.
    let broken = |hit: &Hit| {
        let inside = text.get(hit.start..hit.end).unwrap_or_default();
        memchr::memchr(b'\n', inside).is_some()
    };
    each_wrapped(text, |view| hits.extend(viewed(view, given).filter(broken)));
    if !hits.is_empty() {
        let masks = masks(text);
        hits.retain(|hit| {
            let next = masks.partition_point(|mask| mask.1 <= hit.start);
            masks.get(next).is_none_or(|mask| hit.end <= mask.0)
        });
    }
    hits
}

fn viewed(view: &View, given: &Given) -> impl Iterator<Item = Hit> {
    let mut inner = Vec::new();
    scan_decoded(&view.text, given, &mut inner);
    inner.into_iter().map(|hit| {
        let range = view.origin(hit.start, hit.end);
        Hit {
            start: range.start,
            end: range.end,
            ..hit
        }
    })
}

// The text as it stands, and the text inside its base64.
fn scan_decoded(text: &[u8], given: &Given, hits: &mut Vec<Hit>) {
    scan_plain(text, given, hits);
    let mut inner = Vec::new();
    each_encoded(text, |encoded| {
        scan_plain(&encoded.decoded, given, &mut inner);
        hits.extend(inner.drain(..).map(|hit| {
            let range = encoded.outer(hit.start, hit.end);
            Hit {
                start: range.start,
                end: range.end,
                ..hit
            }
        }));
    });
}

fn scan_plain(text: &[u8], given: &Given, hits: &mut Vec<Hit>) {
    given.known.find(text, hits);
    given.rules.find(text, hits);
    let mut matcher = Matcher::default();
    let (mut named_until, mut manifest_until) = (0, 0);
    Anchors::each(text, |anchor, start, end| {
        let found = match anchor {
            Anchor::Rule(index) => matcher.find(text, index, start, end),
            Anchor::Name if start < named_until => None,
            Anchor::Name => {
                named_until = assigned_secrets(text, start, hits);
                None
            }
            Anchor::Url => url_secret(text, end).map(|range| ("url-credentials", range)),
            Anchor::Header => header_secret(text, start, end).map(|range| ("authorization", range)),
            Anchor::Command => {
                command_secret(text, start, end).map(|range| ("command-line", range))
            }
            Anchor::Call => argument_secret(text, end).map(|range| ("secret-argument", range)),
            Anchor::Login => login_secret(text, end).map(|range| ("secret-argument", range)),
            Anchor::Grant => grant(text, end).map(|range| ("authorization-code", range)),
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
                rule: Cow::Borrowed(rule),
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

/// What a caller adds to the table: values that are known to be secret, and rules of its own.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct Given {
    pub(in crate::policy) known: KnownValues,
    pub(in crate::policy) rules: UserRules,
}

/// A secret: its bytes in the scanned text, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct Hit {
    pub(in crate::policy) start: usize,
    pub(in crate::policy) end: usize,
    pub(in crate::policy) rule: Cow<'static, str>,
}
