use std::collections::{BTreeMap, BTreeSet};

use crate::diagnose::telling_lines;
use crate::languages::Outline;
use crate::model::{Diagnosis, FailedTest, RepoPath};

/// What of a log is the question that a packet answers.
#[derive(Debug, Default)]
pub(super) struct Focus {
    /// What the log says of the failure, without what passed and what the runner says of itself.
    pub(super) text: String,
    /// Names of what an error says was called or used the wrong way, with what they belong to: `Cart.total() takes 1
    /// argument`.
    pub(super) blamed: Vec<String>,
    tests: BTreeMap<RepoPath, Vec<FailedTest>>,
    // Names that are not there, and the files where they were missed.
    missing: Vec<String>,
    missed_in: BTreeSet<RepoPath>,
}

/// A frame, the line of source that it stands on and the marks below.
const FRAME_LINES: usize = 3;
/// Names that errors blame.
const MAX_BLAMED: usize = 6;
/// Definitions of a file that are taken for failing because they hold a missing name.
const MAX_HOLDERS: usize = 5;

impl Focus {
    pub(super) fn of(log: &str, diagnosis: Option<&Diagnosis>) -> Self {
        let mut focus = Self::default();
        let telling = telling_lines(log);
        let mut hidden = 0;
        for line in telling.lines() {
            if is_frame(line) {
                hidden = if is_foreign(line) { FRAME_LINES } else { 0 };
            } else if !is_source_of_frame(line) {
                hidden = 0;
            }
            if hidden > 0 {
                hidden -= 1;
            } else if !is_header(line) {
                focus.text.push_str(line);
                focus.text.push('\n');
            }
        }
        let errors = focus.text.lines().filter(|it| it.contains("Error"));
        focus.blamed = errors.flat_map(called).map(str::to_owned).collect();
        focus.blamed.sort();
        focus.blamed.dedup();
        focus.blamed.truncate(MAX_BLAMED);
        let Some(diagnosis) = diagnosis else {
            return focus;
        };
        for test in &diagnosis.tests {
            let path = test.path.as_deref().and_then(|it| RepoPath::new(it).ok());
            if let Some(path) = path {
                focus.missed_in.insert(path.clone());
                focus.tests.entry(path).or_default().push(test.clone());
            }
        }
        let names = [&diagnosis.missing_exports, &diagnosis.undefined_names];
        focus.missing = names.into_iter().flatten().cloned().collect();
        let pointed = diagnosis.files.iter().filter(|it| it.line.is_some());
        let pointed = pointed.filter_map(crate::model::MentionedFile::repo_path);
        focus.missed_in.extend(pointed);
        focus
    }

    /// The definitions of a file that are failing tests, by their place in the outline. Where a
    /// file could not even be loaded, those that hold the missing names.
    pub(super) fn failing(&self, path: &RepoPath, outline: &Outline, text: &str) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for test in self.tests.get(path).map_or(&[][..], Vec::as_slice) {
            let name = last_name(&test.id);
            let named = outline.definitions.iter().enumerate();
            let named = named.filter(|(_, it)| is_named(&it.name, name));
            let named: Vec<usize> = named.map(|(at, _)| at).collect();
            if named.is_empty() {
                found.extend(test.line.and_then(|line| outline.innermost(line)));
            } else {
                found.extend(named);
            }
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
        found.sort_unstable();
        found.dedup();
        found
    }
}

// The names before `()` in a line, with the one before it: an error calls a function so.
fn called(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '.';
    let ends = line.match_indices("()");
    let names = ends.map(move |(end, _)| {
        let head = &line[..end];
        let start = head.rfind(|c| !is_part(c));
        let from = start.map_or(0, |at| {
            at + head[at..].chars().next().map_or(1, char::len_utf8)
        });
        let name = &head[from..];
        let owner = name.rmatch_indices('.').nth(1);
        owner
            .map_or(name, |(at, _)| &name[at + 1..])
            .trim_matches('.')
    });
    names.filter(|it| it.len() > 2)
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

// What a traceback shows of the line that a frame stands on.
fn is_source_of_frame(line: &str) -> bool {
    const ENDS: &[&str] = &["Error", "Exception", "Warning", "Exit", "Interrupt"];
    let head = line.split([':', '(']).next().unwrap_or(line);
    let is_error = !head.contains(' ') && ENDS.iter().any(|end| head.ends_with(end));
    !is_error && !line.starts_with(['E', '>', '_', '=', '-']) && !line.starts_with("FAILED")
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
    use super::{Focus, is_named, last_name};

    #[test]
    fn an_error_names_what_it_blames() {
        let log = "E   TypeError: Cart.get_total() missing 1 required positional argument: 'rate'\nx = other()\n";
        assert_eq!(Focus::of(log, None).blamed, ["Cart.get_total"]);
        assert!(
            Focus::of("E   ValueError: é() and ()\n", None)
                .blamed
                .is_empty()
        );
    }

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
