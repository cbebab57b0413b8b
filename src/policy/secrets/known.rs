use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::scan::Hit;
use super::value::{Strength, is_placeholder, strength};

const RULE: &str = "environment-variable";
const MIN_LENGTH: usize = 6;

/// Values that are known to be secret, verbatim and encoded.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct KnownValues {
    forms: BTreeSet<Vec<u8>>,
    finder: Option<AhoCorasick>,
}

impl KnownValues {
    /// Adds the values of secret-named variables and the passwords in any variable that holds a URL.
    pub(in crate::policy) fn learn(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) {
        let before = self.forms.len();
        for (name, value) in variables {
            if is_secret_name(&name) && is_worth_masking(&value) {
                self.forms.extend(encodings(&value));
            }
            if let Some(password) =
                url_password(&value).filter(|password| is_worth_masking(password))
            {
                self.forms.extend(encodings(password));
            }
        }
        if self.forms.len() > before {
            self.finder = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&self.forms)
                .ok();
        }
    }

    pub(super) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        let Some(finder) = &self.finder else {
            return;
        };
        let found = finder.find_iter(text);
        hits.extend(found.map(|found| Hit::new(RULE, found.range())));
    }
}

/// Values that their surroundings told somewhere, each with the rule that knew it there.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct Learned {
    values: BTreeMap<Vec<u8>, Cow<'static, str>>,
}

impl Learned {
    /// Takes what was masked, unless it is short or common, or was known without surroundings.
    pub(in crate::policy) fn take(&mut self, value: &[u8], rule: &str) {
        if TELLING.contains(&rule) && self.values.len() < MAX_LEARNED {
            for part in parts(value, rule).filter(|it| is_told_again(it)) {
                let rule_name = || Cow::Owned(rule.to_owned());
                self.values.entry(part.to_vec()).or_insert_with(rule_name);
            }
        }
    }

    pub(in crate::policy) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Values of another one, too.
    pub(in crate::policy) fn extend(&mut self, other: Self) {
        self.values.extend(other.values);
    }

    /// What finds them, as they stand and encoded.
    pub(in crate::policy) fn finder(&self) -> LearnedFinder {
        let mut forms = BTreeMap::new();
        for (value, rule) in &self.values {
            let text = String::from_utf8_lossy(value);
            for form in encodings(&text)
                .into_iter()
                .filter(|it| it.len() >= MIN_LENGTH)
            {
                let whole = form == *value && strength(value) < Strength::Strong;
                forms.entry(form).or_insert((rule.clone(), whole));
            }
        }
        let (forms, rules): (Vec<_>, Vec<_>) = forms.into_iter().unzip();
        let mut builder = AhoCorasick::builder();
        let finder = builder.match_kind(MatchKind::LeftmostLongest).build(forms);
        LearnedFinder {
            finder: finder.ok(),
            rules,
        }
    }
}

/// Finds learned values in texts.
#[derive(Debug, Clone)]
pub(in crate::policy) struct LearnedFinder {
    finder: Option<AhoCorasick>,
    // Of each form its rule, and whether it counts as a whole word alone.
    rules: Vec<(Cow<'static, str>, bool)>,
}

impl LearnedFinder {
    pub(super) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        let inside = |at: Option<usize>| {
            let byte = at.and_then(|at| text.get(at));
            byte.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_')
        };
        for found in self.finder.iter().flat_map(|it| it.find_iter(text)) {
            let Some((rule, whole)) = self.rules.get(found.pattern().as_usize()) else {
                continue;
            };
            let (before, after) = (found.start().checked_sub(1), Some(found.end()));
            if !whole || !(inside(before) || inside(after)) {
                hits.push(Hit::new(rule.clone(), found.range()));
            }
        }
    }
}

const MAX_LEARNED: usize = 10_000;

// What is known by what stands around it.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "password", "named-secret", "named-key", "secret-argument", "command-line", "authorization",
    "url-credentials",
];

// Of a name and a password in one the password.
fn parts<'v>(value: &'v [u8], rule: &str) -> impl Iterator<Item = &'v [u8]> {
    let mark = if rule == "url-credentials" { b':' } else { 0 };
    value.rsplit(move |byte| *byte == mark).take(1)
}

// No word that may stand in any text.
fn is_told_again(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let kinds = [
        has(u8::is_ascii_lowercase),
        has(u8::is_ascii_uppercase),
        has(u8::is_ascii_digit),
        has(u8::is_ascii_punctuation),
    ];
    let mixed = kinds.into_iter().filter(|it| *it).count() >= 2 && has(u8::is_ascii_alphabetic);
    let words = value.split(|byte| b" -".contains(byte)).count();
    (8..=1024).contains(&value.len())
        && std::str::from_utf8(value).is_ok_and(is_worth_masking)
        && !is_placeholder(value)
        && (strength(value) >= Strength::Medium || words >= 3 || (mixed && has(u8::is_ascii_digit)))
}

/// Whether a variable or a field of this name usually holds a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "PW",
        "KEY", "APIKEY", "CREDENTIAL", "CREDENTIALS", "AUTH", "PAT", "DSN", "COOKIE", "JWT",
        "AUTHORIZATION", "BEARER", "WEBHOOK", "SIGNATURE", "SALT",
    ];
    // A path, a name or a number about a secret, not the secret.
    #[rustfmt::skip]
    const NOT: &[&str] = &[
        "PATH", "FILE", "DIR", "SOCK", "ID", "NAME", "TYPE", "TTL", "URL", "URI", "HOST",
        "PORT", "USER", "COUNT", "METHOD", "MODE", "ENABLED", "TIMEOUT", "ALGORITHM", "HEADER",
        "REPEAT", "FORMAT", "STORE", "SIZE", "LIMIT",
    ];
    let upper = name.to_ascii_uppercase();
    if matches!(upper.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let words: Vec<&str> = upper
        .split(['_', '-', '.'])
        .filter(|word| !word.is_empty())
        .collect();
    let secret = |word: &str| {
        let ends = [
            "TOKEN",
            "SECRET",
            "PASSWORD",
            "PASSWD",
            "PASSPHRASE",
            "APIKEY",
        ];
        WORDS.contains(&word) || ends.iter().any(|end| word.ends_with(end))
    };
    // Who knows the address of a webhook may post to it.
    let about = words.last().is_some_and(|last| NOT.contains(last)) && !words.contains(&"WEBHOOK");
    words.iter().any(|word| secret(word)) && !about
}

fn is_worth_masking(value: &str) -> bool {
    #[rustfmt::skip]
    const COMMON: &[&str] = &[
        "password", "secret", "changeme", "enabled", "disabled", "default", "postgres",
        "development", "production", "localhost", "public", "private", "testing",
    ];
    let lower = value.to_ascii_lowercase();
    let mut distinct: Vec<u8> = value.bytes().collect();
    distinct.sort_unstable();
    distinct.dedup();
    value.len() >= MIN_LENGTH
        && distinct.len() >= 3
        && !COMMON.contains(&lower.as_str())
        && !(value.starts_with('/') && value.len() < 24)
        && !value.starts_with("[REDACTED:")
}

fn url_password(value: &str) -> Option<&str> {
    let rest = value.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let user = authority.rsplit_once('@')?.0;
    user.split_once(':').map(|(_, password)| password)
}

// The value itself, as a JSON string, percent-encoded, in hex, and in base64 at each of the three
// places it can have inside a longer text, as in the `user:password` of a basic header.
fn encodings(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let mut forms = vec![bytes.to_vec()];
    if let Ok(quoted) = serde_json::to_string(value) {
        forms.push(quoted.trim_matches('"').as_bytes().to_vec());
    }
    for line in value.lines().map(str::trim).filter(|line| line.len() >= 16) {
        forms.push(line.as_bytes().to_vec());
    }
    for upper in [true, false] {
        let mut percent = Vec::new();
        let mut hex = Vec::new();
        for byte in bytes {
            let digits = if upper {
                format!("{byte:02X}")
            } else {
                format!("{byte:02x}")
            };
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(byte) {
                percent.push(*byte);
            } else {
                percent.push(b'%');
                percent.extend(digits.bytes());
            }
            hex.extend(digits.bytes());
        }
        forms.push(percent);
        forms.push(hex);
    }
    forms.push(STANDARD.encode(bytes).into_bytes());
    for offset in 0..3_usize {
        let mut padded = vec![0; offset];
        padded.extend_from_slice(bytes);
        // Characters that hold bits of the neighbours as well are left out at both ends.
        let from = (offset * 8).div_ceil(6);
        let to = (offset + bytes.len()) * 8 / 6;
        for encoded in [
            STANDARD_NO_PAD.encode(&padded),
            URL_SAFE_NO_PAD.encode(&padded),
        ] {
            let inner = encoded.as_bytes().get(from..to).unwrap_or_default();
            if inner.len() >= 8 {
                forms.push(inner.to_vec());
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::is_secret_name;
    use crate::policy::Redactor;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    fn redactor(name: &str, value: &str) -> Redactor {
        Redactor::new([(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn values_are_masked_in_every_encoding() {
        let value = "zq/Some+thing?1";
        let redactor = redactor("MY_DEPLOY_TOKEN", value);
        for prefix in ["", "u", "us", "usr:"] {
            let encoded = STANDARD.encode(format!("{prefix}{value}!!"));
            let out = redactor.redact(&encoded).text.into_owned();
            assert!(out.contains("[REDACTED:"), "{prefix} {out}");
        }
        for text in [value, "zq%2FSome%2Bthing%3F1", "zq%2fSome%2bthing%3f1"] {
            assert!(!redactor.redact(text).text.contains("thing"), "{text}");
        }
    }

    #[test]
    fn names_that_only_speak_about_secrets_are_left_out() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "npm_config_authToken",
            "DB_PASS",
            "SENTRY_DSN",
            "x-api-key",
            "SLACK_WEBHOOK_URL",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PWD",
            "SSH_AUTH_SOCK",
            "AWS_ACCESS_KEY_ID",
            "SSH_KEY_PATH",
            "PATH",
            "KEYBOARD",
            "TOKENIZERS_PARALLELISM",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn the_password_of_a_url_is_a_secret_under_any_name() {
        let redactor = redactor("DATABASE", "postgres://app:hunter2x@db/x");
        assert_eq!(
            redactor.redact("login hunter2x").text,
            "login [REDACTED:environment-variable]"
        );
    }

    #[test]
    fn short_and_common_values_are_left_alone() {
        assert_eq!(redactor("API_KEY", "true").redact("true").text, "true");
        assert_eq!(
            redactor("API_KEY", "password").redact("password").text,
            "password"
        );
    }
}
