use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A pattern of a table, compiled when a line may hold it: to compile all of a table costs more than a small patch.
#[derive(Debug, serde::Deserialize)]
#[serde(from = "String")]
pub(super) struct RowPattern {
    text: String,
    compiled: OnceLock<Regex>,
}

impl From<String> for RowPattern {
    fn from(text: String) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }
}

impl RowPattern {
    /// The pattern compiled; letters and blanks are those of ASCII.
    pub(super) fn regex(&self) -> &Regex {
        #[expect(
            clippy::expect_used,
            reason = "the patterns are constants and a test compiles each"
        )]
        self.compiled.get_or_init(|| {
            let mut pattern = RegexBuilder::new(&self.text);
            pattern
                .unicode(false)
                .build()
                .expect("a pattern of the tables")
        })
    }

    // Texts in lower case of which one stands in everything that it matches; `None` when there are no such.
    fn needed(&self) -> Option<Vec<Vec<u8>>> {
        let mut parser = ParserBuilder::new();
        let parsed = parser.unicode(false).utf8(false).build().parse(&self.text);
        needed(&parsed.ok()?)
    }
}

/// Which of many patterns a line may hold, by texts that they need.
#[derive(Debug)]
pub(super) struct Candidates {
    texts: Option<AhoCorasick>,
    // For each text the pattern.
    patterns: Vec<usize>,
    always: Vec<usize>,
}

impl Candidates {
    pub(super) fn new<'p>(all: impl Iterator<Item = Option<&'p RowPattern>>) -> Self {
        let (mut texts, mut patterns, mut always) = (Vec::new(), Vec::new(), Vec::new());
        for (at, pattern) in all.enumerate() {
            match pattern.map(RowPattern::needed) {
                None => {}
                Some(None) => always.push(at),
                Some(Some(needed)) => {
                    patterns.extend(needed.iter().map(|_| at));
                    texts.extend(needed);
                }
            }
        }
        let mut builder = AhoCorasickBuilder::new();
        let texts = builder
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(texts)
            .ok();
        Self {
            texts,
            patterns,
            always,
        }
    }

    /// The patterns that a line may hold, in their order.
    pub(super) fn within(&self, line: &[u8]) -> Vec<usize> {
        let mut found = self.always.clone();
        let texts = self
            .texts
            .iter()
            .flat_map(|it| it.find_overlapping_iter(line));
        found.extend(texts.map(|hit| self.patterns[hit.pattern().as_usize()]));
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn needed(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    if let Some(letters) = letters(hir) {
        return Some(vec![letters]);
    }
    match hir.kind() {
        HirKind::Capture(capture) => needed(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => needed(&repetition.sub),
        HirKind::Alternation(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(needed).collect();
            parts.map(|it| it.concat())
        }
        HirKind::Concat(parts) => {
            let mut found: Vec<Vec<Vec<u8>>> = Vec::new();
            let mut run: Vec<u8> = Vec::new();
            for part in parts {
                if let Some(letters) = letters(part) {
                    run.extend(letters);
                    continue;
                }
                found.push(vec![std::mem::take(&mut run)]);
                found.extend(needed(part));
            }
            found.push(vec![run]);
            let shortest = |it: &Vec<Vec<u8>>| it.iter().map(Vec::len).min().unwrap_or(0);
            found
                .into_iter()
                .max_by_key(shortest)
                .filter(|it| shortest(it) > 0)
        }
        _ => None,
    }
}

// What a part stands for when it is one text, capitals aside.
fn letters(hir: &Hir) -> Option<Vec<u8>> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(literal.0.to_ascii_lowercase()),
        HirKind::Class(Class::Bytes(class)) => {
            let mut all = class.ranges().iter().flat_map(|it| it.start()..=it.end());
            let first = all.next()?.to_ascii_lowercase();
            all.all(|it| it.to_ascii_lowercase() == first)
                .then(|| vec![first])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidates, RowPattern};

    #[test]
    fn a_pattern_is_asked_where_its_texts_stand() {
        let patterns = [
            r"(?:^|[^.\w])(?:exec|eval)\s*\(\s*[^)]",
            r"(?i)/proc/(?:self|\d)|\bmountinfo\b",
            r"^\s*\w+$",
            r"a?b*",
        ];
        let patterns = patterns.map(|it| RowPattern::from(it.to_owned()));
        let candidates = Candidates::new(patterns.iter().map(Some));
        for (line, expected) in [
            ("x = exec(y)", &[0, 2, 3][..]),
            ("open('/PROC/self')", &[1, 2, 3]),
            ("plain", &[2, 3]),
        ] {
            let found = candidates.within(line.as_bytes());
            assert_eq!(found, expected, "{line}");
            for (at, pattern) in patterns.iter().enumerate() {
                let holds = pattern.regex().is_match(line.as_bytes());
                assert!(!holds || found.contains(&at), "{line} {at}");
            }
        }
    }
}
