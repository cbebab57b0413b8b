//! Tokens that are known by their own shape: the rows of `rules/*.toml`, and asking them quickly.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::scan::Hit;
use super::value::{Strength, has_byte, measure_strength, reads_like_words};
use crate::model::parse_rows;

/// One row of the table in `rules/*.toml`.
#[derive(Default, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rule {
    /// The name that is in the mask.
    pub(super) id: String,
    /// Fixed texts, any of which makes the rule worth asking. Compared with regard to case.
    pub(super) starts: Vec<String>,
    /// A regular expression of the whole secret, without anchors. Empty for a rule that checks the
    /// place of a value instead.
    pattern: String,
    /// At most this many bytes of the secret are before the fixed text.
    back: usize,
    /// Whether a letter or digit right before the secret rules it out. Only for starts that turn up
    /// inside ordinary words or base64: logs often put a letter directly before a token.
    word: bool,
    /// A secret of this format. A backtick in it is dropped; it keeps scanners from taking the
    /// example for a live token.
    example: String,
    /// A text that only looks like one; a backtick is dropped here too.
    lookalike: String,
    /// What the secret opens, in a sentence.
    why: String,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

/// The rules that have a pattern, each with its place in the table.
pub(super) fn format_rules() -> impl Iterator<Item = (usize, &'static Rule)> {
    TABLE.iter().enumerate().filter(|(_, rule)| !rule.pattern.is_empty())
}

/// Whether a rule of the table has this id.
pub(super) fn is_taken(id: &str) -> bool {
    TABLE.iter().any(|rule| rule.id == id)
}

macro_rules! rules_of {
    ($($name:literal),*) => {
        [$(embedded!("policy/secrets/rules/", $name)),*].map(parse_rows).into_iter().flatten().collect()
    };
}

static TABLE: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    rules_of!(
        "ai.toml", "cloud.toml", "formats.toml", "hosts.toml", "messages.toml", "packages.toml",
        "payments.toml", "services.toml", "surroundings.toml"
    )
});

// No token is longer, so that a regular expression never looks further.
const WINDOW: usize = 16 * 1024;

/// Asks rules at the places where their fixed texts turn up, from the front of a text to its end.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// The end of the run of visible characters around the last place.
    run_end: usize,
    /// Rules asked in the current window of a long run.
    asked: usize,
    window: usize,
}

impl Matcher {
    /// Finds the secret of a rule whose fixed text is at `literal`.
    pub(super) fn find(&mut self, text: &[u8], rule: usize, literal: Range<usize>) -> Option<Hit> {
        let rule = TABLE.get(rule)?;
        let from = literal.start.saturating_sub(rule.back);
        if rule.word && is_inside_word(text, from) {
            return None;
        }
        let window = &text[from..self.window_end(text, literal.start)?];
        let pattern = rule.compiled.get_or_init(|| {
            let anchor = if rule.back == 0 { "^" } else { "" };
            let mut pattern = RegexBuilder::new(&format!("{anchor}(?:{})", rule.pattern));
            pattern.unicode(false).build().ok()
        });
        let found = pattern.as_ref()?.find(window)?;
        let secret = from + found.start()..from + found.end();
        let body = text.get(literal.end..secret.end).unwrap_or_default();
        let varied = if rule.back == 0 { body } else { found.as_bytes() };
        if !secret.contains(&literal.start) || !is_varied(varied) || reads_like_words(body) {
            return None;
        }
        // A token that is longer than its format says is masked to its end.
        let rest = window[found.end()..].iter().take(128);
        let more = rest.take_while(|byte| byte.is_ascii_alphanumeric()).count();
        Some(Hit::new(rule.id.as_str(), secret.start..secret.end + more))
    }

    /// Returns the end of the run of visible characters: no secret holds white space.
    fn window_end(&mut self, text: &[u8], at: usize) -> Option<usize> {
        if at >= self.run_end {
            let length = text[at..].iter().position(u8::is_ascii_whitespace);
            self.run_end = length.map_or(text.len(), |length| at + length);
        }
        // Runs of more than a screen without a blank are data or an attack: 256 rules at most are asked in each
        // window of one, so that the work stays in proportion to the text.
        if self.run_end - at > 1024 {
            if at / WINDOW != self.window {
                (self.window, self.asked) = (at / WINDOW, 0);
            }
            self.asked += 1;
            if self.asked > 256 {
                return None;
            }
        }
        Some(self.run_end.min(at + WINDOW))
    }
}

/// The id of an AWS key; tools list the key itself beside it.
pub(super) const AWS_KEY_ID: &str = "aws-access-key-id";

/// Finds the forty characters of an AWS key within 200 bytes of its id.
pub(super) fn find_aws_key(text: &[u8], id: &Range<usize>) -> Option<Range<usize>> {
    let from = id.start.saturating_sub(200);
    let around = &text[from..text.len().min(id.end + 200)];
    let mut end = from;
    around
        .split(|byte| !(byte.is_ascii_alphanumeric() || b"+/".contains(byte)))
        .find_map(|word| {
            let start = end;
            end += word.len() + 1;
            let is_hex = word.iter().all(u8::is_ascii_hexdigit);
            let is_key = word.len() == 40
                && has_byte(word, u8::is_ascii_digit)
                && has_byte(word, u8::is_ascii_uppercase);
            (is_key && !is_hex && measure_strength(word) == Strength::Strong)
                .then_some(start..start + 40)
        })
}

/// Checks whether a letter, a digit or a long run of base64 comes right before.
fn is_inside_word(text: &[u8], at: usize) -> bool {
    let long_word = 24;
    let before = &text[at.saturating_sub(long_word)..at];
    match before.last() {
        Some(b'+' | b'/') => {
            let mut bytes = before.iter();
            before.len() == long_word
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte))
        }
        last => last.is_some_and(u8::is_ascii_alphanumeric),
    }
}

/// Whether a token is more than a mask or filler such as `ghp_xxxxxxxx`.
fn is_varied(token: &[u8]) -> bool {
    let distinct: std::collections::HashSet<u8> = token.iter().copied().collect();
    distinct.len() >= 8.min(token.len() / 2) && !token.ends_with(b"EXAMPLE")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Rule, TABLE, format_rules};
    use crate::policy::Redactor;

    fn example(rule: &Rule) -> String {
        rule.example.replace('`', "")
    }

    #[test]
    fn rules_mask_example_and_keep_lookalike() {
        let redactor = Redactor::default();
        let mut wrong = Vec::new();
        for rule in TABLE.iter().filter(|rule| !rule.example.is_empty()) {
            let mask = format!("[REDACTED:{}]", rule.id);
            let example = example(rule);
            let whole = rule.pattern.is_empty();
            let dresses = [
                example.clone(),
                format!("at \"{example}\","),
                format!("log: {example}\n"),
            ];
            for text in dresses.iter().take(if whole { 1 } else { 3 }) {
                let redacted = redactor.redact(text).text;
                if redacted.contains(&example) || (whole && !redacted.contains(&mask)) {
                    wrong.push(format!("{} leaves {text}", rule.id));
                }
            }
            let lookalike = rule.lookalike.replace('`', "");
            let text = if whole {
                lookalike.clone()
            } else {
                format!("see {lookalike} here")
            };
            if redactor.redact(&text).text != text {
                wrong.push(format!("{} takes {text}", rule.id));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_format_has_an_example_that_it_fits() {
        for (_, rule) in format_rules() {
            let pattern = regex::Regex::new(&format!("^(?:{})$", rule.pattern)).unwrap();
            assert!(pattern.is_match(&example(rule)), "{}", rule.id);
            let starts = rule.starts.iter();
            let at = starts.filter_map(|start: &String| example(rule).find(start.as_str())).min();
            assert!(at.is_some_and(|at| at <= rule.back), "{}", rule.id);
            assert!(!rule.lookalike.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn ids_are_unique_and_start_no_rule() {
        let ids: BTreeSet<_> = TABLE.iter().map(|rule| &rule.id).collect();
        assert_eq!(ids.len(), TABLE.len());
        let redactor = Redactor::default();
        for id in ids {
            let mask = format!("[REDACTED:{id}]=[REDACTED:{id}]");
            assert_eq!(redactor.redact(&mask).text, mask);
        }
    }

    #[test]
    fn masks_token_to_end() {
        let token = "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";
        let redactor = Redactor::default();
        for (behind, left) in [("b2258d31", ""), ("b2258d31, then", ", then"), ("/x", "/x")] {
            let out = redactor.redact(&format!("{token}{behind}")).text.into_owned();
            assert_eq!(out, format!("[REDACTED:shopify-token]{left}"));
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
