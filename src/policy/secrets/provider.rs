use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::anchors::rules;
use super::rule::Rule;

// No token is longer; a regular expression never looks further.
const WINDOW: usize = 16 * 1024;

struct Compiled {
    rule: &'static Rule,
    pattern: OnceLock<Option<Regex>>,
}

static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    let compiled = |rule| Compiled {
        rule,
        pattern: OnceLock::new(),
    };
    rules().map(compiled).collect()
});

/// The name of the rule and the range of the secret, when rule `index` holds at its anchor `at`.
pub(super) fn match_rule(
    text: &[u8],
    index: usize,
    at: usize,
) -> Option<(&'static str, Range<usize>)> {
    let Compiled { rule, pattern } = COMPILED.get(index)?;
    let before = at.saturating_sub(rule.back);
    let preceding = before.checked_sub(1).and_then(|place| text.get(place));
    if rule.word && preceding.is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let pattern = pattern.get_or_init(|| compile(rule)).as_ref()?;
    let window = text.get(before..text.len().min(at + WINDOW))?;
    let found = pattern.find(window)?;
    let secret = before + found.start()..before + found.end();
    (secret.contains(&at) && varied(found.as_bytes())).then_some((rule.name, secret))
}

fn compile(rule: &Rule) -> Option<Regex> {
    let anchor = if rule.back == 0 { "^" } else { "" };
    RegexBuilder::new(&format!("{anchor}(?:{})", rule.pattern))
        .unicode(false)
        .build()
        .ok()
}

// Masks and fillers such as `ghp_xxxxxxxx` hardly vary.
fn varied(token: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in token {
        if let Some(slot) = seen.get_mut(usize::from(*byte)) {
            *slot = true;
        }
    }
    let example = token.ends_with(b"EXAMPLE");
    seen.iter().filter(|seen| **seen).count() >= 10.min(token.len() / 2) && !example
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::policy::Redactor;
    use crate::policy::secrets::anchors::rules;

    #[test]
    fn every_rule_finds_its_example_and_keeps_its_lookalike() {
        let redactor = Redactor::default();
        for rule in rules() {
            let example = rule.example.replace('`', "");
            for text in [
                example.clone(),
                format!("at \"{example}\","),
                format!("log: {example}\n"),
            ] {
                let redacted = redactor.redact(&text);
                assert!(!redacted.text.contains(&example), "{}: {text}", rule.name);
            }
            let lookalike = rule.lookalike.replace('`', "");
            let text = format!("see {lookalike} here");
            assert_eq!(redactor.redact(&text).text, text, "{}", rule.name);
        }
    }

    #[test]
    fn names_are_unique_and_say_nothing_that_starts_a_rule() {
        let names: BTreeSet<_> = rules().map(|rule| rule.name).collect();
        assert_eq!(names.len(), rules().count());
        let redactor = Redactor::default();
        for rule in rules() {
            let mask = format!("[REDACTED:{}]=[REDACTED:{}]", rule.name, rule.name);
            assert_eq!(redactor.redact(&mask).text, mask);
        }
    }

    #[test]
    fn fillers_are_kept() {
        let redactor = Redactor::default();
        for text in [
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "AKIAXXXXXXXXXXXXXXXX",
            "xoxb-000000000000-000000000000",
        ] {
            assert_eq!(redactor.redact(text).text, text);
        }
    }
}
