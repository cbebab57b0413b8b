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
    let state = |text: &str| Some(FileState::new(text.as_bytes(), 0o100_644));
    Change::between(RepoPath::new(path).unwrap(), state(before), state(after))
}

const A: &str = "NameError: name 'a' is not defined";
const B: &str = "NameError: name 'b' is not defined";
const WRONG: &str = "AssertionError: 1 != 2";

// Before, after: kind and failing tests of each; what that is; why.
const ROWS: &str = "
    import_error x: {A} | import_error x: {B} | Better |
        the founding case: the next missing name of the same test;
    import_error x: {A} | import_error x: {A} | Same | the same name;
    import_error x: {A} | import_error x: ImportError: cannot import name 'a' from 'm' | Changed |
        the same name, imported from where it is not;
    import_error x: {A} | test_failure x: {WRONG} | Further | it finds its names now;
    test_failure x: {WRONG} | import_error x: {B} | Regressed | it no longer finds its names;
    syntax_error x: SyntaxError: invalid syntax | import_error x: {A} | Better | it parses now;
    import_error x: {A} @ 1 | syntax_error x: SyntaxError: invalid syntax @ 2 | Better |
        its first import loads, and the next meets what never parsed;
    import_error x: {A} | syntax_error x: SyntaxError: invalid syntax | Changed |
        nothing of it worked before;
    test_failure x: AssertionError: 1 != 2 @ 4 | test_failure x: AssertionError: 3 != 4 @ 9 |
        Further | the next assertion of the same test;
    test_failure x: AssertionError: 3 != 4 @ 9 | test_failure x: AssertionError: 1 != 2 @ 4 |
        Regressed | an assertion that held;
    test_failure x: AssertionError: 1 != 2 @ 4 | test_failure x: AssertionError: 5 != 2 @ 4 |
        Changed | the same assertion, otherwise;
    test_failure x: {WRONG}, y: {WRONG} | test_failure x: {WRONG} | Better | one test fewer;
    import_error x: {A}, y: {A} | test_failure x: {WRONG} | Better |
        one test fewer, the other further;
    import_error x: {A}, y: {A} | import_error x: {B}, y: {WRONG} | Further |
        the next name in one, something else in the other;
    test_failure x: {WRONG}, y: {WRONG} | test_failure x: {WRONG}, y: {WRONG}, z: {WRONG} |
        Regressed | one test more;
    import_error x: {A} | import_error x: {B}, z: {WRONG} | Regressed |
        further, and another test broke;
    test_failure x: {WRONG} | test_failure z: {WRONG} | Changed | another test;
    test_failure x: {WRONG} | syntax_error SyntaxError | Regressed | nothing loads;
    import_error tests/test_a.py: {A} | test_failure tests/test_a.py::test_one: {WRONG} | Further |
        a file that could not be loaded shows its tests;
    import_error tests/test_a.py: {A} |
        import_error tests/test_a.py::test_one: {B}, tests/test_a.py::test_two: {B} | Better |
        a file loads, and its tests show the next missing name;
    import_error NameError:name 'a' is not defined | import_error tests/test_a.py::test_one: {A} |
        Better | nothing could be loaded, and a test shows the name elsewhere;
    import_error test_a: {A} | test_failure tests.test_a.T.test_one: {WRONG} | Further |
        the same as unittest spells it;
    import_error tests/test_a.py::x: {A} | test_failure tests/test_a.py::y: {WRONG} | Changed |
        a test is no file;
    import_error test_x: ImportError: cannot import name 'a' from 'b' |
        test_failure test_f (test_x.T): {WRONG} | Further | a module that unittest could not load;
    import_error NameError:name 'a' is not defined | test_failure x: {WRONG} | Better |
        tests can be counted at last;
    ts_error error one, error two | ts_error error two | Better | one line of the compiler fewer;
";

#[test]
fn progress_is_by_test_and_by_error() {
    let rows = ROWS.replace("{A}", A).replace("{B}", B);
    for row in rows.replace("{WRONG}", WRONG).trim().split_terminator(';') {
        let [before, after, expected, why] = row.split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{row}");
        };
        let [before, after] = [before, after].map(|side| {
            let (kind, rows) = side.split_once(' ').unwrap();
            failing(kind.parse().unwrap(), &rows.split(", ").collect::<Vec<_>>())
        });
        let found = effect(&before, &after, &[]);
        assert_eq!(format!("{found:?}"), expected, "{why}");
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
