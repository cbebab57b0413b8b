use std::collections::{BTreeMap, BTreeSet};

use super::rank::{Clues, words_of};
use crate::graph::Graph;
use crate::languages::{Outline, outline};
use crate::model::{Diagnosis, RepoPath};
use crate::policy::is_test;
use crate::source::Source;

/// Imports between a failing test and a file that it reaches.
const MAX_HOPS: u32 = 6;
/// Files whose definitions are walked.
const MAX_FILES: usize = 80;
/// Calls between a failing test and a definition.
const MAX_CALLS: u32 = 3;
/// A name that is defined more often says little of which one is meant.
const MAX_NAMESAKES: usize = 6;

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
    let mut bodies = BTreeSet::new();
    for test in &targets {
        let text = after.read(test).unwrap_or_default();
        bodies.extend(failing_words(
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
    clues.names = called(&clues.reach, bodies, after);
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

// Names by their distance in calls from the failing tests: 0 for those that the tests name, 1 for those in the
// bodies of these.
fn called(
    reach: &BTreeMap<RepoPath, u32>,
    bodies: BTreeSet<String>,
    after: &dyn Source,
) -> BTreeMap<String, u32> {
    let mut found: BTreeMap<String, u32> = bodies.into_iter().map(|name| (name, 0)).collect();
    let mut near: Vec<(&u32, &RepoPath)> = reach.iter().map(|(path, hops)| (hops, path)).collect();
    near.retain(|(_, path)| !is_test(path.as_str()));
    near.sort();
    let mut defined: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for (_, path) in near.into_iter().take(MAX_FILES) {
        let bytes = after.read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let outline = outline(path, &bytes);
        for (at, definition) in outline.definitions.iter().enumerate() {
            let body = own_words(&outline, at, &lines);
            defined
                .entry(definition.name.clone())
                .or_default()
                .push(body);
        }
    }
    for calls in 0..MAX_CALLS {
        let mut next = BTreeSet::new();
        for (name, bodies) in &defined {
            if found.get(name) == Some(&calls) && bodies.len() <= MAX_NAMESAKES {
                next.extend(bodies.iter().flatten().cloned());
            }
        }
        for name in next.into_iter().filter(|name| defined.contains_key(name)) {
            found.entry(name).or_insert(calls + 1);
        }
    }
    found
}

// The words of a definition; of a class, those of its constructor.
fn own_words(outline: &Outline, at: usize, lines: &[&str]) -> Vec<String> {
    let all = outline.definitions.iter();
    let inner: Vec<_> = all.filter(|inner| inner.parent == Some(at)).collect();
    if inner.is_empty() {
        let Some(definition) = outline.definitions.get(at) else {
            return Vec::new();
        };
        return words(lines, definition.lines);
    }
    let makes = |name: &str| matches!(name, "__init__" | "__new__" | "__call__" | "constructor");
    let makers = inner.iter().filter(|inner| makes(&inner.name));
    makers.flat_map(|maker| words(lines, maker.lines)).collect()
}
