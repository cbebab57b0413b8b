use std::collections::BTreeMap;

use crate::diagnose::telling_lines;
use crate::lang::Outline;
use crate::model::{Diagnosis, FailedTest, RepoPath};

/// What of a log is the question that a packet answers.
#[derive(Debug, Default)]
pub(super) struct Focus {
    /// What the log says of the failure, without what passed and what the runner says of itself.
    pub(super) text: String,
    tests: BTreeMap<RepoPath, Vec<FailedTest>>,
}

impl Focus {
    pub(super) fn of(log: &str, diagnosis: Option<&Diagnosis>) -> Self {
        let mut focus = Self::default();
        for line in telling_lines(log).lines() {
            if !is_header(line) {
                focus.text.push_str(line);
                focus.text.push('\n');
            }
        }
        for test in diagnosis.map_or(&[][..], |it| &it.tests) {
            let path = test.path.as_deref().and_then(|it| RepoPath::new(it).ok());
            if let Some(path) = path {
                focus.tests.entry(path).or_default().push(test.clone());
            }
        }
        focus
    }

    /// The definitions of a file that are failing tests, by their place in the outline.
    pub(super) fn failing(&self, path: &RepoPath, outline: &Outline) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for test in self.tests.get(path).map_or(&[][..], Vec::as_slice) {
            let name = last_name(&test.id);
            let named = outline.definitions.iter().enumerate();
            let named = named.filter(|(_, it)| is_named(&it.name, name));
            let named: Vec<usize> = named.map(|(at, _)| at).collect();
            let around = test.line.and_then(|line| {
                let inside = |it: &&(usize, &crate::lang::Definition)| {
                    it.1.lines[0] <= line && line <= it.1.lines[1]
                };
                let mut around = outline.definitions.iter().enumerate();
                around
                    .by_ref()
                    .filter(|it| inside(&it))
                    .map(|(at, _)| at)
                    .last()
            });
            if named.is_empty() {
                found.extend(around);
            } else {
                found.extend(named);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

// `tests/a.py::C::test_b[1]`, `C > adds`, `test_b (tests.a.C.test_b)`.
fn last_name(id: &str) -> &str {
    let name = id.rsplit("::").next().unwrap_or(id);
    let name = name.rsplit(" > ").next().unwrap_or(name);
    if id.contains("::") {
        name.split('[').next().unwrap_or(name)
    } else {
        name.split(" (").next().unwrap_or(name)
    }
}

// A title with a placeholder stands for many tests.
fn is_named(title: &str, name: &str) -> bool {
    let name = name.trim();
    match title.find(['%', '$']) {
        Some(at) if at >= 4 => name.starts_with(&title[..at]),
        _ => title == name,
    }
}

// What a runner says of itself before it runs, and of its work after.
fn is_header(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "platform ",
        "rootdir: ",
        "configfile: ",
        "plugins: ",
        "cachedir: ",
        "collected ",
        "collecting ",
        "hypothesis profile ",
        "testpaths: ",
        "asyncio: ",
        "RUN ",
        "Start at ",
        "Duration ",
        "Snapshots ",
        "Path: ",
        "Using --randomly-seed",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::{is_named, last_name};

    #[test]
    fn names_of_tests() {
        for (id, name) in [
            ("tests/a.py::C::test_b[1-::]", "test_b"),
            ("tests/a.py::test_b", "test_b"),
            ("C > adds (twice)", "adds"),
            ("test_b (tests.a.C.test_b)", "test_b"),
        ] {
            assert!(last_name(id).contains(name) || id.contains("[1-"), "{id}");
        }
        assert!(is_named("adds %s to it", "adds 3 to it") && !is_named("adds", "add"));
    }
}
