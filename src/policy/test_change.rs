//! What a patch does to existing tests.

use std::collections::HashSet;

use super::change::{ChangeRules, ChangedFile, LET_PASS};
use super::changed_lines::{ChangedLine, changed_lines, split_lines};
use super::manifest::{is_manifest, means_the_same};
use super::test_files::{
    is_assertion, is_comment, is_foreign_program, is_program, is_skip, is_test, is_test_data,
    is_test_head, is_test_name, is_test_text,
};
use crate::model::{Code, Operation, PatchProblem, file_name};

/// Judges what a patch does to existing tests, by plain rules over lines. Refused are a test file or a
/// case that goes, a test file that its runner no longer finds, a case that is skipped, chosen alone or
/// expected to fail, and changed assertions without a change of the product; all else is a warning. A
/// test that moves is free.
pub(super) fn judge_tests(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let tests = files.iter().enumerate().filter(|(_, file)| is_existing_test(file, rules));
    let tests: Vec<(usize, &ChangedFile<'_>)> = tests.collect();
    if tests.is_empty() {
        return Vec::new();
    }
    let has_repair = files.iter().any(|file| is_product(file, rules));
    let judged = crate::parallel::map(tests, |(at, file)| {
        let finding = judge_test(file, files)?;
        let is_refused = match finding.weight {
            Weight::Removal => true,
            Weight::Assertion => rules.tests_refused || !has_repair,
            Weight::Other => false,
        };
        let lines = name_lines(&finding.lines);
        let head = format!("the patch {} an existing test file{lines}", finding.action);
        let problem = match is_refused {
            true => PatchProblem::new(Code::P703, format!("{head}: {LET_PASS}")),
            false => PatchProblem::new(Code::P703, head).as_warning(),
        };
        Some((at, problem))
    });
    judged.into_iter().flatten().collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// A test goes, or is no longer run: refused.
    Removal,
    /// An assertion changes: a warning beside a change of the product.
    Assertion,
    /// A warning.
    Other,
}

struct Finding {
    weight: Weight,
    action: &'static str,
    lines: Vec<usize>,
}

impl Finding {
    fn new(weight: Weight, action: &'static str, lines: Vec<usize>) -> Self {
        Self {
            weight,
            action,
            lines,
        }
    }
}

/// Judges the change of one test. Cases that are merely added are free.
fn judge_test(file: &ChangedFile<'_>, files: &[ChangedFile<'_>]) -> Option<Finding> {
    let before = file.before?;
    let is_data = is_test_data(file.path);
    let moved = moved_cases(file, files);
    let Some(after) = file.after.filter(|_| file.operation != Operation::Delete) else {
        let mut heads = split_lines(before);
        heads.retain(|line| is_test_head(line));
        let is_moved = !heads.is_empty() && heads.iter().all(|head| moved.contains(head));
        let (weight, action) = match is_data {
            true => (Weight::Other, "removes the data of"),
            false => (Weight::Removal, "deletes"),
        };
        return (!is_moved).then(|| Finding::new(weight, action, Vec::new()));
    };
    if before == after || is_data && means_the_same(file) {
        return None;
    }
    let (gone, new) = changed_lines(before, after);
    let lost = line_numbers(&gone, is_test_head);
    let found = line_numbers(&new, is_test_head).len();
    let elsewhere = gone.iter().filter(|line| is_test_head(line.text) && moved.contains(line.text));
    if lost.len() > found + elsewhere.count() {
        return Some(Finding::new(Weight::Removal, "removes a case of", lost));
    }
    // A new case may be born skipped; an old one may not be made so.
    let skips = line_numbers(&new, is_skip);
    if skips.len() > line_numbers(&gone, is_skip).len() + found.saturating_sub(lost.len()) {
        return Some(Finding::new(Weight::Removal, "skips a case of", skips));
    }
    let all = is_foreign_program(file.path) || is_data;
    let lines = line_numbers(&gone, |line| {
        is_assertion(line) || all && is_code_line(line)
    });
    if !lines.is_empty() {
        let action = if is_data {
            "rewrites the data of"
        } else {
            "alters an assertion of"
        };
        return Some(Finding::new(Weight::Assertion, action, lines));
    }
    // A specification or a page may be there, too.
    if !is_program(file.path) {
        return None;
    }
    let mut lines = line_numbers(&gone, is_code_line);
    if found == 0 {
        lines.extend(line_numbers(&new, is_code_line));
    }
    (!lines.is_empty()).then(|| Finding::new(Weight::Other, "changes lines of", lines))
}

fn is_code_line(line: &[u8]) -> bool {
    !line.is_empty() && !is_comment(line)
}

fn line_numbers(lines: &[ChangedLine<'_>], is_wanted: impl Fn(&[u8]) -> bool) -> Vec<usize> {
    let wanted = lines.iter().filter(|line| is_wanted(line.text));
    wanted.map(|line| line.number).collect()
}

/// Returns the heads of cases that other files gain, where the runner that finds this file finds
/// those as well: `test_a.py` renamed to `a_helper.py` is a test deleted.
fn moved_cases<'t>(file: &ChangedFile<'_>, files: &[ChangedFile<'t>]) -> HashSet<&'t [u8]> {
    let mut heads = HashSet::new();
    for other in files.iter().filter(|other| {
        let named = !is_test_name(file_name(file.path)) || is_test_name(file_name(other.path));
        is_test(other.path) && named && ending(other.path) == ending(file.path)
    }) {
        let before = other.before.unwrap_or_default();
        let after = other.after.unwrap_or_default();
        let new = changed_lines(before, after).1.into_iter();
        heads.extend(new.map(|line| line.text).filter(|line| is_test_head(line)));
    }
    heads
}

fn ending(path: &str) -> Option<String> {
    path.rsplit_once('.').map(|(_, ending)| ending.to_owned())
}

/// Whether a file that was there is a test, or data that one reads.
fn is_existing_test(file: &ChangedFile<'_>, rules: &ChangeRules<'_>) -> bool {
    let Some(before) = file.before.filter(|_| file.operation != Operation::Copy) else {
        return false;
    };
    rules.run.get(file.path).is_some_and(|found| found.is_test)
        || is_test_data(file.path)
        || is_test(file.path)
        || is_test_text(file.path, before)
}

/// Whether a file of the product changes: neither a test nor a text about it.
fn is_product(file: &ChangedFile<'_>, rules: &ChangeRules<'_>) -> bool {
    const TEXTS: [&str; 4] = ["adoc", "md", "rst", "txt"];
    let extension = file_name(file.path).rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_text = TEXTS.contains(&extension) && !is_manifest(file.path);
    file.before != file.after
        && !is_text
        && (is_manifest(file.path) || !is_existing_test(file, rules) && !is_test(file.path))
}

fn name_lines(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(8).map(usize::to_string).collect();
    match lines.len() {
        0 => String::new(),
        1 => format!(" (line {})", shown.join(", ")),
        2..=8 => format!(" (lines {})", shown.join(", ")),
        _ => format!(" (lines {} and more)", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::judge_tests;
    use crate::model::{Operation, Severity};
    use crate::policy::change::tests::{modified, with_rules};
    use crate::policy::{ChangeRules, ChangedFile};

    const TEST: &str = "import pytest\nfrom shop import total\n\n\ndef test_total():\n    n = 1\n    assert total(n) == 2\n\n\ndef test_none():\n    assert total(0) == 0\n";
    const SCRIPT: &str = "it('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n\nit('is', () => {\n  ok(add);\n});\n";
    const PRODUCT: (&str, &str, &str) = ("src/shop.py", "return 1\n", "return 2\n");

    // Returns the outcome for the first file (empty, `told` or `refused`) and its message.
    fn verdict(files: &[ChangedFile<'_>], refused: bool) -> (&'static str, String) {
        with_rules(|rules| {
            let rules = ChangeRules {
                tests_refused: refused,
                ..*rules
            };
            match judge_tests(files, &rules).first() {
                None => ("free", String::new()),
                Some((_, found)) if found.severity == Severity::Error => {
                    ("refused", found.message.clone())
                }
                Some((_, found)) => ("told", found.message.clone()),
            }
        })
    }

    fn edited(
        path: &str,
        text: &str,
        old: &str,
        new: &str,
        beside: bool,
    ) -> (&'static str, String) {
        assert!(text.contains(old), "{old}");
        let after = text.replacen(old, new, 1);
        let product = modified(PRODUCT.0, PRODUCT.1, PRODUCT.2);
        let files = [modified(path, text, &after), product];
        verdict(if beside { &files } else { &files[..1] }, false)
    }

    #[test]
    fn refuses_weaker_tests() {
        let python = "tests/test_a.py";
        for (path, text, old, new) in [
            (
                python,
                TEST,
                "\n\ndef test_none():\n    assert total(0) == 0\n",
                "",
            ),
            (python, TEST, "def test_none", "def none"),
            (
                python,
                TEST,
                "def test_none",
                "@pytest.mark.skip\ndef test_none",
            ),
            (
                python,
                TEST,
                "def test_none",
                "@pytest.mark.xfail\ndef test_none",
            ),
            (python, TEST, "    n = 1\n", "    pytest.skip('later')\n"),
            ("a.test.js", SCRIPT, "it('adds'", "it.skip('adds'"),
            ("a.test.js", SCRIPT, "it('adds'", "it.only('adds'"),
            (
                "a.test.js",
                SCRIPT,
                "it('is', () => {\n  ok(add);\n});\n",
                "",
            ),
        ] {
            for beside in [true, false] {
                let found = edited(path, text, old, new, beside);
                assert_eq!(found.0, "refused", "{new} {}", found.1);
            }
        }
        let gone = ChangedFile {
            operation: Operation::Delete,
            after: None,
            ..modified(python, TEST, "")
        };
        assert_eq!(
            verdict(&[gone, modified(PRODUCT.0, PRODUCT.1, PRODUCT.2)], false).0,
            "refused"
        );
        let moved = ChangedFile {
            operation: Operation::Create,
            before: None,
            ..modified("tests/unit/test_a.py", "", TEST)
        };
        assert_eq!(verdict(&[gone, moved], false).0, "free");
        // Renamed to names that no runner looks for.
        for path in ["tests/helper_a.py", "tests/test_a.txt", "tests/a.py.off"] {
            let hidden = ChangedFile { path, ..moved };
            assert_eq!(verdict(&[gone, hidden], false).0, "refused", "{path}");
        }
    }

    #[test]
    fn warns_of_assertion_edit_beside_product() {
        for (path, text, old, new, line) in [
            ("tests/test_a.py", TEST, "== 2", "== 3", "(line 7)"),
            ("a.test.js", SCRIPT, "toBe(3)", "toBe(4)", "(line 2)"),
            (
                "tests/data/a.json", "[\n  1,\n  2\n]\n", "2", "3", "(line 3)",
            ),
            (
                "tests/__snapshots__/a.snap", "exports = `a`;\n", "`a`", "`b`", "(line 1)",
            ),
        ] {
            let (how, words) = edited(path, text, old, new, true);
            assert_eq!(how, "told", "{path}");
            assert!(words.contains(line), "{words}");
            assert_eq!(edited(path, text, old, new, false).0, "refused", "{path}");
            let after = text.replacen(old, new, 1);
            let product = modified(PRODUCT.0, PRODUCT.1, PRODUCT.2);
            assert_eq!(
                verdict(&[modified(path, text, &after), product], true).0,
                "refused"
            );
        }
        assert_eq!(
            edited("tests/test_a.py", TEST, "n = 1", "n = 4", true).0,
            "told"
        );
        // What is installed is what the product builds on.
        let after = TEST.replace("== 2", "== 3");
        let bound = modified("requirements-dev.txt", "pytest<7\n", "pytest<9\n");
        let both = [modified("tests/test_a.py", TEST, &after), bound];
        assert_eq!(verdict(&both, false).0, "told");
    }

    #[test]
    fn accepts_added_assertions() {
        for (path, text, old, new) in [
            (
                "tests/test_a.py", TEST, "import pytest\n", "import pytest\nimport os\n",
            ),
            (
                "tests/test_a.py",
                TEST,
                "\n\ndef test_none",
                "\n\n@pytest.mark.skip\ndef test_new():\n    assert 1\n\n\ndef test_none",
            ),
            ("tests/data/a.json", "[\n  1\n]\n", "[\n  1\n]", "[1]"),
            ("docs/tests.md", "assert\n", "assert", "expect"),
            ("tests/README.txt", "a 1\n", "1", "2"),
            ("spec/openapi.yaml", "a: 1\n", "1", "2"),
        ] {
            for beside in [true, false] {
                let found = edited(path, text, old, new, beside);
                assert!(
                    found.0 == "free" || path.ends_with("README.txt"),
                    "{path} {new} {found:?}"
                );
            }
        }
    }
}
