//! Reduces a log to its evidence: the failing tests and the lines about them.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnose::telling_lines;
use crate::languages::Outline;
use crate::model::{Diagnosis, FailedTest, RepoPath};

/// The evidence of a log: its text without the passed tests, and the failing tests.
#[derive(Debug, Default)]
pub(super) struct LogEvidence {
    /// Lines about the failure, without what the runner says of itself.
    pub(super) text: String,
    tests: BTreeMap<RepoPath, Vec<FailedTest>>,
}

impl LogEvidence {
    pub(super) fn read(log: &str, diagnosis: Option<&Diagnosis>) -> Self {
        let mut evidence = Self::default();
        for line in telling_lines(log).lines().filter(|line| !is_header(line)) {
            evidence.text.push_str(line);
            evidence.text.push('\n');
        }
        for test in diagnosis.iter().flat_map(|diagnosis| &diagnosis.tests) {
            let path = test.path.as_deref();
            if let Some(path) = path.and_then(|path| RepoPath::new(path).ok()) {
                evidence.tests.entry(path).or_default().push(test.clone());
            }
        }
        evidence
    }

    /// Returns the definitions of a file that are failing tests, by their place in the outline.
    pub(super) fn failing(&self, path: &RepoPath, outline: &Outline) -> Vec<usize> {
        let mut found: BTreeSet<usize> = BTreeSet::new();
        for test in self.tests.get(path).map_or(&[][..], Vec::as_slice) {
            let name = short_name(&test.id);
            let named = outline.definitions.iter().enumerate();
            let named = named.filter(|(_, definition)| has_title(&definition.name, name));
            let named: Vec<usize> = named.map(|(at, _)| at).collect();
            if named.is_empty() {
                found.extend(test.line.and_then(|line| outline.innermost(line)));
            }
            found.extend(named);
        }
        found.into_iter().collect()
    }
}

// `tests/a.py::C::test_b[1]`, `C > adds`, `test_b (tests.a.C.test_b)`.
fn short_name(id: &str) -> &str {
    let name = id.rsplit("::").next().unwrap_or(id);
    let name = name.rsplit(" > ").next().unwrap_or(name);
    let end = if id.contains("::") { "[" } else { " (" };
    name.split(end).next().unwrap_or(name)
}

// A title with a placeholder represents many tests.
fn has_title(title: &str, name: &str) -> bool {
    let name = name.trim();
    match title.find(['%', '$']) {
        Some(at) if at >= 4 => name.starts_with(&title[..at]),
        _ => title == name,
    }
}

// Lines that a runner prints before and after the tests.
fn is_header(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "platform ", "rootdir: ", "configfile: ", "plugins: ", "cachedir: ", "collected ",
        "collecting ", "hypothesis profile ", "testpaths: ", "asyncio: ", "RUN ", "Start at ",
        "Duration ", "Snapshots ", "Path: ", "Using --randomly-seed",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::{has_title, short_name};

    #[test]
    fn short_names_of_tests() {
        for (id, name) in [
            ("tests/a.py::C::test_b[1]", "test_b"),
            ("tests/a.py::test_b", "test_b"),
            ("C > adds (twice)", "adds"),
            ("test_b (tests.a.C.test_b)", "test_b"),
        ] {
            assert_eq!(short_name(id), name, "{id}");
        }
        assert!(has_title("adds %s to it", "adds 3 to it") && !has_title("adds", "add"));
    }
}
