use std::collections::BTreeSet;
use std::sync::Arc;

use super::candidate::Candidate;
use super::log_file::{LogFile, is_name};
use crate::hint::distance;
use crate::languages::{Language, PYTHON};
use crate::model::RepoPath;
use crate::policy::is_test;
use crate::source::Source;

/// Longest list of parameters that is read, and longest file in which quoted words are looked for, in bytes.
const MAX_LIST: usize = 2_000;
const MAX_QUOTING: usize = 256 << 10;

/// One word for another that is quoted in one place of the product alone, as a whole or up to a dot.
pub(super) fn quoted_alone(source: &dyn Source, wrong: &str, right: &str) -> Option<Candidate> {
    let holds = |it: &(RepoPath, String)| it.1.contains(wrong);
    let mut found = quoting(source).filter(holds).filter_map(|(path, text)| {
        let places = quoted(&text).filter(|it| leads(it) == wrong).count();
        (places > 0).then_some((path, places))
    });
    let (Some((path, 1)), None) = (found.next(), found.next()) else {
        return None;
    };
    let place = LogFile::of(path, source)?;
    let mut all = place.text.match_indices(wrong).map(|(at, _)| at);
    let ends = |text: Option<&str>, marks: &str| {
        let next = text.and_then(|it| it.chars().next());
        next.is_some_and(|it| marks.contains(it))
    };
    let at = all.find(|at| {
        let before = at.checked_sub(1).and_then(|at| place.text.get(at..));
        ends(before, "'\"") && ends(place.text.get(at + wrong.len()..), "'\".")
    })?;
    let after = place.with(at..at + wrong.len(), right)?;
    place.heal(&format!("`{right}` for `{wrong}`"), &after, true)
}

// What a quoted word names: `book.id` a table, `shop:detail` what stands behind its namespace.
fn leads(word: &str) -> &str {
    match word.split_once('.') {
        Some((head, tail)) if !tail.contains(['.', '/']) && !head.contains('/') => head,
        _ => word,
    }
}

/// The words in quotes of a text, each on one line and without blanks.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let inside = |line| <str>::split(line, ['"', '\'']).skip(1);
    let plain = |it: char| it.is_alphanumeric() || "_-./:".contains(it);
    text.lines()
        .flat_map(inside)
        .filter(move |it| !it.is_empty() && it.chars().all(plain))
}

/// The texts of the product in which names are quoted.
pub(super) fn quoting(source: &dyn Source) -> impl Iterator<Item = (RepoPath, String)> {
    let files = source.listing().files().map(|entry| &entry.path);
    let is_one = |path: &&RepoPath| {
        let template = matches!(path.extension(), Some("html" | "jinja" | "jinja2" | "j2"));
        (template || Language::of_path(path.as_str()).is_some()) && !is_test(path.as_str())
    };
    files.filter(is_one).filter_map(|path| {
        let bytes = source
            .read(path)
            .ok()
            .filter(|it| it.len() <= MAX_QUOTING)?;
        Some((path.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    })
}

/// Where a word stands in quotes, if it does once.
pub(super) fn only_quoted(text: &str, word: &str) -> Option<usize> {
    let quotes = ['\'', '"'].map(|quote| format!("{quote}{word}{quote}"));
    let mut found = quotes.iter().flat_map(|it| text.match_indices(it.as_str()));
    let at = found.next()?.0 + 1;
    found.next().is_none().then_some(at)
}

/// The only file that may be a module of Python, the product before tests.
pub(super) fn module_of(source: &dyn Source, name: &str) -> Option<RepoPath> {
    let module = name.replace('.', "/");
    let ends = [format!("{module}.py"), format!("{module}/__init__.py")];
    let is_it = |path: &&RepoPath| {
        let below =
            |end: &String| path.as_str() == end || path.as_str().ends_with(&format!("/{end}"));
        ends.iter().any(below)
    };
    let files = source.listing().files().map(|entry| &entry.path);
    let files: Vec<&RepoPath> = files.filter(is_it).collect();
    // Tests have modules of any name.
    let product = files.iter().copied().filter(|it| !is_test(it.as_str()));
    let product: Vec<&RepoPath> = product.collect();
    match (product.as_slice(), files.as_slice()) {
        ([only], _) | ([], [only]) => Some((*only).clone()),
        _ => None,
    }
}

fn python_files(source: &dyn Source) -> impl Iterator<Item = Arc<[u8]>> {
    let files = source.listing().files().map(|entry| &entry.path);
    let files = files.filter(|it| Language::of_path(it.as_str()) == Some(&PYTHON));
    files.filter_map(|path| source.read(path).ok())
}

/// What the files have after `def` and `self.` that define a class of that name.
pub(super) fn members(class: &str, source: &dyn Source) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let starts = [format!("class {class}("), format!("class {class}:")];
    for bytes in python_files(source) {
        let has = |it: &String| memchr::memmem::find(&bytes, it.as_bytes()).is_some();
        if !starts.iter().any(has) {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        for word in ["def ", "self."] {
            let tails = text.split(word).skip(1);
            let ends = |it: char| !(it.is_alphanumeric() || it == '_');
            let names = tails.filter_map(|it| it.split(ends).next());
            found.extend(names.filter(|it| is_name(it)).map(str::to_owned));
        }
    }
    found
}

/// Of all functions of that name: which is called, the log does not say.
pub(super) fn parameters(name: &str, source: &dyn Source) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let start = format!("def {name}(");
    for bytes in python_files(source) {
        for at in memchr::memmem::find_iter(&bytes, start.as_bytes()) {
            let list = bytes.get(at + start.len()..).unwrap_or_default();
            let list = list.get(..MAX_LIST.min(list.len())).unwrap_or_default();
            let list = String::from_utf8_lossy(list);
            let list = list.split("):").next().unwrap_or_default();
            let names = list.split(|it: char| !is_name(&it.to_string()));
            found.extend(names.filter(|it| is_name(it)).map(str::to_owned));
        }
    }
    found
}

/// The name that is nearest to another, when no second one is as near.
pub(super) fn only_near<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let near: BTreeSet<(usize, &str)> = names
        .filter_map(|name| Some((distance(wrong, name)?, name)))
        .collect();
    let mut near = near.into_iter();
    let (edits, right) = near.next()?;
    let rival = near.next().is_some_and(|(other, _)| other == edits);
    (!rival).then(|| right.to_owned())
}
