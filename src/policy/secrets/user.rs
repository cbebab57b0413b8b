//! The secret rules of the user: `[[output.secret]]` of the settings.

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use super::credentials::shift;
use super::formats::is_taken;
use super::scan::Hit;
use crate::config::SecretRule;

// Bytes that a compiled pattern may take.
const MAX_COMPILED: usize = 1 << 20;
const MAX_ID: usize = 48;

/// Why a rule of the user cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserRuleError {
    /// The id could not stand in a mask.
    #[error("`{0}` is not an id: at most 48 lower-case letters, digits and dashes")]
    Id(String),
    /// Another rule has the id.
    #[error("there are two rules `{0}`")]
    Taken(String),
    /// The pattern is no regular expression, or too large a one.
    #[error("the pattern of `{id}` is not a regular expression: {reason}")]
    Pattern {
        /// The rule.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The pattern would mask nothing everywhere.
    #[error("the pattern of `{0}` matches an empty text")]
    Empty(String),
}

/// The rules of the user, ready to be asked.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct UserRules {
    rules: Arc<[Compiled]>,
}

#[derive(Debug)]
struct Compiled {
    id: String,
    pattern: Regex,
    keywords: Option<AhoCorasick>,
}

impl UserRules {
    /// Compiles rules; the ids of the table and of each other are taken.
    pub(in crate::policy) fn new(rules: &[SecretRule]) -> Result<Self, UserRuleError> {
        let mut compiled: Vec<Compiled> = Vec::new();
        for rule in rules {
            if is_taken(&rule.id) || compiled.iter().any(|other| other.id == rule.id) {
                return Err(UserRuleError::Taken(rule.id.clone()));
            }
            compiled.push(compile(rule)?);
        }
        Ok(Self {
            rules: compiled.into(),
        })
    }

    pub(super) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        for rule in self.rules.iter() {
            let Some(keywords) = &rule.keywords else {
                rule.find(text, 0, hits);
                continue;
            };
            let mut done = 0;
            for keyword in keywords.find_iter(text) {
                if keyword.start() < done {
                    continue;
                }
                let start = memchr::memrchr(b'\n', &text[..keyword.start()]);
                let start = start.map_or(0, |at| at + 1);
                let end = memchr::memchr(b'\n', &text[keyword.start()..]);
                done = end.map_or(text.len(), |at| keyword.start() + at);
                rule.find(&text[start..done], start, hits);
            }
        }
    }
}

impl Compiled {
    fn find(&self, text: &[u8], offset: usize, hits: &mut Vec<Hit>) {
        for found in self.pattern.captures_iter(text) {
            let secret = found.get(1).or_else(|| found.get(0));
            let range = secret.map_or(0..0, |secret| shift(secret.range(), offset));
            hits.push(Hit::new(self.id.clone(), range));
        }
    }
}

fn compile(rule: &SecretRule) -> Result<Compiled, UserRuleError> {
    let id = rule.id.clone();
    let part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(part) {
        return Err(UserRuleError::Id(id));
    }
    let failed = |reason: String| UserRuleError::Pattern {
        id: rule.id.clone(),
        reason,
    };
    let pattern = RegexBuilder::new(&rule.pattern)
        .size_limit(MAX_COMPILED)
        .build()
        .map_err(|error| failed(error.to_string()))?;
    if pattern.is_match(b"") {
        return Err(UserRuleError::Empty(id));
    }
    let words: Vec<&String> = rule
        .keywords
        .iter()
        .filter(|word| !word.is_empty())
        .collect();
    let keywords = (!words.is_empty())
        .then(|| {
            AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .build(words)
        })
        .transpose()
        .map_err(|error| failed(error.to_string()))?;
    Ok(Compiled {
        id,
        pattern,
        keywords,
    })
}

#[cfg(test)]
mod tests {
    use super::{SecretRule, UserRuleError};
    use crate::policy::Redactor;

    fn rule(id: &str, pattern: &str, keywords: &[&str]) -> SecretRule {
        SecretRule {
            id: id.to_owned(),
            pattern: pattern.to_owned(),
            keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
            why: None,
        }
    }

    #[test]
    fn rules_of_the_user_mask_beside_the_table() {
        for (rule, text, masked) in [
            (
                rule("acme", "acme_[a-z]{4}", &[]),
                "x acme_abcd, acme_efgh",
                "x [REDACTED:acme], [REDACTED:acme]",
            ),
            (
                rule("ticket", "no ([0-9]{4})", &["Badge"]),
                "no 1234\nbadge no 5678 no 4321\n",
                "no 1234\nbadge no [REDACTED:ticket] no [REDACTED:ticket]\n",
            ),
            (
                rule("encoded", "acme=[a-z]{4}", &[]),
                "u?q=acme%3Dabcd&r=1",
                "u?q=[REDACTED:encoded]&r=1",
            ),
            (rule("all", "[a-z]+", &[]), "one", "[REDACTED:all]"),
        ] {
            let redactor = Redactor::default().with_rules(&[rule]).unwrap();
            assert_eq!(redactor.redact(text).text, masked);
            assert_eq!(redactor.redact(masked).text, masked);
        }
    }

    #[test]
    fn a_rule_that_cannot_work_is_refused() {
        for (rules, error) in [
            (
                vec![rule("A B", "x", &[])],
                UserRuleError::Id("A B".to_owned()),
            ),
            (
                vec![rule("jwt", "x", &[])],
                UserRuleError::Taken("jwt".to_owned()),
            ),
            (
                vec![rule("a", "x", &[]), rule("a", "y", &[])],
                UserRuleError::Taken("a".to_owned()),
            ),
            (
                vec![rule("a", "x*", &[])],
                UserRuleError::Empty("a".to_owned()),
            ),
        ] {
            assert_eq!(Redactor::default().with_rules(&rules).unwrap_err(), error);
        }
        let broken = Redactor::default().with_rules(&[rule("a", "(", &[])]);
        assert!(matches!(broken, Err(UserRuleError::Pattern { .. })));
        let large = Redactor::default().with_rules(&[rule("a", "(?:[a-z]{999}){999}", &[])]);
        assert!(matches!(large, Err(UserRuleError::Pattern { .. })));
    }
}
