use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::log_file::LogFile;
use crate::hint::distance;
use crate::languages::{Language, is_word};
use crate::model::RepoPath;
use crate::policy::is_test;
use crate::source::Source;

/// Bounds a list of parameters and a file in which quoted words are looked for, in bytes.
const MAX_LIST: usize = 2_000;
const MAX_QUOTING: usize = 256 << 10;

/// Replaces a word that is quoted at a single place of the product, as a whole or up to a dot.
pub(super) fn replace_quoted(source: &dyn Source, wrong: &str, right: &str) -> Option<Candidate> {
    let mut found = quoting_files(source).filter_map(|(path, text)| {
        // `book.id` names a table, `a/detail.html` a file.
        let column = |word: &str| {
            word.strip_prefix(wrong)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let is_it = |word: &&str| *word == wrong || (!wrong.contains('.') && column(word));
        let places = quoted_words(&text).filter(is_it).count();
        (places > 0).then_some((path, places))
    });
    let (Some((path, 1)), None) = (found.next(), found.next()) else {
        return None;
    };
    let place = LogFile::open(path, source)?;
    let mut starts = place.text.match_indices(wrong).map(|(at, _)| at);
    let is_quoted = |at: &usize| {
        let before = place.text.get(..*at).unwrap_or_default();
        let after = place.text.get(at + wrong.len()..).unwrap_or_default();
        before.ends_with(['\'', '"']) && after.starts_with(['\'', '"', '.'])
    };
    let at = starts.find(is_quoted)?;
    let after = place.with(at..at + wrong.len(), right)?;
    place.candidate(&format!("`{right}` for `{wrong}`"), &after)
}

/// Returns the words in quotes of a text, each on one line and without blanks.
pub(super) fn quoted_words(text: &str) -> impl Iterator<Item = &str> {
    let inside = |line| <str>::split(line, ['"', '\'']).skip(1);
    let plain = |letter: char| letter.is_alphanumeric() || "_-./:".contains(letter);
    let words = text.lines().flat_map(inside);
    words.filter(move |word| !word.is_empty() && word.chars().all(plain))
}

/// Returns the texts of the product in which names are quoted.
pub(super) fn quoting_files(source: &dyn Source) -> impl Iterator<Item = (RepoPath, String)> {
    let files = source.listing().files().map(|entry| &entry.path);
    files.filter_map(|path| {
        let template = matches!(path.extension(), Some("html" | "jinja" | "jinja2" | "j2"));
        let is_code = Language::of_path(path.as_str()).is_some();
        let quotes = (template || is_code) && !is_test(path.as_str());
        let bytes = source
            .read(path)
            .ok()
            .filter(|bytes| quotes && bytes.len() <= MAX_QUOTING)?;
        Some((path.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    })
}

/// Returns the names behind `def` and `self.` in the files that define a class.
pub(super) fn members(class: &str, source: &dyn Source) -> BTreeSet<String> {
    let heads = [format!("class {class}("), format!("class {class}:")];
    let mut found = BTreeSet::new();
    let files = quoting_files(source);
    for (_, text) in files.filter(|(_, text)| heads.iter().any(|head| text.contains(head))) {
        let tails = ["def ", "self."].map(|word| text.split(word).skip(1));
        found.extend(
            tails
                .into_iter()
                .flatten()
                .map(|tail| head_word(tail).to_owned()),
        );
    }
    found
}

/// Returns the parameters of all functions of that name: the log does not say which is called.
pub(super) fn parameters(name: &str, source: &dyn Source) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, text) in quoting_files(source) {
        for list in text.split(&format!("def {name}(")).skip(1) {
            let list = list.split("):").next().unwrap_or_default();
            let words = list.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            found.extend(words.filter(|_| list.len() < MAX_LIST).map(str::to_owned));
        }
    }
    found
}

fn head_word(text: &str) -> &str {
    let end = text.bytes().position(|byte| !is_word(byte));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// Returns the name that is nearest to another, when no second one is as near.
pub(super) fn only_near<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let near = names.filter_map(|name| Some((distance(wrong, name)?, name)));
    let mut near = near.collect::<BTreeSet<_>>().into_iter();
    let (edits, right) = near.next()?;
    let rival = near.next().is_some_and(|(other, _)| other == edits);
    (!rival).then(|| right.to_owned())
}
