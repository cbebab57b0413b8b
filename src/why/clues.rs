//! Collects the clues of a failure: log, trace, names.

use std::collections::BTreeSet;

use super::rank::{Clues, words_of};
use crate::graph::Graph;
use crate::languages::outline;
use crate::model::{Diagnosis, RepoPath};
use crate::source::Source;

/// Imports between a failing test and a file that it reaches.
const MAX_HOPS: u32 = 6;

/// Collects the clues of a failure about the place of its cause.
#[must_use]
pub fn collect_clues(diagnosis: &Diagnosis, after: &dyn Source) -> Clues {
    let mut clues = Clues::default();
    let places = diagnosis.files.iter();
    clues.places = places
        .filter_map(|file| Some((file.repo_path()?, file.line)))
        .collect();
    let tests = diagnosis.tests.iter();
    let messages = tests.clone().filter_map(|test| test.message.as_deref());
    let lines = diagnosis.evidence.iter().map(|line| line.text.as_str());
    let words = lines.chain(messages).flat_map(words_of).map(str::to_owned);
    clues.words = words.chain(diagnosis.lacks().cloned()).collect();
    let paths = tests.filter_map(|test| RepoPath::new(test.path.as_deref()?).ok());
    let paths: BTreeSet<RepoPath> = paths.collect();
    let mut targets: Vec<RepoPath> = paths.into_iter().collect();
    targets.retain(|path| after.listing().has_file(path.as_str()));
    for test in &targets {
        let text = after.read(test).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        clues.names.extend(failing_words(diagnosis, test, &text));
    }
    if targets.is_empty() {
        targets = clues.places.iter().map(|(path, _)| path.clone()).collect();
    }
    let closure = Graph::new(after).imported(&targets, MAX_HOPS, false);
    let nodes = closure.nodes.into_iter();
    clues.reach = nodes.map(|node| (node.path, node.hops)).collect();
    clues
}

// The words in the bodies of a file's failing tests; in all of the file where these are not found.
fn failing_words(diagnosis: &Diagnosis, path: &RepoPath, text: &str) -> BTreeSet<String> {
    let outline = outline(path, text.as_bytes());
    let is_failing = |name: &str| {
        diagnosis.tests.iter().any(|test| {
            let bare = test.id.split('[').next().unwrap_or(&test.id);
            bare.ends_with(name)
        })
    };
    let failing = outline.definitions.iter();
    let failing = failing.filter(|definition| is_failing(&definition.name));
    let mut ranges: Vec<[u32; 2]> = failing.map(|definition| definition.lines).collect();
    if ranges.is_empty() {
        ranges.push([1, u32::MAX]);
    }
    let is_within = |number: u32| {
        let mut ranges = ranges.iter();
        ranges.any(|[from, to]| (*from..=*to).contains(&number))
    };
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(number, _)| is_within(*number));
    lines
        .flat_map(|(_, line)| words_of(line))
        .map(str::to_owned)
        .collect()
}
