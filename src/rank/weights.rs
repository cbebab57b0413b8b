use std::collections::BTreeMap;

/// A kind of evidence for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// BM25 of the whole file against the question.
    Words,
    /// Definitions of names in the question.
    Definitions,
    /// The question names the path.
    Mention,
    /// Words of the path.
    Name,
    /// Few imports away from a target.
    Imports,
    /// Part of the change under test.
    Change,
    /// The failing tests run it and the passing tests do not (Ochiai).
    Trace,
    /// Changed in the same commits as the targets, or often of late.
    History,
}

/// Weights of the signals.
pub const WEIGHTS: [(Signal, f64); 8] = [
    (Signal::Words, 1.0),
    (Signal::Definitions, 0.3),
    (Signal::Mention, 1.0),
    (Signal::Name, 0.6),
    (Signal::Imports, 0.15),
    (Signal::Change, 0.8),
    (Signal::Trace, 0.6),
    (Signal::History, 0.4),
];

/// A score of 1.0 in the whole numbers of a packet.
const SCALE: f64 = 100_000.0;

impl Signal {
    /// The name in `scores`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Definitions => "definitions",
            Self::Mention => "mention",
            Self::Name => "name",
            Self::Imports => "imports",
            Self::Change => "change",
            Self::Trace => "trace",
            Self::History => "history",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Words => "shares rare words with the failure",
            Self::Definitions => "defines names that the failure mentions",
            Self::Mention => "the failure names it",
            Self::Name => "is named like the subject of the failure",
            Self::Imports => "is imported near a target",
            Self::Change => "is part of the change under test",
            Self::Trace => "the failing tests run it",
            Self::History => "changed together with a target",
        }
    }
}

/// The values of the signals for one file, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evidence(pub(super) [f64; WEIGHTS.len()]);

impl Evidence {
    pub(super) fn set(&mut self, signal: Signal, value: f64) {
        for (slot, (row, _)) in self.0.iter_mut().zip(WEIGHTS) {
            if row == signal {
                *slot = value;
            }
        }
    }

    fn weighted(&self) -> impl Iterator<Item = (Signal, f64)> + '_ {
        let rows = self.0.iter().zip(WEIGHTS);
        rows.map(|(value, (signal, weight))| (signal, value * weight))
    }

    /// Returns the weighted sum.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.weighted().map(|(_, value)| value).sum()
    }

    /// Returns the sum and its parts as whole numbers.
    #[must_use]
    pub fn scores(&self) -> (u64, BTreeMap<String, u64>) {
        let scores: BTreeMap<String, u64> = self
            .weighted()
            .map(|(signal, value)| (signal.as_str().to_owned(), scaled(value)))
            .filter(|(_, value)| *value > 0)
            .collect();
        (scores.values().sum(), scores)
    }

    /// Names the two strongest signals in words.
    #[must_use]
    pub fn reason(&self) -> String {
        let mut signals: Vec<(Signal, f64)> =
            self.weighted().filter(|(_, value)| *value > 0.0).collect();
        signals.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let reasons: Vec<&str> = signals
            .iter()
            .take(2)
            .map(|(signal, _)| signal.reason())
            .collect();
        reasons.join("; ")
    }
}

#[expect(clippy::cast_sign_loss, reason = "no score is below 0")]
fn scaled(score: f64) -> u64 {
    (SCALE * score) as u64
}
