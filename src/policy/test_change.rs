use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::change::{ChangeRules, ChangedFile, LET_PASS};
use super::manifest::{is_manifest, means_the_same};
use super::test_files::{
    is_assertion, is_comment, is_data, is_foreign_program, is_program, is_skip, is_test,
    is_test_head, is_test_text,
};
use crate::model::{Code, Operation, PatchProblem, file_name};

/// What a patch does to existing tests, by plain rules over lines. Refused are a test file or a case that
/// goes, a case that is skipped, chosen alone or expected to fail, and changed assertions without a change of
/// the product; all else is told. A test that moves is moved.
pub(super) fn changed_tests(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let tests = files.iter().enumerate().filter(|it| is_one(it.1, rules));
    let tests: Vec<(usize, &ChangedFile<'_>)> = tests.collect();
    if tests.is_empty() {
        return Vec::new();
    }
    let repairs = files.iter().any(|it| is_product(it, rules));
    let come = heads_that_come(files);
    let refused = rules.tests_refused;
    let judged = crate::parallel::map(tests, |(at, file)| {
        let (does, what, lines) = done_to(file, &come)?;
        let head = format!("the patch {what} an existing test{}", at_lines(&lines));
        let problem = match does {
            Does::TakesAway => format!("{head}: {LET_PASS}"),
            Does::Asserts if refused => format!("{head}: {LET_PASS}"),
            Does::Asserts if !repairs => format!("{head}, and changes nothing else: {LET_PASS}"),
            Does::Asserts | Does::Other => {
                return Some((at, PatchProblem::new(Code::P703, head).as_warning()));
            }
        };
        Some((at, PatchProblem::new(Code::P703, problem)))
    });
    judged.into_iter().flatten().collect()
}

// How a change of a test is judged.
enum Does {
    /// A test, or that it is run: refused.
    TakesAway,
    /// What is asserted: told beside a change of the product.
    Asserts,
    /// Anything else: told.
    Other,
}

// What is done, in words, and the lines of it. Cases that are merely added are free.
fn done_to(
    file: &ChangedFile<'_>,
    come: &HashMap<Vec<u8>, usize>,
) -> Option<(Does, &'static str, Vec<u64>)> {
    let before = file.before?;
    let is_data = is_test_data(file.path);
    let Some(after) = file.after.filter(|_| file.operation != Operation::Delete) else {
        let heads = heads(before);
        // Of cases that move each has come back somewhere.
        let moved = !heads.is_empty() && heads.iter().all(|it| come.contains_key(*it));
        return match (moved, is_data) {
            (true, _) => None,
            (false, true) => Some((Does::Other, "removes the data of", Vec::new())),
            (false, false) => Some((Does::TakesAway, "deletes", Vec::new())),
        };
    };
    if before == after || is_data && means_the_same(file) {
        return None;
    }
    let (gone, new) = changed_lines(before, after);
    let count = |lines: &[&[u8]], by: fn(&[u8]) -> bool| lines.iter().filter(|it| by(it)).count();
    let (lost, found) = (count(&gone, is_test_head), count(&new, is_test_head));
    let moved = gone
        .iter()
        .filter(|it| is_test_head(it) && come.contains_key(**it));
    if lost > found
        && lost - found > moved.count() + if found > 0 { rows_of_tables(&new) } else { 0 }
    {
        let lines = lines_of(before, &gone, &is_test_head);
        return Some((Does::TakesAway, "removes a case of", lines));
    }
    // A new case may be born skipped; an old one may not be made so.
    let skips = count(&new, is_skip).saturating_sub(count(&gone, is_skip));
    if skips > found.saturating_sub(lost) {
        let lines = lines_of(after, &new, &is_skip);
        return Some((Does::TakesAway, "skips a case of", lines));
    }
    let is_any = |line: &[u8]| !line.is_empty() && !is_comment(line);
    let foreign = is_foreign_program(file.path);
    let asserts = |line: &[u8]| is_assertion(line) || (foreign || is_data) && is_any(line);
    let lines = lines_of(before, &gone, &asserts);
    if !lines.is_empty() {
        let what = if is_data {
            "rewrites the data of"
        } else {
            "alters an assertion of"
        };
        return Some((Does::Asserts, what, lines));
    }
    // A specification or a page stands there, too.
    if !is_program(file.path) {
        return None;
    }
    let lines = lines_of(before, &gone, &is_any);
    if !lines.is_empty() {
        return Some((
            Does::Other,
            "changes what stands around assertions of",
            lines,
        ));
    }
    let lines = lines_of(after, &new, &is_any);
    (found == 0 && !is_data && !lines.is_empty()).then_some((Does::Other, "adds to", lines))
}

// Cases that became rows of one that runs over a table: the rows that a file gains beside such a case.
fn rows_of_tables(new: &[&[u8]]) -> usize {
    let is_table = |line: &&&[u8]| {
        [&b"parametrize("[..], b"it.each", b"test.each"]
            .iter()
            .any(|word| memchr::memmem::find(line, word).is_some())
    };
    let is_row = |line: &&&[u8]| {
        line.first().is_some_and(|it| b"([{".contains(it)) || line.starts_with(b"pytest.param(")
    };
    match new.iter().filter(is_table).count() {
        0 => 0,
        _ => new.iter().filter(is_row).count(),
    }
}

// Whether a file that was there is a test, or what one reads.
fn is_one(file: &ChangedFile<'_>, rules: &ChangeRules<'_>) -> bool {
    let Some(before) = file.before.filter(|_| file.operation != Operation::Copy) else {
        return false;
    };
    rules.run.get(file.path).is_some_and(|it| it.is_test)
        || is_test_data(file.path)
        || is_test(file.path)
        || is_test_text(file.path, before)
}

// Whether a file of the product changes: neither a test nor a text about it.
fn is_product(file: &ChangedFile<'_>, rules: &ChangeRules<'_>) -> bool {
    const TEXTS: [&str; 4] = ["adoc", "md", "rst", "txt"];
    let extension = file_name(file.path).rsplit_once('.').map_or("", |it| it.1);
    file.before != file.after
        && (is_manifest(file.path)
            || !is_one(file, rules) && !is_test(file.path) && !TEXTS.contains(&extension))
}

fn heads(text: &[u8]) -> Vec<&[u8]> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|it| is_test_head(it)).collect()
}

// Lines that name a case and that a file gains.
fn heads_that_come(files: &[ChangedFile<'_>]) -> HashMap<Vec<u8>, usize> {
    let mut found = HashMap::new();
    for file in files {
        let Some(after) = file.after.filter(|_| is_test(file.path)) else {
            continue;
        };
        for head in missing(&heads(after), &heads(file.before.unwrap_or_default())) {
            *found.entry(head.to_vec()).or_insert(0) += 1;
        }
    }
    found
}

fn lines_of(text: &[u8], changed: &[&[u8]], wanted: &dyn Fn(&[u8]) -> bool) -> Vec<u64> {
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    for line in changed.iter().filter(|it| wanted(it)) {
        *left.entry(line).or_default() += 1;
    }
    let mut found = Vec::new();
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if let Some(left) = left.get_mut(line.trim_ascii()).filter(|it| **it > 0) {
            *left -= 1;
            found.push(at as u64 + 1);
        }
    }
    found
}

fn at_lines(lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(8).map(u64::to_string).collect();
    let more = if lines.len() > shown.len() {
        " and more"
    } else {
        ""
    };
    match lines.len() {
        0 => String::new(),
        1 => format!(" (line {})", shown.join(", ")),
        _ => format!(" (lines {}{more})", shown.join(", ")),
    }
}

// Folders that hold nothing but what tests read, in lower case.
const FOLDERS: [&str; 5] = [
    "__fixtures__",
    "cassettes",
    "test-data",
    "test_data",
    "testdata",
];

/// Whether a file is what tests read or compare with, and no program: by its place and the end of its name.
pub(super) fn is_test_data(path: &str) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    // Folders of specifications are those of products, too.
    let is_spec = |part: &&str| matches!(part.to_ascii_lowercase().as_str(), "spec" | "specs");
    let kept: Vec<&str> = directory.split('/').filter(|it| !is_spec(it)).collect();
    let holds = |it: &&str| FOLDERS.contains(&it.to_ascii_lowercase().as_str());
    let stem = name.split('.').next().unwrap_or_default();
    let is_read_me = stem.len() > 1 && !stem.bytes().any(|it| it.is_ascii_lowercase());
    (kept.iter().any(holds) || is_test(&format!("{}/x", kept.join("/"))))
        && is_data(name)
        && !is_read_me
        && !is_manifest(path)
}

/// Lines that are in one side only, as a multiset, white space at both ends aside.
pub(super) fn changed_lines<'a>(
    before: &'a [u8],
    after: &'a [u8],
) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
    let (before, after) = without_shared_ends(before, after);
    let lines = |bytes: &'a [u8]| bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let (before, after): (Vec<&[u8]>, Vec<&[u8]>) =
        (lines(before).collect(), lines(after).collect());
    (missing(&before, &after), missing(&after, &before))
}

// Both without the whole lines that they share at their beginning and at their end.
fn without_shared_ends<'a>(before: &'a [u8], after: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let same =
        |one: &mut dyn Iterator<Item = (&u8, &u8)>| one.take_while(|it| it.0 == it.1).count();
    let head = same(&mut before.iter().zip(after));
    let head = memchr::memrchr(b'\n', &before[..head]).map_or(0, |at| at + 1);
    let (before, after) = (&before[head..], &after[head..]);
    let tail = same(&mut before.iter().rev().zip(after.iter().rev()));
    let cut = memchr::memchr(b'\n', &before[before.len() - tail..]);
    let tail = cut.map_or(0, |at| tail - at);
    (&before[..before.len() - tail], &after[..after.len() - tail])
}

// What of the one is not in the other, as a multiset.
fn missing<T: Copy + Eq + std::hash::Hash>(one: &[T], other: &[T]) -> Vec<T> {
    let mut left: HashMap<T, usize, RandomState> = HashMap::default();
    for item in other {
        *left.entry(*item).or_default() += 1;
    }
    let mut found = Vec::new();
    for item in one {
        match left.get_mut(item).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => found.push(*item),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::changed_tests;
    use crate::model::{Operation, Severity};
    use crate::policy::change::tests::{modified, with_rules};
    use crate::policy::{ChangeRules, ChangedFile};

    const TEST: &str = "import pytest\nfrom shop import total\n\n\ndef test_total():\n    n = 1\n    assert total(n) == 2\n\n\ndef test_none():\n    assert total(0) == 0\n";
    const SCRIPT: &str = "it('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n\nit('is', () => {\n  ok(add);\n});\n";
    const PRODUCT: (&str, &str, &str) = ("src/shop.py", "return 1\n", "return 2\n");

    // What is said of the first file: nothing, `told` or `refused`, and the words.
    fn verdict(files: &[ChangedFile<'_>], refused: bool) -> (&'static str, String) {
        with_rules(&|_| None, |rules| {
            let rules = ChangeRules {
                tests_refused: refused,
                ..*rules
            };
            match changed_tests(files, &rules).first() {
                None => ("free", String::new()),
                Some((_, it)) if it.severity == Severity::Error => ("refused", it.message.clone()),
                Some((_, it)) => ("told", it.message.clone()),
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
    fn what_makes_tests_say_less_is_refused() {
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
    }

    #[test]
    fn an_assertion_changes_beside_the_product_alone_and_is_told() {
        for (path, text, old, new, line) in [
            ("tests/test_a.py", TEST, "== 2", "== 3", "(line 7)"),
            ("a.test.js", SCRIPT, "toBe(3)", "toBe(4)", "(line 2)"),
            (
                "tests/data/a.json",
                "[\n  1,\n  2\n]\n",
                "2",
                "3",
                "(line 3)",
            ),
            (
                "tests/__snapshots__/a.snap",
                "exports = `a`;\n",
                "`a`",
                "`b`",
                "(line 1)",
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
        // What is installed is what the product stands on.
        let after = TEST.replace("== 2", "== 3");
        let bound = modified("requirements-dev.txt", "pytest<7\n", "pytest<9\n");
        let both = [modified("tests/test_a.py", TEST, &after), bound];
        assert_eq!(verdict(&both, false).0, "told");
    }

    #[test]
    fn cases_become_rows_of_a_table() {
        let path = "tests/test_a.py";
        let product = modified(PRODUCT.0, PRODUCT.1, PRODUCT.2);
        let head = "import pytest\nfrom shop import total\n\n\n";
        let table = |rows: &str| {
            format!(
                "{head}@pytest.mark.parametrize('n, is_', [\n{rows}])\ndef test_it(n, is_):\n    assert total(n) == is_\n"
            )
        };
        for (after, how) in [
            (table("    (1, 2),\n    (0, 0),\n"), "told"),
            (table(""), "refused"),
            (
                format!("{head}def test_it():\n    assert total\n    (1, 2)\n"),
                "refused",
            ),
        ] {
            let verdict = verdict(&[modified(path, TEST, &after), product], false);
            assert_eq!(verdict.0, how, "{after} {}", verdict.1);
        }
    }

    #[test]
    fn what_is_added_is_free() {
        for (path, text, old, new) in [
            (
                "tests/test_a.py",
                TEST,
                "import pytest\n",
                "import pytest\nimport os\n",
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
