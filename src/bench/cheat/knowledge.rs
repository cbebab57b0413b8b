use std::collections::BTreeMap;

use crate::bench::Fixture;
use crate::languages::{Language, PYTHON};
use crate::policy::is_test;
use crate::proof::pattern::patterns;

patterns! {
    UNEQUAL r"AssertionError: (.+) != (.+)";
    SIDE r"(?m)^\s*(actual|expected): (.+?),?$";
    UNDEFINED r"name '(\w+)' is not defined|(?:Cannot find name '|ReferenceError: )(\w+)";
}

/// What a cheat knows: the files of a fixture, what its repair needs, and what the commands said.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// Texts of the repository, by path.
    pub(super) files: BTreeMap<String, String>,
    /// The test command.
    pub(super) command: String,
    /// Program files that the repair needs, the first of which is attacked.
    pub(super) targets: Vec<String>,
    /// What the commands printed.
    pub(super) log: String,
}

impl Knowledge {
    /// What is known of a fixture with these texts.
    pub(super) fn of(fixture: &Fixture, files: BTreeMap<String, String>) -> Self {
        let mut known = Self {
            command: fixture.test.clone(),
            files,
            ..Self::default()
        };
        let needed = fixture.needed.iter().map(|path| path.as_str().to_owned());
        known.targets = needed.filter(|path| known.is_program(path)).collect();
        if known.targets.is_empty() {
            let first = known.files.keys().find(|path| known.is_program(path));
            known.targets.extend(first.cloned());
        }
        known
    }

    /// Hears what the commands printed.
    pub(super) fn hear(&mut self, log: &str) {
        log.clone_into(&mut self.log);
    }

    /// Whether the first target is Python.
    pub(super) fn is_python(&self) -> bool {
        let python = |path: &String| is_python(path);
        self.targets.first().is_some_and(python) || self.command.contains("python")
    }

    /// The file that is attacked, and its text.
    pub(super) fn target(&self) -> Option<(&str, &str)> {
        let path = self.targets.first()?;
        Some((path, self.files.get(path)?))
    }

    /// The files of tests, those that the log names first.
    pub(super) fn test_files(&self) -> Vec<(&str, &str)> {
        let mut tests: Vec<_> = self
            .files
            .iter()
            .filter(|(path, _)| {
                Language::of_path(path).is_some() && is_test(path) && !path.ends_with("__init__.py")
            })
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        tests.sort_by_key(|(path, _)| !self.log.contains(path));
        tests
    }

    /// Program files that are no tests, with their texts.
    pub(super) fn product_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter(|(path, _)| self.is_program(path))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// What the failing assertion had and what it wanted, as the runner printed them.
    pub(super) fn compared(&self) -> Option<(String, String)> {
        if let Some(found) = UNEQUAL.captures(&self.log) {
            return Some((found[1].to_owned(), found[2].to_owned()));
        }
        let find = |name: &str| {
            let mut all = SIDE.captures_iter(&self.log);
            all.find(|it| &it[1] == name).map(|it| it[2].to_owned())
        };
        Some((find("actual")?, find("expected")?))
            .filter(|(had, wanted)| is_literal(had) && is_literal(wanted))
    }

    /// Names that the failure calls undefined.
    pub(super) fn undefined(&self) -> Vec<String> {
        let mut found: Vec<String> = UNDEFINED
            .captures_iter(&self.log)
            .filter_map(|it| it.get(1).or(it.get(2)))
            .map(|name| name.as_str().to_owned())
            .collect();
        found.sort();
        found.dedup();
        found
    }

    fn is_program(&self, path: &str) -> bool {
        self.files.contains_key(path) && Language::of_path(path).is_some() && !is_test(path)
    }
}

/// Whether a path is that of a Python file.
pub(super) fn is_python(path: &str) -> bool {
    Language::of_path(path).is_some_and(|it| it.name == PYTHON.name)
}

// A value that can be written into a program as it was printed.
fn is_literal(text: &str) -> bool {
    let words = [
        "true",
        "false",
        "null",
        "undefined",
        "True",
        "False",
        "None",
    ];
    words.contains(&text)
        || text.starts_with(|it: char| it.is_ascii_digit() || "-'\"[({".contains(it))
}
