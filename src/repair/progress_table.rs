//! The table of progress: what failed before and after, what the change put in, what that is.

use super::{Effect, effect};
use crate::model::{FailureKind as K, Observed, RepoPath, TestError, TestResult};
use crate::patch::{Change, FileState};

// `test: error` or `test: error @ line`; without a test the error alone.
fn failing(kind: K, rows: &[&str]) -> Observed {
    let errors: Vec<TestError> = rows
        .iter()
        .map(|row| {
            let (test, rest) = row.split_once(": ").unwrap_or(("", row));
            let (error, line) = rest.split_once(" @ ").unwrap_or((rest, ""));
            TestError {
                test: test.to_owned(),
                error: error.to_owned(),
                path: Some("tests/test_a.py".to_owned()).filter(|_| !line.is_empty()),
                line: line.parse().ok(),
            }
        })
        .collect();
    let tests = errors.iter().map(|it| it.test.clone());
    Observed {
        kind,
        signature: format!("{kind} {rows:?}"),
        failing_tests: tests.filter(|it| !it.is_empty()).collect(),
        errors,
        ..Observed::default()
    }
}

fn change(path: &str, before: &str, after: &str) -> Change {
    let state = |text: &str| {
        let bytes = text.as_bytes().into();
        let mode = 0o100_644;
        Some(FileState { bytes, mode })
    };
    Change::between(RepoPath::new(path).unwrap(), state(before), state(after))
}

const A: &str = "NameError: name 'a' is not defined";
const B: &str = "NameError: name 'b' is not defined";
const WRONG: &str = "AssertionError: 1 != 2";

#[test]
fn progress_is_by_test_and_by_error() {
    // Kind and failing tests before and after.
    type Side = (K, Vec<String>);
    let t = |test: &str, error: &str| format!("{test}: {error}");
    let rows: Vec<(Side, Side, Effect, &str)> = vec![
        (
            (K::ImportError, vec![t("x", A)]),
            (K::ImportError, vec![t("x", B)]),
            Effect::Better,
            "the founding case: the next missing name of the same test",
        ),
        (
            (K::ImportError, vec![t("x", A)]),
            (K::ImportError, vec![t("x", A)]),
            Effect::Same,
            "the same name",
        ),
        (
            (K::ImportError, vec![t("x", A)]),
            (
                K::ImportError,
                vec![t("x", "ImportError: cannot import name 'a' from 'm'")],
            ),
            Effect::Changed,
            "the same name, imported from where it is not",
        ),
        (
            (K::ImportError, vec![t("x", A)]),
            (K::TestFailure, vec![t("x", WRONG)]),
            Effect::Further,
            "it finds its names now",
        ),
        (
            (K::TestFailure, vec![t("x", WRONG)]),
            (K::ImportError, vec![t("x", B)]),
            Effect::Regressed,
            "it no longer finds its names",
        ),
        (
            (K::SyntaxError, vec![t("x", "SyntaxError: invalid syntax")]),
            (K::ImportError, vec![t("x", A)]),
            Effect::Better,
            "it parses now",
        ),
        (
            (K::ImportError, vec![t("x", &format!("{A} @ 1"))]),
            (
                K::SyntaxError,
                vec![t("x", "SyntaxError: invalid syntax @ 2")],
            ),
            Effect::Better,
            "its first import loads, and the next meets what never parsed",
        ),
        (
            (K::ImportError, vec![t("x", A)]),
            (K::SyntaxError, vec![t("x", "SyntaxError: invalid syntax")]),
            Effect::Changed,
            "nothing of it worked before",
        ),
        (
            (K::TestFailure, vec![t("x", "AssertionError: 1 != 2 @ 4")]),
            (K::TestFailure, vec![t("x", "AssertionError: 3 != 4 @ 9")]),
            Effect::Further,
            "the next assertion of the same test",
        ),
        (
            (K::TestFailure, vec![t("x", "AssertionError: 3 != 4 @ 9")]),
            (K::TestFailure, vec![t("x", "AssertionError: 1 != 2 @ 4")]),
            Effect::Regressed,
            "an assertion that held",
        ),
        (
            (K::TestFailure, vec![t("x", "AssertionError: 1 != 2 @ 4")]),
            (K::TestFailure, vec![t("x", "AssertionError: 5 != 2 @ 4")]),
            Effect::Changed,
            "the same assertion, otherwise",
        ),
        (
            (K::TestFailure, vec![t("x", WRONG), t("y", WRONG)]),
            (K::TestFailure, vec![t("x", WRONG)]),
            Effect::Better,
            "one test fewer",
        ),
        (
            (K::ImportError, vec![t("x", A), t("y", A)]),
            (K::TestFailure, vec![t("x", WRONG)]),
            Effect::Better,
            "one test fewer, the other further",
        ),
        (
            (K::ImportError, vec![t("x", A), t("y", A)]),
            (K::ImportError, vec![t("x", B), t("y", WRONG)]),
            Effect::Further,
            "the next name in one, something else in the other",
        ),
        (
            (K::TestFailure, vec![t("x", WRONG), t("y", WRONG)]),
            (
                K::TestFailure,
                vec![t("x", WRONG), t("y", WRONG), t("z", WRONG)],
            ),
            Effect::Regressed,
            "one test more",
        ),
        (
            (K::ImportError, vec![t("x", A)]),
            (K::ImportError, vec![t("x", B), t("z", WRONG)]),
            Effect::Regressed,
            "further, and another test broke",
        ),
        (
            (K::TestFailure, vec![t("x", WRONG)]),
            (K::TestFailure, vec![t("z", WRONG)]),
            Effect::Changed,
            "another test",
        ),
        (
            (K::TestFailure, vec![t("x", WRONG)]),
            (K::SyntaxError, vec!["SyntaxError".to_owned()]),
            Effect::Regressed,
            "nothing loads",
        ),
        (
            (K::ImportError, vec![t("tests/test_a.py", A)]),
            (K::TestFailure, vec![t("tests/test_a.py::test_one", WRONG)]),
            Effect::Further,
            "a file that could not be loaded shows its tests",
        ),
        (
            (K::ImportError, vec![t("tests/test_a.py", A)]),
            (
                K::ImportError,
                vec![
                    t("tests/test_a.py::test_one", B),
                    t("tests/test_a.py::test_two", B),
                ],
            ),
            Effect::Better,
            "a file loads, and its tests show the next missing name",
        ),
        (
            (K::ImportError, vec![A.replace(": ", ":")]),
            (K::ImportError, vec![t("tests/test_a.py::test_one", A)]),
            Effect::Better,
            "nothing could be loaded, and a test shows the name elsewhere",
        ),
        (
            (K::ImportError, vec![t("test_a", A)]),
            (K::TestFailure, vec![t("tests.test_a.T.test_one", WRONG)]),
            Effect::Further,
            "the same as unittest spells it",
        ),
        (
            (K::ImportError, vec![t("tests/test_a.py::x", A)]),
            (K::TestFailure, vec![t("tests/test_a.py::y", WRONG)]),
            Effect::Changed,
            "a test is no file",
        ),
        (
            (
                K::ImportError,
                vec![t("test_x", "ImportError: cannot import name 'a' from 'b'")],
            ),
            (K::TestFailure, vec![t("test_f (test_x.T)", WRONG)]),
            Effect::Further,
            "a module that unittest could not load",
        ),
        (
            (K::ImportError, vec![A.replace(": ", ":")]),
            (K::TestFailure, vec![t("x", WRONG)]),
            Effect::Better,
            "tests can be counted at last",
        ),
        (
            (
                K::TsError,
                vec!["error one".to_owned(), "error two".to_owned()],
            ),
            (K::TsError, vec!["error two".to_owned()]),
            Effect::Better,
            "one line of the compiler fewer",
        ),
    ];
    for (before, after, expected, why) in &rows {
        let side = |(kind, rows): &Side| {
            failing(*kind, &rows.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(effect(&side(before), &side(after), &[]), *expected, "{why}");
    }
}

#[test]
fn names_without_tests_count_as_well() {
    let named = |names: &[&str]| Observed {
        kind: K::ImportError,
        signature: names.concat(),
        undefined_names: names.iter().map(|it| (*it).to_owned()).collect(),
        ..Observed::default()
    };
    for (before, after, expected) in [
        (named(&["a", "b"]), named(&["b"]), Effect::Better),
        (named(&["a"]), named(&["b"]), Effect::Better),
        (named(&["a"]), named(&["a", "b"]), Effect::Changed),
    ] {
        assert_eq!(effect(&before, &after, &[]), expected);
    }
}

#[test]
fn what_a_change_brings_with_it_is_no_progress() {
    let before = failing(K::ImportError, &[&format!("x: {A}")]);
    let after = failing(K::ImportError, &[&format!("x: {B}")]);
    let imports = change("m.py", "a() + b()\n", "from n import a\na() + b()\n");
    assert_eq!(effect(&before, &after, &[imports]), Effect::Better);
    let replaces = change("m.py", "a()\n", "b()\n");
    assert_eq!(effect(&before, &after, &[replaces]), Effect::Changed);
    // A later line of a test that the change made longer.
    let at = |line: &str| failing(K::TestFailure, &[&format!("x: {WRONG} @ {line}")]);
    let longer = change("tests/test_a.py", "x\n", "\nx\n");
    assert_eq!(effect(&at("4"), &at("5"), &[longer]), Effect::Changed);
}

#[test]
fn the_end_decides_first() {
    let before = failing(K::TestFailure, &["x: AssertionError"]);
    let passed = Observed {
        passed: true,
        ..before.clone()
    };
    assert_eq!(effect(&before, &passed, &[]), Effect::Fixed);
    let hangs = Observed {
        signature: String::new(),
        test_result: TestResult {
            timed_out: true,
            ..TestResult::default()
        },
        ..failing(K::Timeout, &[])
    };
    assert_eq!(effect(&before, &hangs, &[]), Effect::Regressed);
}
