use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::table::{Rule, formats};
use super::value::reads_like_words;

// No token is longer; a regular expression never looks further.
const WINDOW: usize = 16 * 1024;
const LONG_RUN: usize = 1024;
const MAX_ASKED: usize = 256;
const LONG_WORD: usize = 24;
const MAX_TAIL: usize = 128;

struct Compiled {
    rule: &'static Rule,
    pattern: OnceLock<Option<Regex>>,
}

static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    let compiled = |rule| Compiled {
        rule,
        pattern: OnceLock::new(),
    };
    formats().map(compiled).collect()
});

/// Asks rules at the places where their fixed texts turn up, from the front of a text to its end.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    // The end of the run of visible characters around the last place.
    run_end: usize,
    // Rules asked in the current block of a long run.
    tried: usize,
    block: usize,
}

impl Matcher {
    /// The name of the rule and the range of the secret, when rule `index` holds at its anchor,
    /// which stands from `at` to `literal_end`.
    pub(super) fn find(
        &mut self,
        text: &[u8],
        index: usize,
        at: usize,
        literal_end: usize,
    ) -> Option<(&'static str, Range<usize>)> {
        let Compiled { rule, pattern } = COMPILED.get(index)?;
        let before = at.saturating_sub(rule.back);
        if rule.word && inside_word(text, before) {
            return None;
        }
        let end = self.window_end(text, at)?;
        let pattern = pattern.get_or_init(|| compile(rule)).as_ref()?;
        let found = pattern.find(text.get(before..end)?)?;
        let secret = before + found.start()..before + found.end();
        let body = text.get(literal_end..secret.end.max(literal_end))?;
        // A token that is longer than its format says is masked to its end.
        let rest = text.get(secret.end..end).unwrap_or_default();
        let more = rest.iter().take(MAX_TAIL);
        let more = more.take_while(|byte| byte.is_ascii_alphanumeric()).count();
        (secret.contains(&at)
            && varied(if rule.back == 0 {
                body
            } else {
                found.as_bytes()
            })
            && !reads_like_words(body))
        .then_some((rule.id.as_str(), secret.start..secret.end + more))
    }

    // No secret holds white space. Runs of more than a screen are data or an attack: there only so
    // many rules are asked, so that the work stays in proportion to the text.
    fn window_end(&mut self, text: &[u8], at: usize) -> Option<usize> {
        if at >= self.run_end {
            let rest = text.get(at..)?;
            let length = rest.iter().position(u8::is_ascii_whitespace);
            self.run_end = length.map_or(text.len(), |length| at + length);
        }
        if self.run_end - at > LONG_RUN {
            if at / WINDOW != self.block {
                self.block = at / WINDOW;
                self.tried = 0;
            }
            self.tried += 1;
            if self.tried > MAX_ASKED {
                return None;
            }
        }
        Some(self.run_end.min(at + WINDOW))
    }
}

// Whether a letter or digit stands right before, or a long run of base64.
fn inside_word(text: &[u8], at: usize) -> bool {
    let before = text
        .get(at.saturating_sub(LONG_WORD)..at)
        .unwrap_or_default();
    match before.last() {
        Some(b'+' | b'/') => {
            let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
            before.len() == LONG_WORD && before.iter().all(part)
        }
        Some(last) => last.is_ascii_alphanumeric(),
        None => false,
    }
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
    seen.iter().filter(|seen| **seen).count() >= 8.min(token.len() / 2) && !example
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    #[test]
    fn a_token_is_masked_to_its_end() {
        let token = "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";
        let redactor = Redactor::default();
        for (behind, left) in [("b2258d31", ""), ("b2258d31, then", ", then"), ("/x", "/x")] {
            let out = redactor
                .redact(&format!("{token}{behind}"))
                .text
                .into_owned();
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
