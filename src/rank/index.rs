//! Counts the terms of a question in each file.

use std::collections::{BTreeMap, BTreeSet};

use super::question::Question;
use super::terms::{identifiers, parts};
use crate::languages::{Outline, outline, reading};
use crate::model::{BlobId, RepoPath};
use crate::parallel;
use crate::source::Source;
use crate::state::{Key, Store};

/// Returns the outline of a text from the cache, else parses the text and keeps the outline.
pub fn known_outline(outlines: &Store, path: &RepoPath, text: &[u8]) -> Outline {
    // Keyed by the text, because the text shown may differ from the file where secrets are masked.
    let reading = reading(path).filter(|_| outlines.keeps());
    let key = reading.map(|reading| Key::new(BlobId::from_content(text).as_bytes(), reading));
    outlines.remember(key, || outline(path, text))
}

/// How often one file holds the terms of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileTerms {
    /// Identifiers in the file, parts included.
    pub(super) length: u32,
    /// Term and count, sorted by term.
    pub(super) counts: Vec<(u32, u32)>,
    /// Terms that the file defines, sorted.
    pub(super) defines: BTreeSet<u32>,
}

/// Counts the terms of a question in each file.
pub(super) fn scan_files(
    question: &Question,
    source: &dyn Source,
    paths: &[RepoPath],
) -> Vec<FileTerms> {
    parallel::map(paths, |path| {
        count_terms(question, &source.read(path).unwrap_or_default())
    })
}

/// Keywords before the name of a definition.
const DEFINING: [&[u8]; 8] = [
    b"def", b"class", b"function", b"const", b"let", b"interface", b"type", b"enum",
];

fn count_terms(question: &Question, text: &[u8]) -> FileTerms {
    let mut length = 0;
    // Several forms of a word may be one term.
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut defines: BTreeSet<u32> = BTreeSet::new();
    let mut previous: &[u8] = b"";
    identifiers(text, |word, id| {
        length += 1;
        if let Some(term) = question.number(id) {
            *counts.entry(term).or_default() += 1;
            if DEFINING.contains(&previous) {
                defines.insert(term);
            }
        }
        previous = word;
        parts(word, |id| {
            length += 1;
            if let Some(term) = question.number(id) {
                *counts.entry(term).or_default() += 1;
            }
        });
    });
    FileTerms {
        length,
        counts: counts.into_iter().collect(),
        defines,
    }
}

#[cfg(test)]
mod tests {
    use super::count_terms;
    use crate::rank::Question;
    use crate::rank::terms::term_id;

    #[test]
    fn terms_count_whole_and_in_parts() {
        let text = "def parse_money(text):\n    return parse(text) + parse_money(text)\n";
        let question = Question::from_log("parse_money: def parse(): pass", &[], &[]);
        let found = count_terms(&question, text.as_bytes());
        let number = |word: &[u8]| question.number(term_id(word)).unwrap();
        let mut rows = found.counts.iter();
        let count = rows.find(|row| row.0 == number(b"parse")).map(|row| row.1);
        assert_eq!(count, Some(3));
        assert!(found.defines.contains(&number(b"parse_money")));
    }
}
