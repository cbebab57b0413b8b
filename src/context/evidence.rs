use std::collections::{BTreeMap, BTreeSet};

use crate::diagnose::telling_lines;
use crate::languages::Outline;
use crate::model::{Diagnosis, FailedTest, MentionedFile, RepoPath};

/// What a log says of the failure: the text without what passed, and the failing tests.
#[derive(Debug, Default)]
pub(super) struct LogEvidence {
    /// Lines about the failure, without what the runner says of itself.
    pub(super) text: String,
    tests: BTreeMap<RepoPath, Vec<FailedTest>>,
    // Names that are not there, and the files that use them.
    missing: Vec<String>,
    missed_in: BTreeSet<RepoPath>,
}

/// A frame, the line of source that it points at, and the marks below.
const FRAME_LINES: usize = 3;
/// Definitions of a file that count as failing because they hold a missing name.
const MAX_HOLDERS: usize = 5;

impl LogEvidence {
    pub(super) fn read(log: &str, diagnosis: Option<&Diagnosis>) -> Self {
        let mut evidence = Self::default();
        let mut hidden = 0;
        for line in telling_lines(log).lines() {
            if is_frame(line) {
                hidden = if is_foreign(line) { FRAME_LINES } else { 0 };
            } else if !is_source_of_frame(line) {
                hidden = 0;
            }
            if hidden > 0 {
                hidden -= 1;
            } else if !is_header(line) {
                evidence.text.push_str(line);
                evidence.text.push('\n');
            }
        }
        let Some(diagnosis) = diagnosis else {
            return evidence;
        };
        for test in &diagnosis.tests {
            let path = test
                .path
                .as_deref()
                .and_then(|path| RepoPath::new(path).ok());
            if let Some(path) = path {
                evidence.missed_in.insert(path.clone());
                evidence.tests.entry(path).or_default().push(test.clone());
            }
        }
        let names = [&diagnosis.missing_exports, &diagnosis.undefined_names];
        evidence.missing = names.into_iter().flatten().cloned().collect();
        let pointed = diagnosis.files.iter().filter(|file| file.line.is_some());
        evidence
            .missed_in
            .extend(pointed.filter_map(MentionedFile::repo_path));
        evidence
    }

    /// Returns the definitions of a file that are failing tests, by their place in the outline. Where
    /// the file could not even be loaded, those that hold the missing names.
    pub(super) fn failing(&self, path: &RepoPath, outline: &Outline, text: &str) -> Vec<usize> {
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
        if found.is_empty() && !self.missing.is_empty() && self.missed_in.contains(path) {
            let lines = (1..).zip(text.lines());
            let holds = |line: &str| self.missing.iter().any(|name| has_word(line, name));
            let lines = lines.filter(|(_, line)| holds(line));
            let holders: BTreeSet<usize> = lines
                .filter_map(|(line, _)| outline.innermost(line))
                .collect();
            found.extend(holders.into_iter().take(MAX_HOLDERS));
        }
        found.into_iter().collect()
    }
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    !word.is_empty()
        && line.match_indices(word).any(|(at, _)| {
            !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
        })
}

// `File "/venv/lib/python3.12/site-packages/a.py", line 3, in f`, `at f (/a/node_modules/b.js:1:2)`.
fn is_frame(line: &str) -> bool {
    let python = line.starts_with("File \"") && line.contains("\", line ");
    python || line.starts_with("at ") || line.starts_with("❯ ")
}

fn is_foreign(frame: &str) -> bool {
    const PLACES: &[&str] = &[
        "/site-packages/",
        "/dist-packages/",
        "/node_modules/",
        "/lib/python3.",
        "node:internal",
        "<frozen ",
    ];
    PLACES.iter().any(|place| frame.contains(place))
}

fn is_source_of_frame(line: &str) -> bool {
    const ENDS: &[&str] = &["Error", "Exception", "Warning", "Exit", "Interrupt"];
    let head = line.split([':', '(']).next().unwrap_or(line);
    let is_error = !head.contains(' ') && ENDS.iter().any(|end| head.ends_with(end));
    !is_error && !line.starts_with(['E', '>', '_', '=', '-']) && !line.starts_with("FAILED")
}

// `tests/a.py::C::test_b[1]`, `C > adds`, `test_b (tests.a.C.test_b)`.
fn short_name(id: &str) -> &str {
    let name = id.rsplit("::").next().unwrap_or(id);
    let name = name.rsplit(" > ").next().unwrap_or(name);
    let end = if id.contains("::") { "[" } else { " (" };
    name.split(end).next().unwrap_or(name)
}

// A title with a placeholder stands for many tests.
fn has_title(title: &str, name: &str) -> bool {
    let name = name.trim();
    match title.find(['%', '$']) {
        Some(at) if at >= 4 => name.starts_with(&title[..at]),
        _ => title == name,
    }
}

// What a runner prints of itself before the tests and after them.
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
