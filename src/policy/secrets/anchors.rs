use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::command::COMMANDS;
use super::table::formats;
use super::value::{Strength, strength};

/// What a fixed text that turned up may be the sign of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    /// A token format, by its place among [`formats`].
    Rule(usize),
    /// A word in the name of a variable, key, attribute or flag.
    Name,
    /// `://`, before which a scheme and after which credentials may stand.
    Url,
    /// The first line of an armoured private key.
    Block,
    /// Its last line.
    BlockEnd,
    /// A Kubernetes secret.
    Manifest,
    /// A program that takes a password on its command line.
    Command,
    /// An HTTP header or scheme that carries credentials.
    Header,
    /// A function that takes a secret.
    Call,
}

/// Words of names; a name is judged as a whole afterwards.
#[rustfmt::skip]
const NAME_WORDS: &[&str] = &[
    "pass", "pwd", "pw", "secret", "token", "key", "auth", "cred", "salt", "signature",
    "webhook", "cookie", "sessionid", "session_id", "connectionstring", "connection_string",
    "dsn", "sid", "sig", "pin", "otp",
];
const HEADERS: &[&str] = &[
    "bearer ",
    "basic ",
    "digest ",
    "token ",
    "ssws ",
    "geniekey ",
    "splunk ",
    "apikey ",
    "api-key ",
];
const BLOCKS: &[&str] = &["-----BEGIN ", "Private-Lines:"];

/// Every fixed text, in one pass over the text.
pub(super) struct Anchors {
    finder: AhoCorasick,
    kinds: Vec<(Anchor, &'static str)>,
}

static ANCHORS: LazyLock<Option<Anchors>> = LazyLock::new(Anchors::new);

impl Anchors {
    fn new() -> Option<Self> {
        let rules = formats().enumerate().flat_map(|(index, rule)| {
            let starts = rule.starts.iter();
            starts.map(move |start| (Anchor::Rule(index), start.as_str()))
        });
        let of = |words: &'static [&'static str], kind| words.iter().map(move |word| (kind, *word));
        let kinds: Vec<(Anchor, &'static str)> = rules
            .chain(of(NAME_WORDS, Anchor::Name))
            .chain(of(&["://"], Anchor::Url))
            .chain(of(BLOCKS, Anchor::Block))
            .chain(of(&["-----END "], Anchor::BlockEnd))
            .chain(of(
                &["kind: secret", "kind: \"secret", "kind: 'secret"],
                Anchor::Manifest,
            ))
            .chain(of(COMMANDS, Anchor::Command))
            .chain(of(HEADERS, Anchor::Header))
            .chain(of(CALLS, Anchor::Call))
            .collect();
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(kinds.iter().map(|(_, text)| text))
            .ok()?;
        Some(Self { finder, kinds })
    }

    /// Calls back with each anchor and where it starts and ends. Rules are compared with regard to
    /// case, everything else without.
    pub(super) fn each(text: &[u8], mut found: impl FnMut(Anchor, usize, usize)) {
        let Some(anchors) = ANCHORS.as_ref() else {
            return;
        };
        for hit in anchors.finder.find_overlapping_iter(text) {
            let Some((anchor, literal)) = anchors.kinds.get(hit.pattern().as_usize()) else {
                continue;
            };
            let exact = || text.get(hit.range()) == Some(literal.as_bytes());
            if !matches!(anchor, Anchor::Rule(_)) || exact() {
                found(*anchor, hit.start(), hit.end());
            }
        }
    }
}

/// Functions that sign or encrypt with one of their arguments, as they stand before the arguments.
#[rustfmt::skip]
pub(super) const CALLS: &[&str] = &[
    "hmac.new(", "hmac(", "createhmac(", "hmac_sha256(", "hash_hmac(", "jwt.encode(", "jwt.decode(",
    "jwt.sign(", "jwt.verify(", "fernet(", "aesgcm(", "createcipheriv(", "createdecipheriv(",
    "secretkeyspec(", "webhooks.constructevent(",
];

const MAX_CALL: usize = 512;

/// The first literal among the arguments that only a machine makes up; `after` is the place behind
/// the bracket.
pub(super) fn argument_secret(text: &[u8], after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_CALL))?;
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b')' | b';' => return None,
            quote @ (b'"' | b'\'' | b'`') => {
                let inside = rest.get(at + 1..)?;
                let length = memchr::memchr2(*quote, b'\n', inside)?;
                let value = inside.get(..length)?;
                if inside.get(length) == Some(quote) && strength(value) == Strength::Strong {
                    return Some(after + at + 1..after + at + 1 + length);
                }
                at += length + 2;
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    #[test]
    fn keys_that_are_given_to_functions_are_masked() {
        for text in [
            "hmac.new(b'3f9a1c7be0d24568a1b7c9d0e2f41357', body, sha256)",
            "crypto.createHmac('sha256', 'mYNWN8Mrk9AX0XBT5Tg03Hsf').update(x)",
            "jwt.sign(payload, \"GL2rmVZs198U3txBZJSpoBT6S0oO\", { algorithm: 'HS256' })",
        ] {
            let out = Redactor::default().redact(text).text.into_owned();
            assert!(out.contains("[REDACTED:secret-argument]"), "{out}");
        }
    }

    #[test]
    fn other_arguments_are_kept() {
        for text in [
            "hmac.new(key, body).hexdigest() == '3f9a1c7be0d24568a1b7c9d0e2f41357'",
            "createHmac('sha256', secret)",
            "jwt.sign(payload, 'shhhhh')",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }
}
