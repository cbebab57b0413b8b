//! Finds the nearest name among members and parameters.

use std::collections::BTreeSet;

use crate::hint::distance;
use crate::languages::is_word;
use crate::model::RepoPath;
use crate::policy::is_test;
use crate::source::Source;

/// Bounds a file in which names are looked for, in bytes.
const MAX_FILE: usize = 256 << 10;

/// Returns the names behind `def` and `self.` in the files that define a class.
pub(super) fn class_members(class: &str, source: &dyn Source) -> BTreeSet<String> {
    let heads = [format!("class {class}("), format!("class {class}:")];
    let mut found = BTreeSet::new();
    let files = product_texts(source);
    for text in files.filter(|text| heads.iter().any(|head| text.contains(head))) {
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
pub(super) fn function_parameters(name: &str, source: &dyn Source) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in product_texts(source) {
        for list in text.split(&format!("def {name}(")).skip(1) {
            let list = list.split("):").next().unwrap_or_default();
            let words = list.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            found.extend(words.map(str::to_owned));
        }
    }
    found
}

// The Python texts of the product.
fn product_texts(source: &dyn Source) -> impl Iterator<Item = String> {
    let files = source.listing().files().map(|entry| &entry.path);
    let is_product = |path: &&RepoPath| path.extension() == Some("py") && !is_test(path.as_str());
    let read = files
        .filter(is_product)
        .filter_map(|path| source.read(path).ok());
    read.filter(|bytes| bytes.len() <= MAX_FILE)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
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
