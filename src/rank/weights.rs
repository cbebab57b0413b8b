//! The weights of the ranking signals.

use std::collections::BTreeMap;

/// Kinds of evidence for a file: the name in `scores`, the weight, and what it says in words.
pub(super) const SIGNALS: [(&str, f64, &str); 8] = [
    // BM25 of the whole file against the question.
    ("words", 1.0, "shares rare words with the log or task"),
    (
        "definitions",
        0.3,
        "defines names that the log or task mentions",
    ),
    ("mention", 1.0, "the log or task names it"),
    ("name", 0.6, "its name matches the failure"),
    ("imports", 0.15, "imported close to a target"),
    ("change", 0.8, "is part of the change under test"),
    // The failing tests run it and the passing tests do not (Ochiai).
    ("trace", 0.6, "the failing tests run it"),
    // For an issue: changed often lately.
    ("history", 0.4, "often committed together with a target"),
];

/// The values of the signals for one file in the order of the table, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evidence(pub(super) [f64; SIGNALS.len()]);

impl Evidence {
    fn weighted(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().zip(SIGNALS).map(|(value, (_, weight, _))| value * weight)
    }

    /// Returns the weighted sum.
    pub fn total(&self) -> f64 {
        self.weighted().sum()
    }

    /// Returns the sum and its parts as whole numbers.
    pub fn scores(&self) -> (u64, BTreeMap<String, u64>) {
        let rows = SIGNALS.iter().zip(self.weighted().map(scale_score));
        let scores: BTreeMap<String, u64> = rows
            .filter(|(_, value)| *value > 0)
            .map(|((name, ..), value)| ((*name).to_owned(), value))
            .collect();
        (scores.values().sum(), scores)
    }

    /// Names the two strongest signals in words.
    pub fn reason(&self) -> String {
        let mut signals: Vec<(f64, &str)> = self
            .weighted()
            .zip(SIGNALS.map(|(.., reason)| reason))
            .filter(|(value, _)| *value > 0.0)
            .collect();
        signals.sort_by(|a, b| b.0.total_cmp(&a.0));
        let reasons: Vec<&str> = signals.iter().take(2).map(|(_, reason)| *reason).collect();
        reasons.join("; ")
    }
}

#[expect(clippy::cast_sign_loss, reason = "no score is below 0")]
fn scale_score(score: f64) -> u64 {
    // A packet has whole numbers: 1.0 becomes 100,000.
    (100_000.0 * score) as u64
}
