//! The secret rules of the user: `[[output.secret]]` of the settings.

use std::collections::HashSet;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};

use super::formats::is_taken;
use super::scan::Hit;
use crate::config::SecretRule;

/// Why a rule of the user cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rule `{id}` {why}")]
pub struct UserRuleError {
    id: String,
    why: String,
}

/// The rules of the user, ready to be asked.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct UserRules {
    rules: Arc<[(String, Regex)]>,
}

impl UserRules {
    /// Compiles rules; the ids of the table and of each other are taken.
    pub(in crate::policy) fn new(rules: &[SecretRule]) -> Result<Self, UserRuleError> {
        let mut ids = HashSet::new();
        let mut compiled = Vec::new();
        for rule in rules {
            let pattern = compile_rule(rule, ids.insert(rule.id.as_str()) && !is_taken(&rule.id));
            let pattern = pattern.map_err(|why| UserRuleError {
                id: rule.id.clone(),
                why,
            })?;
            compiled.push((rule.id.clone(), pattern));
        }
        Ok(Self {
            rules: compiled.into(),
        })
    }

    pub(super) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        for (id, pattern) in self.rules.iter() {
            for found in pattern.captures_iter(text) {
                let secret = found.get(1).or_else(|| found.get(0));
                hits.extend(secret.map(|secret| Hit::new(id.clone(), secret.range())));
            }
        }
    }
}

fn compile_rule(rule: &SecretRule, is_new: bool) -> Result<Regex, String> {
    if rule.id.is_empty() || rule.id.len() > 48 || !rule.id.bytes().all(is_id_byte) {
        return Err("needs an id of at most 48 lower-case letters, digits and dashes".to_owned());
    }
    if !is_new {
        return Err("has the same id as another rule".to_owned());
    }
    // Bounded, so that a pattern cannot exhaust memory.
    let pattern = RegexBuilder::new(&rule.pattern)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| format!("has an invalid pattern: {error}"))?;
    if pattern.is_match(b"") {
        return Err("has a pattern that matches an empty text".to_owned());
    }
    Ok(pattern)
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::SecretRule;
    use crate::policy::Redactor;

    fn rule(id: &str, pattern: &str) -> SecretRule {
        SecretRule {
            id: id.to_owned(),
            pattern: pattern.to_owned(),
            why: None,
        }
    }

    #[test]
    fn user_rules_extend_table() {
        for (rule, text, masked) in [
            (
                rule("acme", "acme_[a-z]{4}"),
                "x acme_abcd, acme_efgh",
                "x [REDACTED:acme], [REDACTED:acme]",
            ),
            (
                rule("ticket", "badge no ([0-9]{4})"),
                "no 1234\nbadge no 5678 no 4321\n",
                "no 1234\nbadge no [REDACTED:ticket] no 4321\n",
            ),
            (
                rule("encoded", "acme=[a-z]{4}"),
                "u?q=acme%3Dabcd&r=1",
                "u?q=[REDACTED:encoded]&r=1",
            ),
            (rule("all", "[a-z]+"), "one", "[REDACTED:all]"),
        ] {
            let redactor = Redactor::default().with_rules(&[rule]).unwrap();
            assert_eq!(redactor.redact(text).text, masked);
            assert_eq!(redactor.redact(masked).text, masked);
        }
    }

    #[test]
    fn refuses_useless_rule() {
        for (rules, why) in [
            (vec![rule("A B", "x")], "lower-case letters"),
            (vec![rule("jwt", "x")], "same id as another rule"),
            (
                vec![rule("a", "x"), rule("a", "y")],
                "same id as another rule",
            ),
            (vec![rule("a", "x*")], "matches an empty text"),
            (vec![rule("a", "(")], "invalid pattern"),
            (vec![rule("a", "(?:[a-z]{999}){999}")], "invalid pattern"),
        ] {
            let error = Redactor::default().with_rules(&rules).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
