use std::collections::BTreeSet;

use super::rank::{Clues, words_of};
use crate::graph::Graph;
use crate::languages::outline;
use crate::model::{Diagnosis, RepoPath};
use crate::source::Source;

/// Imports between a failing test and a file that it reaches.
const MAX_HOPS: u32 = 6;

/// Collects what a failure says of the place of its cause, on the files in a state.
#[must_use]
pub fn clues(diagnosis: &Diagnosis, after: &dyn Source) -> Clues {
    let mut clues = Clues::default();
    for file in &diagnosis.files {
        if let Some(path) = file.repo_path() {
            clues.places.push((path, file.line));
        }
    }
    let words = |text: &str| words_of(text).map(str::to_owned).collect::<Vec<_>>();
    for line in &diagnosis.evidence {
        clues.words.extend(words(&line.text));
    }
    let messages = diagnosis
        .tests
        .iter()
        .filter_map(|test| test.message.as_ref());
    clues
        .words
        .extend(messages.flat_map(|message| words(message)));
    clues.words.extend(diagnosis.lacks().cloned());
    let tests = diagnosis
        .tests
        .iter()
        .filter_map(|test| test.path.as_deref());
    let tests: BTreeSet<RepoPath> = tests.filter_map(|path| RepoPath::new(path).ok()).collect();
    let mut targets: Vec<RepoPath> = tests.into_iter().collect();
    targets.retain(|path| after.listing().has_file(path.as_str()));
    for test in &targets {
        let text = after.read(test).unwrap_or_default();
        clues.names.extend(failing_words(
            diagnosis,
            test,
            &String::from_utf8_lossy(&text),
        ));
    }
    if targets.is_empty() {
        targets = clues.places.iter().map(|(path, _)| path.clone()).collect();
    }
    let closure = Graph::new(after).closure(&targets, MAX_HOPS);
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
    let failing = outline
        .definitions
        .iter()
        .filter(|definition| is_failing(&definition.name));
    let mut ranges: Vec<[u32; 2]> = failing.map(|definition| definition.lines).collect();
    if ranges.is_empty() {
        ranges.push([1, u32::MAX]);
    }
    let lines: Vec<&str> = text.lines().collect();
    ranges
        .into_iter()
        .flat_map(|range| words(&lines, range))
        .collect()
}

fn words(lines: &[&str], [from, to]: [u32; 2]) -> Vec<String> {
    let from = (from as usize).saturating_sub(1);
    let part = lines.get(from..(to as usize).min(lines.len()));
    let words = part
        .unwrap_or_default()
        .iter()
        .flat_map(|line| words_of(line));
    words.map(str::to_owned).collect()
}
