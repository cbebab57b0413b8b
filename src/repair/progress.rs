//! Decides whether a change helped, did nothing or broke something.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{FailureKind as Kind, Observed, RunFailure};
use crate::patch::{Change, FileState};

/// What a change did to a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The commands pass.
    Fixed,
    /// The same failure.
    Same,
    /// Part of it is gone, or the next missing name shows, and nothing came.
    Better,
    /// A test gets further and fails otherwise: the change may be right, or wrong in another way.
    Further,
    /// Another failure, neither better nor worse.
    Changed,
    /// Something that worked no longer does.
    Regressed,
}

/// How the error of one test moved between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ErrorShift {
    /// It meets the next missing name.
    NextName,
    /// It gets to a later line of its own, or knows its names now.
    Further,
    Back,
    Sideways,
}

/// Compares what fails before and after `changes`: by test, and in the same test by what it failed with. A first right
/// import is progress although the test fails at the next missing name.
pub fn effect(before: &Observed, after: &Observed, changes: &[Change]) -> Effect {
    if after.passed {
        return Effect::Fixed;
    }
    if before.signature == after.signature {
        return Effect::Same;
    }
    if after.test_result.timed_out && !before.test_result.timed_out {
        return Effect::Regressed;
    }
    if before.failing_tests.is_empty() || after.failing_tests.is_empty() {
        return effect_without_tests(before, after, changes);
    }
    let (old, new) = (by_test(before), by_test(after));
    // A file that could not be loaded shows its tests once it loads.
    let mut unread = old.clone();
    unread.retain(|_, then| error_stage(&then.error) != Stage::Runs);
    let mut shifts: BTreeSet<ErrorShift> = BTreeSet::new();
    let mut is_broken = false;
    for (test, now) in &new {
        let mut files = unread.iter().filter(|(file, _)| holds_test(file, test));
        match old.get(test).or_else(|| Some(files.next()?.1)) {
            Some(then) => drop(shifts.insert(compare_errors(then, now, changes))),
            None => is_broken = true,
        }
    }
    let is_less = old
        .keys()
        .any(|test| !new.keys().any(|other| other == test || holds_test(test, other)));
    let is_back = is_broken || shifts.contains(&ErrorShift::Back);
    match () {
        () if is_broken && after.kind.is_before_tests() => Effect::Regressed,
        () if is_back && is_less => Effect::Changed,
        () if is_back => Effect::Regressed,
        () if is_less => Effect::Better,
        () if shifts.contains(&ErrorShift::Further) => Effect::Further,
        () if shifts.contains(&ErrorShift::NextName) => Effect::Better,
        () => Effect::Changed,
    }
}

fn effect_without_tests(before: &Observed, after: &Observed, changes: &[Change]) -> Effect {
    let (stopped, stops) = (before.kind.is_before_tests(), after.kind.is_before_tests());
    // What stops the code from loading hides everything that worked before.
    if stops && !stopped {
        return Effect::Regressed;
    }
    let loads = stopped && !stops && after.kind != Kind::Unknown;
    let shows_tests = stopped && after.failing_tests.iter().any(|test| test.contains("::"));
    let (old, new) = (missing_names(before), missing_names(after));
    let is_next = !old.is_empty() && !new.is_empty() && old.is_disjoint(&new);
    let is_better = loads
        || shows_tests && before.failing_tests.is_empty()
        || is_proper_part(&error_lines(after), &error_lines(before))
        || is_proper_part(&new, &old)
        || is_next && !new.iter().any(|word| is_brought(word, changes));
    if is_better { Effect::Better } else { Effect::Changed }
}

fn missing_names(run: &Observed) -> BTreeSet<String> {
    let lost = run.errors.iter().filter_map(|row| missing_name(&row.error));
    lost.chain(run.undefined_names.iter().cloned()).collect()
}

fn error_lines(run: &Observed) -> BTreeSet<String> {
    run.errors.iter().map(|row| plain(&row.error)).collect()
}

fn is_proper_part(new: &BTreeSet<String>, old: &BTreeSet<String>) -> bool {
    !new.is_empty() && new.is_subset(old) && new != old
}

fn by_test(run: &Observed) -> BTreeMap<&str, RunFailure> {
    let tests = run.failing_tests.iter().map(|test| {
        let error = run.errors.iter().rfind(|row| row.test == *test);
        (test.as_str(), error.cloned().unwrap_or_default())
    });
    tests.collect()
}

// It loads, it knows its names, it gets to a later line of its own.
fn compare_errors(then: &RunFailure, now: &RunFailure, changes: &[Change]) -> ErrorShift {
    if then.error.is_empty() || now.error.is_empty() {
        return ErrorShift::Sideways;
    }
    let (old, new) = (error_stage(&then.error), error_stage(&now.error));
    let lost = missing_name(&then.error).zip(missing_name(&now.error));
    match (new.cmp(&old), lost) {
        (Ordering::Less, _) if old == Stage::Runs => ErrorShift::Back,
        (Ordering::Less, _) => ErrorShift::Sideways,
        (Ordering::Greater, _) if new == Stage::Runs => ErrorShift::Further,
        (Ordering::Greater, _) => ErrorShift::NextName,
        (Ordering::Equal, Some((old, new))) if old != new && !is_brought(&new, changes) => {
            ErrorShift::NextName
        }
        (Ordering::Equal, Some(_)) => ErrorShift::Sideways,
        (Ordering::Equal, None) => match compare_lines(then, now, changes) {
            Some(Ordering::Greater) => ErrorShift::Further,
            Some(Ordering::Less) => ErrorShift::Back,
            _ => ErrorShift::Sideways,
        },
    }
}

// Lines are not compared in a changed file, because the edit moved them.
fn compare_lines(then: &RunFailure, now: &RunFailure, changes: &[Change]) -> Option<Ordering> {
    let path = now.path.as_ref().filter(|_| now.path == then.path)?;
    let is_touched = changes.iter().any(|change| change.path.as_str() == path);
    (!is_touched).then_some(now.line?.cmp(&then.line?))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Parses,
    FindsNames,
    Runs,
}

const UNREADABLE: [&str; 5] = [
    "SyntaxError", "IndentationError", "TabError", "Transform failed", "Parse failure",
];

fn error_stage(error: &str) -> Stage {
    let has = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if error.is_empty() || missing_name(error).is_some() {
        Stage::FindsNames
    } else if has(&UNREADABLE) {
        Stage::Parses
    } else if has(&["ImportError", "ModuleNotFoundError"]) {
        Stage::FindsNames
    } else {
        Stage::Runs
    }
}

// Whether a test is in what a runner names as a whole: a file, a module or a suite.
fn holds_test(file: &str, test: &str) -> bool {
    test.match_indices(file).any(|(at, _)| {
        let starts = test[..at].chars().next_back();
        let ends = test[at + file.len()..].chars().next();
        starts.is_none_or(|letter| "./ (".contains(letter))
            && ends.is_some_and(|letter| ":.> [".contains(letter))
    })
}

// Whether a word is new with the changes: then its being missing is their doing.
fn is_brought(word: &str, changes: &[Change]) -> bool {
    changes.iter().any(|change| {
        has_word(change.after.as_ref(), word) && !has_word(change.before.as_ref(), word)
    })
}

fn has_word(side: Option<&FileState>, word: &str) -> bool {
    let bytes = side.map(|state| &state.bytes[..]);
    bytes.is_some_and(|bytes| memchr::memmem::find(bytes, word.as_bytes()).is_some())
}

/// Returns a line of output without what differs from run to run: numbers, addresses, temporary paths.
pub(super) fn plain(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        if word.contains("0x") || word.contains("/tmp/") {
            String::new()
        } else {
            word.chars().filter(|c| !c.is_ascii_digit()).collect()
        }
    });
    words.collect::<Vec<String>>().join(" ")
}

#[rustfmt::skip]
const MISSING: [&str; 12] = [
    "NameError: name ", "NameError: global name ", "cannot import name ", "No module named ",
    "Cannot find module ", "Cannot find package ", "Can't resolve ", "Failed to resolve import ",
    "does not provide an export named ", "Cannot find name ", "has no exported member ", "Undefined name ",
];

/// Returns the name, module or export that a line of output calls missing; the last part of a path.
pub(super) fn missing_name(line: &str) -> Option<String> {
    let first = MISSING
        .iter()
        .filter_map(|phrase| line.find(phrase).map(|at| (at, &line[at + phrase.len()..])))
        .min_by_key(|(at, _)| *at);
    // `ReferenceError: x is not defined`.
    let rest = first.map(|(_, rest)| rest).or_else(|| {
        let (before, _) = line.split_once(" is not defined")?;
        let name = before.rsplit([' ', ':']).next()?;
        (before.contains("ReferenceError") && !name.is_empty()).then_some(name)
    })?;
    let rest = rest.trim_start_matches([' ', ':', '\'', '"', '`']);
    let word = rest.split(['\'', '"', '`', ' ', ',', ';']).next()?;
    let word = word.trim_end_matches(['.', ':', ')']);
    let own = word.rsplit('/').next().unwrap_or(word);
    (!own.is_empty()).then(|| own.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Effect, effect, missing_name, plain};
    use crate::model::{FailureKind as K, Observed, RepoPath, RunFailure, TestResult};
    use crate::patch::{Change, FileState};

    // `test: error` or `test: error @ line`; without a test the error alone.
    fn failing(kind: K, rows: &[&str]) -> Observed {
        let errors: Vec<RunFailure> = rows
            .iter()
            .map(|row| {
                let (test, rest) = row.split_once(": ").unwrap_or(("", row));
                let (error, line) = rest.split_once(" @ ").unwrap_or((rest, ""));
                RunFailure {
                    test: test.to_owned(),
                    error: error.to_owned(),
                    path: Some("tests/test_a.py".to_owned()).filter(|_| !line.is_empty()),
                    line: line.parse().ok(),
                    ..RunFailure::default()
                }
            })
            .collect();
        let tests = errors.iter().map(|error| error.test.clone());
        Observed {
            kind,
            signature: format!("{kind} {rows:?}"),
            failing_tests: tests.filter(|test| !test.is_empty()).collect(),
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
            let [before, after, expected, why] =
                row.split('|').map(str::trim).collect::<Vec<_>>()[..]
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
            undefined_names: names.iter().map(|name| (*name).to_owned()).collect(),
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
    fn names_added_by_change_are_no_progress() {
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
    fn end_of_run_decides_effect() {
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

    #[test]
    fn reads_missing_name_from_line() {
        for row in [
            "NameError: name 'CliRunner' is not defined => CliRunner",
            "E   NameError: name 'a' is not defined. Did you mean: 'b'? => a",
            "ImportError: cannot import name 'x' from 'pkg.y' (/p/y.py) => x",
            "ModuleNotFoundError: No module named 'pkg.sub' => pkg.sub",
            "ReferenceError: pounds is not defined => pounds",
            "Error: Cannot find module './money' => money",
            "SyntaxError: The requested module './a.js' does not provide an export named 'b' => b",
            "a.ts(1,2): error TS2304: Cannot find name 'total'. => total",
            "AssertionError: 1 != 2 =>",
            "TypeError: x is not a function =>",
            "the variable is not defined =>",
        ] {
            let (line, name) = row.split_once(" =>").unwrap();
            let found = missing_name(line).unwrap_or_default();
            assert_eq!(found, name.trim(), "{line}");
        }
    }

    #[test]
    fn effect_of_unclear_errors_is_no_progress() {
        let relative = "x: ImportError: attempted relative import with no known parent package";
        let fails = |rows: &[&str]| failing(K::TestFailure, rows);
        let wrong = format!("x: {WRONG}");
        let a = format!("x: {A}");
        for (before, after, expected) in [
            // The last of several errors of a test counts.
            (fails(&[&a]), fails(&[&a, &wrong]), Effect::Further),
            (fails(&["x: "]), fails(&[&wrong]), Effect::Changed),
            (fails(&[relative]), fails(&[&wrong]), Effect::Further),
            // Another file whose name only begins alike.
            (
                fails(&["a.py: SyntaxError: bad"]),
                fails(&[&format!("a.pyi: {WRONG}")]),
                Effect::Changed,
            ),
        ] {
            assert_eq!(effect(&before, &after, &[]), expected, "{after:?}");
        }
        let [before, mut after] = ["4", "9"].map(|line| fails(&[&format!("{wrong} @ {line}")]));
        assert_eq!(effect(&before, &after, &[]), Effect::Further);
        after.errors[0].path = Some("tests/other.py".to_owned());
        assert_eq!(effect(&before, &after, &[]), Effect::Changed);
    }

    #[test]
    fn name_of_new_file_is_no_progress() {
        let before = failing(K::ImportError, &[&format!("x: {A}")]);
        let after = failing(K::ImportError, &[&format!("x: {B}")]);
        let state = FileState::new(b"a() + b()\n".as_slice(), 0o100_644);
        let created = Change::between(RepoPath::new("m.py").unwrap(), None, Some(state));
        assert_eq!(effect(&before, &after, &[created]), Effect::Changed);
        // One of two missing names came with the change.
        let named = |names: &[&str]| Observed {
            kind: K::ImportError,
            signature: names.concat(),
            undefined_names: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Observed::default()
        };
        let brings = change("m.py", "old()\n", "fresh()\n");
        let after = named(&["fresh", "other"]);
        assert_eq!(effect(&named(&["old"]), &after, &[brings]), Effect::Changed);
    }

    #[test]
    fn plain_drops_addresses_and_temporary_paths() {
        let [one, other] = [
            "<A at 0xab1c> in /tmp/abc/f.py 3",
            "<A at 0xffee> in /tmp/xyz/f.py 4",
        ];
        assert_eq!(plain(one), plain(other));
        let twice = "No module named 'a'; No module named 'b'";
        assert_eq!(missing_name(twice).as_deref(), Some("a"));
    }
}
