use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::anchors::{Anchor, Anchors, argument_secret, login_secret};
use super::assignment::Names;
use super::block::{key_above, private_key};
use super::command::command_secret;
use super::encoded::each_encoded;
use super::known::{KnownValues, LearnedFinder};
use super::provider::Matcher;
use super::url::{grant, url_secret};
use super::user::UserRules;
use super::value::{Strength, is_placeholder, strength};
use super::view::{View, each_view};
use super::wrap::each_wrapped;

/// Every secret of the text, in no order, overlaps included. What a mask covers already is left
/// alone.
pub(in crate::policy) fn scan(text: &[u8], given: &Given) -> Vec<Hit> {
    let mut hits = Vec::new();
    scan_decoded(text, given, &mut hits);
    each_view(text, |view| hits.extend(viewed(view, given)));
    // Of lines that are read as one, only what stands on more than one of them is news; the words
    // of prose or code below a whole secret are no part of it.
    let whole: HashSet<usize> = hits.iter().map(|hit| hit.end).collect();
    let broken = |hit: &Hit| {
        let inside = text.get(hit.start..hit.end).unwrap_or_default();
        memchr::memchr(b'\n', inside).is_some_and(|at| {
            let (head, tail) = (&inside[..at], &inside[at + 1..]);
            let end = hit.start + head.strip_suffix(b"\r").unwrap_or(head).len();
            let is_word = tail.len() > 2 && tail.iter().all(u8::is_ascii_lowercase);
            !(is_word && whole.contains(&end))
        })
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

/// Where values stand that were learned elsewhere, in all readings of the text.
pub(in crate::policy) fn scan_learned(text: &[u8], learned: &LearnedFinder) -> Vec<Hit> {
    let mut hits = Vec::new();
    learned.find(text, &mut hits);
    each_encoded(text, |encoded| {
        let mut inner = Vec::new();
        learned.find(&encoded.decoded, &mut inner);
        hits.extend(inner.into_iter().map(|hit| {
            let range = encoded.outer(hit.start, hit.end);
            Hit::new(hit.rule, range)
        }));
    });
    let mut in_view = |view: &View| {
        let mut inner = Vec::new();
        learned.find(&view.text, &mut inner);
        hits.extend(inner.into_iter().map(|hit| {
            let range = view.origin(hit.start, hit.end);
            Hit::new(hit.rule, range)
        }));
    };
    each_view(text, &mut in_view);
    each_wrapped(text, &mut in_view);
    hits
}

fn viewed(view: &View, given: &Given) -> impl Iterator<Item = Hit> {
    let mut inner = Vec::new();
    scan_decoded(&view.text, given, &mut inner);
    inner.into_iter().map(|hit| {
        let range = view.origin(hit.start, hit.end);
        Hit::new(hit.rule, range)
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
            Hit::new(hit.rule, range)
        }));
    });
}

fn scan_plain(text: &[u8], given: &Given, hits: &mut Vec<Hit>) {
    given.known.find(text, hits);
    given.rules.find(text, hits);
    let mut matcher = Matcher::default();
    let mut names = Names::new(text);
    let mut manifest_until = 0;
    Anchors::each(text, |anchor, start, end| {
        let found = match anchor {
            Anchor::Rule(index) => matcher.find(text, index, start, end),
            Anchor::Name => {
                names.assigned(start, hits);
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
            if rule == KEY_ID {
                let beside = key_beside(text, &range);
                hits.extend(beside.map(|range| Hit::new("named-secret", range)));
            }
            hits.push(Hit::new(rule, range));
        }
    });
}

const KEY_ID: &str = "aws-access-key-id";
// Bytes on each side of the id of a key.
const BESIDE: usize = 200;

// The forty signs of the key itself, as what lists both gives it.
fn key_beside(text: &[u8], id: &Range<usize>) -> Option<Range<usize>> {
    let from = id.start.saturating_sub(BESIDE);
    let around = text.get(from..text.len().min(id.end + BESIDE))?;
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    let mut at = from;
    around.split(|byte| !part(byte)).find_map(|word| {
        let start = at;
        at += word.len() + 1;
        let digits = word.iter().any(u8::is_ascii_digit);
        let upper = word.iter().any(u8::is_ascii_uppercase);
        let key = word.len() == 40 && digits && upper && strength(word) == Strength::Strong;
        let hex = word.iter().all(u8::is_ascii_hexdigit);
        (key && !hex).then_some(start..start + 40)
    })
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

impl Hit {
    pub(super) fn new(rule: impl Into<Cow<'static, str>>, range: Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end,
            rule: rule.into(),
        }
    }
}

const MAX_VALUE: usize = 8 * 1024;

/// The credentials after `Bearer `, `Basic `, `Digest ` or `token `; `after` is the place behind it.
fn header_secret(text: &[u8], start: usize, after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_VALUE))?;
    let part = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b':' | b'|'
            )
    };
    let length = rest.iter().take_while(|byte| part(byte)).count();
    let value = rest.get(..length)?;
    if value.len() < 6 || is_placeholder(value) {
        return None;
    }
    let basic = text.get(start..start + 5)?.eq_ignore_ascii_case(b"basic");
    let found = match super::encoded::decode(value).filter(|decoded| basic && is_printable(decoded))
    {
        Some(decoded) => is_pair(&decoded),
        None => match strength(value) {
            Strength::Strong => true,
            Strength::Medium => value.len() >= 10,
            Strength::Uuid => in_header(text, start),
            Strength::None => false,
        },
    };
    found.then_some(after..after + length)
}

// `user:password`, other than what documentation shows.
fn is_pair(decoded: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', decoded) else {
        return false;
    };
    let (name, password) = decoded.split_at(colon);
    let password = password.get(1..).unwrap_or_default();
    let shown = [
        &b"password"[..],
        b"pass",
        b"test",
        b"secret",
        b"bar",
        b"open sesame",
    ]
    .contains(&password);
    !name.is_empty() && password.len() >= 4 && !shown && password != name
}

fn is_printable(decoded: &[u8]) -> bool {
    decoded.iter().all(|byte| (b' '..=b'~').contains(byte))
}

fn in_header(text: &[u8], start: usize) -> bool {
    let before = text
        .get(start.saturating_sub(40)..start)
        .unwrap_or_default()
        .to_ascii_lowercase();
    memchr::memmem::find(&before, b"authorization").is_some()
}

const RULE: &str = "kubernetes-secret";
const MAX_BYTES: usize = 64 * 1024;

/// The values below `data:` and `stringData:` of a Kubernetes manifest whose `kind: Secret` stands
/// at `at`. Returns where the manifest ends.
fn secret_manifest(text: &[u8], at: usize, hits: &mut Vec<Hit>) -> usize {
    let rest = text
        .get(at..text.len().min(at + MAX_BYTES))
        .unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let kind = line
        .trim_ascii()
        .get(b"kind:".len()..)
        .unwrap_or_default()
        .trim_ascii();
    let bare = kind.iter().filter(|byte| !matches!(byte, b'"' | b'\''));
    if !bare
        .map(u8::to_ascii_lowercase)
        .eq(b"secret".iter().copied())
    {
        return at + 1;
    }
    let from = at.saturating_sub(MAX_BYTES);
    let before = text.get(from..at).unwrap_or_default();
    let start = memchr::memmem::rfind(before, b"\n---").map_or(from, |found| from + found + 1);
    let end = at + memchr::memmem::find(rest, b"\n---").unwrap_or(rest.len());
    values(text.get(start..end).unwrap_or_default(), start, hits);
    end
}

// The lines below `data:`, up to the next line that is not indented deeper than it.
fn values(document: &[u8], offset: usize, hits: &mut Vec<Hit>) {
    let mut inside = None;
    let mut scalar = false;
    let mut at = offset;
    for line in document.split(|byte| *byte == b'\n') {
        let body = line.trim_ascii();
        let indent = line.len() - line.trim_ascii_start().len();
        match inside {
            _ if body.is_empty() => {}
            Some(outer) if indent > outer => {
                let colon = memchr::memmem::find(line, b": ");
                let value = match colon {
                    Some(colon) => line.get(colon + 2..).unwrap_or_default(),
                    None if scalar => line,
                    None => b"",
                };
                scalar = matches!(value.trim_ascii().first(), Some(b'|' | b'>'))
                    || (scalar && colon.is_none());
                let lead = line.len() - value.len() + value.len() - value.trim_ascii_start().len();
                let value = value.trim_ascii();
                let written =
                    !matches!(value.first(), None | Some(b'|' | b'>' | b'$' | b'{' | b'#'));
                if written && value.len() >= 4 {
                    let start = at + lead;
                    hits.push(Hit::new(RULE, start..start + value.len()));
                }
            }
            _ if matches!(body, b"data:" | b"stringData:") => inside = Some(indent),
            _ => inside = None,
        }
        at += line.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    #[test]
    fn credentials_of_headers_are_masked() {
        for text in [
            "Authorization: Bearer 8f3KxQ9vZ2mN7pLw4TqR",
            "extraheader = AUTHORIZATION: basic dXNlcjpodW50ZXIyIQ==",
            "curl -H 'Authorization: token 51e61afee2c2667123fc9ed160a0a20b330c8f74' x",
            "curl --header  'Authorization:  5eb4223e-5008-46e5-be67-c7b8f2732305'",
        ] {
            assert!(
                Redactor::default().redact(text).text.contains("[REDACTED:"),
                "{text}"
            );
        }
    }

    #[test]
    fn prose_and_placeholders_are_kept() {
        for text in [
            "Authorization: Bearer <token>",
            "a bearer token is sent",
            "basic authentication with passwords",
            "the token expired yesterday",
            "Bearer $TOKEN",
            "Basic usage: see below",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }

    #[test]
    fn values_of_secrets_are_masked_and_other_kinds_kept() {
        let secret = "kind: Secret\nmetadata:\n  name: x\ndata:\n  login: aHVudGVy\n  cert: |\n    TUlJQg\n    abcd\ntype: Opaque\n";
        let masked = "kind: Secret\nmetadata:\n  name: x\ndata:\n  login: [REDACTED:kubernetes-secret]\n  cert: |\n    \
                      [REDACTED:kubernetes-secret]\n    [REDACTED:kubernetes-secret]\ntype: Opaque\n";
        assert_eq!(Redactor::default().redact(secret).text, masked);
        let other = secret.replace("Secret", "ConfigMap");
        assert_eq!(Redactor::default().redact(&other).text, other);
        let two = format!("{other}---\n{secret}");
        assert_eq!(
            Redactor::default().redact(&two).text,
            format!("{other}---\n{masked}")
        );
    }
}
