//! The terms that a packet must answer, with weights.

use std::collections::BTreeMap;

use super::terms::{ByTerm, TermId, identifiers, is_common, log2_1p, parts, term_id};
use crate::model::RepoPath;

/// What a packet must answer: the words asked for, with weights, read from a log or an issue.
#[derive(Debug, Default)]
pub struct Question {
    /// The term of each word; several forms of a word may share a term.
    pub(super) numbers: ByTerm<u32>,
    /// By term, how much it is asked for.
    pub(super) weights: Vec<f64>,
    /// By term, how much it is asked for as a name.
    pub(super) names: Vec<f64>,
    /// By term, how much it is asked for as the subject of a file.
    pub(super) subjects: Vec<f64>,
    /// What a part of an identifier counts beside the whole of it.
    pub(super) part: f64,
    /// How much longer parts of files are penalized, 0 to 1 (the `b` of BM25).
    pub(super) length: f64,
    /// Whether a person asks; else a log does.
    pub(super) is_issue: bool,
    /// Paths that an issue names.
    pub(super) paths: Vec<String>,
}

/// A part of an identifier says less than the whole.
const PART_OF_NAME: f64 = 0.3;

impl Question {
    /// Reads a question from what a log says of the failure, the failing bodies (texts of tests and
    /// of definitions that the log points into) with their weights, and the files the failure is
    /// about.
    pub fn from_log(text: &str, bodies: &[(String, f64)], subjects: &[RepoPath]) -> Self {
        let mut asked: BTreeMap<TermId, [f64; 3]> = BTreeMap::new();
        let bodies = bodies.iter();
        // A word of a failing body counts twice as much as a word of the log.
        let bodies = bodies.map(|(body, weight)| (body.as_str(), 2.0 * weight));
        for (text, weight) in std::iter::once((text, 1.0)).chain(bodies) {
            for (id, [count, whole]) in count_words(text.as_bytes()) {
                let row = asked.entry(id).or_default();
                row[0] += weight * log2_1p(count);
                row[1] += log2_1p(whole);
            }
        }
        for subject in subjects {
            for id in subject_words(subject) {
                asked.entry(id).or_default()[2] = 1.0;
            }
        }
        let numbers = (0..).zip(asked.keys());
        let [weights, names, subjects] =
            [0, 1, 2].map(|at| asked.values().map(|row| row[at]).collect());
        Self {
            numbers: numbers.map(|(number, id)| (*id, number)).collect(),
            weights,
            names,
            subjects,
            part: PART_OF_NAME,
            length: 0.6,
            ..Self::default()
        }
    }

    pub(super) fn number(&self, id: TermId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }
}

// Counts words, those in parts of identifiers too, and whole words alone.
fn count_words(text: &[u8]) -> BTreeMap<TermId, [f64; 2]> {
    let mut counts: BTreeMap<TermId, [f64; 2]> = BTreeMap::new();
    identifiers(text, |word, id| {
        if !is_common(word) {
            let count = counts.entry(id).or_default();
            *count = count.map(|count| count + 1.0);
            parts(word, |id| counts.entry(id).or_default()[0] += PART_OF_NAME);
        }
    });
    counts
}

/// The words that say what a test file is about: those of its name without affixes of tests; of an
/// index file, those of its folder.
fn subject_words(path: &RepoPath) -> Vec<TermId> {
    let name = path.file_name();
    let stem = name.split('.').next().unwrap_or(name);
    let folder = path.directory().rsplit('/').next().unwrap_or("");
    let is_index = matches!(stem.trim_matches('_'), "index" | "init" | "mod" | "main");
    let subject = if is_index { folder } else { stem };
    let mut ids = Vec::new();
    identifiers(subject.as_bytes(), |word, id| {
        ids.push(id);
        parts(word, |id| ids.push(id));
        ids.extend(word.strip_prefix(b"test_").map(term_id));
        ids.extend(word.strip_suffix(b"_test").map(term_id));
    });
    let affixes = [&b"test"[..], b"tests", b"spec"].map(term_id);
    ids.retain(|id| !affixes.contains(id));
    ids
}
