//! Which files are tests, programs or data of tests, and which lines are cases, assertions, skips or comments: the
//! words of `test_lines.toml`.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::manifest::is_manifest;
use crate::languages::{Language, perturbable_tests};
use crate::model::{RepoPath, file_name};

/// Folders of tests and of what only tests use, in lower case.
pub const TEST_FOLDERS: &[&str] = &[
    "test", "tests", "__tests__", "__mocks__", "__snapshots__", "spec", "specs", "e2e", "cypress",
    "mocks",
];

/// Whether a path is that of a test, by the conventions of common runners.
pub fn is_test(path: &str) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    directory
        .split('/')
        .any(|part| TEST_FOLDERS.contains(&part.to_ascii_lowercase().as_str()))
        || is_test_name(name)
}

/// The same of the name of a file alone.
pub fn is_test_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let (stem, extension) = lower.rsplit_once('.').unwrap_or((&lower, ""));
    let program_ends = ["_spec", "-spec", ".cy", ".e2e", ".test-d"];
    extension == "snap"
        || stem.starts_with("test_")
        || ["_test", ".test", ".spec", "-test"].iter().any(|end| stem.ends_with(end))
        || is_program(name)
            // `run_tests.py` runs tests and is not a test.
            && (stem == "tests"
                || program_ends.iter().any(|end| stem.ends_with(end)))
}

/// Checks whether the text of a program is a test, wherever the file is: it imports a runner, and has cases and
/// assertions. For `test.js` and `test.py` cases and assertions are enough. Test packages, such as Django's, are
/// recognized by their path.
pub fn is_test_text(path: &str, text: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    if Language::of_path(name).is_none()
        || path.split('/').any(|part| matches!(part, "test" | "testing"))
    {
        return false;
    }
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let is_called_so = name.split('.').next() == Some("test");
    lines.clone().any(is_case)
        && lines.clone().any(is_assertion)
        && (is_called_so || lines.any(takes_a_runner))
        // By its tree, because a text in a program may well show a case.
        && RepoPath::new(path).is_ok_and(|path| !perturbable_tests(&path, text).is_empty())
}

// The name alone is not enough, because a product class may be called `TestServer`.
fn is_case(line: &[u8]) -> bool {
    is_test_head(line) && !line.starts_with(b"class")
}

fn takes_a_runner(line: &[u8]) -> bool {
    starts_with_word(line, &WORDS.starts_import)
        && RUNNERS.as_ref().is_some_and(|regex| regex.is_match(line))
}

pub(super) fn is_program(name: &str) -> bool {
    Language::of_path(name).is_some() || is_foreign_program(name)
}

// The file is part of the program, and a test reads it.
static WORDS: LazyLock<Words> = LazyLock::new(|| {
    crate::model::read_table(embedded!("policy/test_lines.toml")).unwrap_or_default()
});

// `test_lines.toml`.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    assertions: Vec<String>,
    starts_assertion: Vec<String>,
    starts_case: Vec<String>,
    skips: Vec<String>,
    starts_import: Vec<String>,
    runners: Vec<String>,
    data_extensions: Vec<String>,
    foreign_extensions: Vec<String>,
}

// Words are looked for all at once because lines are many.
static ASSERTIONS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(&WORDS.assertions).ok());
static RUNNERS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(&WORDS.runners).ok());
static SKIPS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(&WORDS.skips).ok());

fn starts_with_word(line: &[u8], words: &[String]) -> bool {
    words.iter().any(|word| line.starts_with(word.as_bytes()))
}

pub(super) fn is_assertion(line: &[u8]) -> bool {
    !is_comment(line)
        && (ASSERTIONS.as_ref().is_some_and(|regex| regex.is_match(line))
            || starts_with_word(line, &WORDS.starts_assertion))
}

pub(super) fn is_comment(line: &[u8]) -> bool {
    [&b"#"[..], b"//", b"import ", b"from "]
        .iter()
        .any(|start| line.starts_with(start))
}

pub(super) fn is_test_head(line: &[u8]) -> bool {
    starts_with_word(line, &WORDS.starts_case)
}

pub(super) fn is_skip(line: &[u8]) -> bool {
    let mut found = SKIPS.iter().flat_map(|skips| skips.find_overlapping_iter(line));
    found.any(|hit| {
        // `exit(` is not `xit(`.
        let before = hit.start().checked_sub(1);
        let pair = before.and_then(|before| line.get(before..=hit.start()));
        !pair.is_some_and(|pair| pair.iter().all(u8::is_ascii_alphanumeric))
    })
}

pub(super) fn is_foreign_program(path: &str) -> bool {
    ends_in(path, &WORDS.foreign_extensions)
}

/// Whether a file is data that tests read or compare with, by its place and the end of its name.
pub(super) fn is_test_data(path: &str) -> bool {
    const FOLDERS: [&str; 5] = [
        "__fixtures__", "cassettes", "test-data", "test_data", "testdata",
    ];
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    // Folders of specifications are those of products, too.
    let mut folders = directory.split('/').map(str::to_ascii_lowercase);
    let stem = name.split('.').next().unwrap_or_default();
    let is_read_me = stem.len() > 1 && !stem.bytes().any(|byte| byte.is_ascii_lowercase());
    folders.any(|folder| {
        let is_spec = matches!(folder.as_str(), "spec" | "specs");
        FOLDERS.contains(&folder.as_str()) || !is_spec && TEST_FOLDERS.contains(&folder.as_str())
    }) && ends_in(&name.to_ascii_lowercase(), &WORDS.data_extensions)
        && !is_read_me
        && !is_manifest(path)
}

fn ends_in(path: &str, extensions: &[String]) -> bool {
    let extension = file_name(path).rsplit_once('.').map(|(_, end)| end);
    extension.is_some_and(|end| extensions.iter().any(|one| one == end))
}

#[cfg(test)]
mod tests {
    use super::{WORDS, is_skip, is_test, is_test_text};

    #[test]
    fn words_are_read() {
        assert!(is_skip(b"@pytest.mark.skip") && is_skip(b"xit(") && !is_skip(b"exit(0)"));
        assert!(!WORDS.assertions.is_empty() && !WORDS.foreign_extensions.is_empty());
    }

    #[test]
    fn knows_tests() {
        for path in [
            "tests/a.py", "src/test_a.py", "a_test.go", "a.spec.ts", "x/__tests__/b.ts",
            "polls/tests.py", "Tests/a.py", "e2e/cart.ts", "src/__mocks__/fs.js", "ui/cart.cy.ts",
            "ui/cart.e2e.ts", "types/a.test-d.ts", "spec/a.rb", "lib/cart_spec.rb", "src/tests.rs",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in [
            "src/latest.py", "contest/a.py", "click/testing.py", "numpy/testing/utils.py",
            "src/commands/test.ts", "src/attestation.ts", "docs/tests.md", "tests.toml",
            "run_tests.py",
        ] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn recognizes_tests_by_text() {
        let case = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(), 2)\n";
        let script = "const a = require('./a');\ntest('a', () => {\n  expect(a()).toBe(2);\n});\n";
        for (path, text, expected) in [
            ("polls/checks.py", case, true),
            ("test.js", script, true),
            ("src/a.js", script, false),
            ("django/test/runner.py", case, false),
            (
                "src/commands/test.ts",
                "export const run = () => spawn('x');\n",
                false,
            ),
            ("src/a.py", "import unittest.mock\nassert f() == 1\n", false),
            ("docs/a.md", case, false),
            (
                "src/a.py",
                "import pytest\n\ndef f():\n    \"\"\"\n    def test_a():\n    \"\"\"\n    assert f() == 1\n",
                false,
            ),
        ] {
            assert_eq!(is_test_text(path, text.as_bytes()), expected, "{path}");
        }
    }
}
