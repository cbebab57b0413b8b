//! Finds values known to be secret as they are, in hex and in base64: those of variables with secret names and of
//! passwords in URLs of the environment, and those that their surroundings gave away elsewhere.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, MatchKind};

use super::base64::{to_base64, to_base64_url};
use super::name::{WORDS, is_secret_name};
use super::scan::Hit;
use super::value::{Strength, has_byte, is_placeholder, measure_strength};

const MIN_LENGTH: usize = 6;

/// Values of environment variables, verbatim and encoded.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct KnownValues {
    forms: BTreeSet<Vec<u8>>,
    finder: Option<AhoCorasick>,
}

impl KnownValues {
    /// Adds the values of secret-named variables and the passwords in variables that hold URLs.
    pub(in crate::policy) fn learn(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) {
        let before = self.forms.len();
        for (name, value) in variables {
            let whole = is_secret_name(&name).then_some(value.as_str());
            let known = [whole, url_password(&value)].into_iter().flatten();
            for value in known.filter(|value| is_worth_masking(value)) {
                self.forms.extend(list_encodings(value));
            }
        }
        if self.forms.len() > before {
            self.finder = build_finder(&self.forms);
        }
    }

    pub(super) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        let found = self.finder.iter().flat_map(|finder| finder.find_iter(text));
        hits.extend(found.map(|found| Hit::new("environment-variable", found.range())));
    }
}

/// Values that their surroundings gave away, each with the rule that found it there.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct Learned {
    values: BTreeMap<Vec<u8>, Cow<'static, str>>,
}

impl Learned {
    /// Learns a masked value, unless it is short, common, or known by its own shape.
    pub(in crate::policy) fn learn(&mut self, value: &[u8], rule: &str) {
        const BY_PLACE: &[&str] = &[
            "password", "named-secret", "named-key", "secret-argument", "command-line",
            "authorization", "url-credentials",
        ];
        let is_url = rule == "url-credentials";
        let password = value.rsplit(|byte| is_url && *byte == b':').next().unwrap_or(value);
        let is_wanted = BY_PLACE.contains(&rule) && self.values.len() < 10_000;
        if is_wanted && is_distinctive(password) {
            self.values
                .entry(password.to_vec())
                .or_insert_with(|| Cow::Owned(rule.to_owned()));
        }
    }

    pub(in crate::policy) fn extend(&mut self, other: Self) {
        self.values.extend(other.values);
    }

    /// Builds the search for the values, as they are and encoded; `None` without any.
    pub(in crate::policy) fn finder(&self) -> Option<LearnedFinder> {
        let mut forms = BTreeMap::new();
        for (value, rule) in &self.values {
            let encoded = list_encodings(&String::from_utf8_lossy(value));
            for form in encoded.into_iter().filter(|form| form.len() >= MIN_LENGTH) {
                let whole = form == *value && measure_strength(value) < Strength::Strong;
                forms.entry(form).or_insert((rule.clone(), whole));
            }
        }
        let (forms, rules): (BTreeSet<_>, Vec<_>) = forms.into_iter().unzip();
        let finder = build_finder(&forms).filter(|_| !rules.is_empty())?;
        Some(LearnedFinder { finder, rules })
    }
}

/// Finds learned values in texts.
#[derive(Debug, Clone)]
pub(in crate::policy) struct LearnedFinder {
    finder: AhoCorasick,
    /// For each form its rule, and whether it counts as a whole word alone.
    rules: Vec<(Cow<'static, str>, bool)>,
}

impl LearnedFinder {
    pub(super) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        for found in self.finder.find_iter(text) {
            let (rule, whole) = &self.rules[found.pattern().as_usize()];
            let before = text[..found.start()].last();
            if !whole || !(is_part(before) || is_part(text.get(found.end()))) {
                hits.push(Hit::new(rule.clone(), found.range()));
            }
        }
    }
}

fn is_part(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

fn build_finder(forms: &BTreeSet<Vec<u8>>) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::LeftmostLongest).build(forms).ok()
}

/// Whether a value is no word that may be in any text.
fn is_distinctive(value: &[u8]) -> bool {
    let is_mixed = has_byte(value, u8::is_ascii_alphabetic)
        && has_byte(value, u8::is_ascii_digit)
        && (8..=1024).contains(&value.len());
    let words = value.split(|byte| b" -".contains(byte)).count();
    (8..=1024).contains(&value.len())
        && std::str::from_utf8(value).is_ok_and(is_worth_masking)
        && !is_placeholder(value)
        && (measure_strength(value) >= Strength::Medium || words >= 3 || is_mixed)
}

/// Whether masking a value everywhere would not eat ordinary text.
fn is_worth_masking(value: &str) -> bool {
    let distinct: BTreeSet<u8> = value.bytes().collect();
    let is_short_path = value.starts_with('/') && value.len() < 24;
    value.len() >= MIN_LENGTH
        && distinct.len() >= 3
        && !WORDS.common.contains(&*value.to_ascii_lowercase())
        && !is_short_path
        && !value.starts_with("[REDACTED:")
}

fn url_password(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (user, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

/// Returns the value itself, its long lines, in hex, and in base64 at each of the three places it can
/// have inside a longer text, as in the `user:password` of a basic header. Escapes are decoded by the
/// readings of the text.
fn list_encodings(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![value.to_owned(), hex.to_ascii_uppercase(), hex];
    let lines = value.lines().map(str::trim).filter(|line| line.len() >= 16);
    forms.extend(lines.map(str::to_owned));
    for offset in 0..3_usize {
        let padded = [&vec![0; offset], bytes].concat();
        // Both ends are cut, because their characters hold bits of the neighbors as well.
        let inner = (offset * 8).div_ceil(6)..(offset + bytes.len()) * 8 / 6;
        for encoded in [to_base64(&padded), to_base64_url(&padded)] {
            let inner = encoded.get(inner.clone()).unwrap_or_default();
            forms.extend((inner.len() >= 8).then(|| inner.to_owned()));
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::is_secret_name;
    use crate::policy::Redactor;
    use crate::policy::to_base64;

    fn redactor(name: &str, value: &str) -> Redactor {
        Redactor::new([(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn values_are_masked_in_every_encoding() {
        let value = "zq/Some+thing?1";
        let redactor = redactor("MY_DEPLOY_TOKEN", value);
        for prefix in ["", "u", "us", "usr:"] {
            let encoded = to_base64(format!("{prefix}{value}!!").as_bytes());
            let out = redactor.mask(&encoded);
            assert!(out.contains("[REDACTED:"), "{prefix} {out}");
        }
        for text in [value, "zq%2FSome%2Bthing%3F1", "zq%2fSome%2bthing%3f1"] {
            assert!(!redactor.redact(text).text.contains("thing"), "{text}");
        }
    }

    #[test]
    fn skips_names_about_secrets() {
        for name in [
            "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "npm_config_authToken", "DB_PASS",
            "SENTRY_DSN", "x-api-key", "SLACK_WEBHOOK_URL",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PWD", "SSH_AUTH_SOCK", "AWS_ACCESS_KEY_ID", "SSH_KEY_PATH", "PATH", "KEYBOARD",
            "TOKENIZERS_PARALLELISM",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn url_password_is_secret_under_any_name() {
        let redactor = redactor("DATABASE", "postgres://app:hunter2x@db/x");
        assert_eq!(
            redactor.redact("login hunter2x").text,
            "login [REDACTED:environment-variable]"
        );
    }

    #[test]
    fn keeps_short_and_common_values() {
        assert_eq!(redactor("API_KEY", "true").redact("true").text, "true");
        assert_eq!(
            redactor("API_KEY", "password").redact("password").text,
            "password"
        );
    }
}
