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
    /// One that takes a name and a password.
    Login,
    /// What an authorization server sends back, to be changed for a token.
    Grant,
}

/// Words of names; a name is judged as a whole afterwards.
#[rustfmt::skip]
const NAME_WORDS: &[&str] = &[
    "pass", "pwd", "pw", "secret", "token", "key", "auth", "cred", "salt", "signature",
    "webhook", "cookie", "sessionid", "session_id", "connectionstring", "connection_string",
    "dsn", "sid", "sig", "pin", "otp",
];
/// Personal access tokens.
const PATS: &[&str] = &["_pat", "-pat", "pat=", "pat:", "pat\""];
/// Keys of wallets and of releases.
const WALLETS: &[&str] = &["signing", "mnemonic", "seed_phrase", "seedphrase"];
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
            .chain(of(PATS, Anchor::Name))
            .chain(of(WALLETS, Anchor::Name))
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
            .chain(of(LOGINS, Anchor::Login))
            .chain(of(&["?code=", "&code="], Anchor::Grant))
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

/// What stands before a name and a password.
const LOGINS: &[&str] = &["auth=(", "auth = (", "auth(", "login("];

const MAX_CALL: usize = 512;

/// The password of `auth=("name", "password")` and the like, when it is a literal; `after` is the
/// place behind the bracket.
pub(super) fn login_secret(text: &[u8], after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_CALL))?;
    let comma = rest
        .iter()
        .position(|byte| matches!(byte, b',' | b'(' | b')' | b'{' | b';'))?;
    let behind = rest.get(comma..)?.strip_prefix(b",")?;
    let argument = behind.trim_ascii_start();
    let quote = argument.first().filter(|byte| b"\"'`".contains(byte))?;
    let inside = argument.get(1..)?;
    let length = memchr::memchr2(*quote, b'\n', inside)?;
    let password = inside.get(..length)?;
    let closed = inside.get(length) == Some(quote);
    let last = inside.get(length + 1..)?.trim_ascii_start();
    let last = matches!(last.first(), Some(b')' | b','));
    let start = after + comma + 1 + (behind.len() - argument.len()) + 1;
    // A path may look like what a person types, and never like what a machine makes up.
    let least = match password.first() {
        Some(b'/' | b'.') => Strength::Strong,
        _ => Strength::Medium,
    };
    let found = closed && last && strength(password) >= least;
    found.then_some(start..start + length)
}

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
    fn passwords_beside_names_are_masked() {
        for text in [
            "requests.get(u, auth=('me', 'Tr0ub4dor&3'))",
            "HTTPBasicAuth(user, \"7f9aK2mQ8xZt4Vb1Lw6Yp0Rc3Ns5Hd9Gj2\")",
            "client.login(\n    'me',\n    'uonnll86!QYK',\n)",
        ] {
            let out = Redactor::default().redact(text).text.into_owned();
            assert!(out.contains("[REDACTED:secret-argument]"), "{out}");
        }
    }

    #[test]
    fn other_arguments_are_kept() {
        for text in [
            "requests.get(u, auth=('user', 'pass'))",
            "auth = (name, password)",
            "HTTPBasicAuth('me', os.environ['PASS'])",
            "login('next', '/accounts/login/?next=/a1')",
            "authenticate(request, username='me')",
            "hmac.new(key, body).hexdigest() == '3f9a1c7be0d24568a1b7c9d0e2f41357'",
            "createHmac('sha256', secret)",
            "jwt.sign(payload, 'shhhhh')",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }
}
