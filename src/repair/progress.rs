use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::missing::missing;
use crate::model::{FailureKind as Kind, Observed, TestError};
use crate::patch::Change;

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

/// Compares what fails before and after `changes` (S4's partial success; "regressed"): by test, and
/// in the same test by what it failed with. A first right import is progress although the test
/// fails at the next missing name.
#[must_use]
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
        return without_tests(before, after, changes);
    }
    let (old, new) = (by_test(before), by_test(after));
    let come: Vec<&&str> = new.keys().filter(|test| !old.contains_key(*test)).collect();
    let mut moved = Moved::default();
    let mut loaded: Vec<&str> = Vec::new();
    for (test, then) in &old {
        if let Some(now) = new.get(test) {
            moved.count(step(then, now, changes));
            continue;
        }
        let mut errors: Vec<&TestError> = Vec::new();
        if stops(then) {
            loaded.push(test);
            let held = come.iter().filter(|it| holds(test, it));
            errors.extend(held.filter_map(|it| new.get(**it)));
        }
        match errors.as_slice() {
            [] => moved.gone = true,
            all if all.iter().all(|it| lacks_another(then, it, changes)) => moved.on = true,
            _ => moved.further = true,
        }
    }
    // Tests of a file that could not be loaded fail by name only once it loads.
    let hidden = |test: &str| loaded.iter().any(|file| holds(file, test));
    if !come.iter().all(|test| hidden(test)) {
        let lost_none = old.keys().all(|test| new.contains_key(test));
        return if lost_none || after.kind.is_before_tests() {
            Effect::Regressed
        } else {
            Effect::Changed
        };
    }
    match moved {
        Moved {
            back: true,
            gone: false,
            ..
        } => Effect::Regressed,
        Moved { back: true, .. } => Effect::Changed,
        Moved { gone: true, .. } => Effect::Better,
        Moved { further: true, .. } => Effect::Further,
        Moved { on: true, .. } => Effect::Better,
        Moved { .. } => Effect::Changed,
    }
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is seen in some test")]
struct Moved {
    on: bool,
    further: bool,
    back: bool,
    gone: bool,
}

impl Moved {
    fn count(&mut self, step: Headway) {
        self.on |= step == Headway::On;
        self.further |= step == Headway::Further;
        self.back |= step == Headway::Back;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Headway {
    On,
    Further,
    Back,
    Aside,
}

fn without_tests(before: &Observed, after: &Observed, changes: &[Change]) -> Effect {
    // What stops the code from loading hides everything that worked before.
    if after.kind.is_before_tests() && !before.kind.is_before_tests() {
        return Effect::Regressed;
    }
    if before.kind.is_before_tests() && !after.kind.is_before_tests() && after.kind != Kind::Unknown
    {
        return Effect::Better;
    }
    // Where nothing could be loaded, tests run now.
    let runs = |it: &String| it.contains("::") || it.contains(' ');
    if before.kind.is_before_tests()
        && before.failing_tests.is_empty()
        && after.failing_tests.iter().any(runs)
    {
        return Effect::Better;
    }
    let lines = |observed: &Observed| -> BTreeSet<String> {
        observed.errors.iter().map(|it| plain(&it.error)).collect()
    };
    let (old_lines, new_lines) = (lines(before), lines(after));
    // Of several programs that look at code, one has no more to say.
    let fewer = !new_lines.is_empty() && new_lines.is_subset(&old_lines) && new_lines != old_lines;
    if before.kind != after.kind {
        let of_one_sort = before.failing_tests.is_empty() && fewer;
        return if of_one_sort {
            Effect::Better
        } else {
            Effect::Changed
        };
    }
    let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    let (old, new) = (set(&before.undefined_names), set(&after.undefined_names));
    if !new.is_empty() && new.is_subset(&old) && new != old {
        return Effect::Better;
    }
    if fewer {
        return Effect::Better;
    }
    let words = |observed: &Observed| -> BTreeSet<String> {
        let lost = observed.errors.iter().filter_map(|it| missing(&it.error));
        lost.chain(observed.undefined_names.iter().cloned())
            .collect()
    };
    let (old, new) = (words(before), words(after));
    let moved_on = !old.is_empty()
        && !new.is_empty()
        && old.is_disjoint(&new)
        && !new.iter().any(|word| brought(word, changes));
    if moved_on {
        Effect::Better
    } else {
        Effect::Changed
    }
}

fn by_test(observed: &Observed) -> BTreeMap<&str, TestError> {
    let mut found: BTreeMap<&str, TestError> = observed
        .failing_tests
        .iter()
        .map(|test| (test.as_str(), TestError::default()))
        .collect();
    for error in &observed.errors {
        if let Some(row) = found.get_mut(error.test.as_str()) {
            row.clone_from(error);
        }
    }
    found
}

// How far one test came: it loads, it knows its names, it gets to a later line of its own.
fn step(then: &TestError, now: &TestError, changes: &[Change]) -> Headway {
    if then.error.is_empty() || now.error.is_empty() {
        return Headway::Aside;
    }
    let place = |it: &TestError| Some((it.path.clone()?, it.line?));
    let own_line = match (place(then), place(now)) {
        (Some((old, from)), Some((new, to))) if old == new && !touches(changes, &new) => {
            Some(to.cmp(&from))
        }
        _ => None,
    };
    let (old, new) = (stage(&then.error), stage(&now.error));
    if new != old {
        return match new.cmp(&old) {
            // Of a test that did not load nothing worked: what stands behind it was never reached.
            Ordering::Less if old != Stage::Runs => match own_line {
                Some(Ordering::Greater) => Headway::On,
                _ => Headway::Aside,
            },
            Ordering::Less => Headway::Back,
            _ if new == Stage::Runs => Headway::Further,
            _ => Headway::On,
        };
    }
    if missing(&then.error).is_some() && missing(&now.error).is_some() {
        return if lacks_another(then, now, changes) {
            Headway::On
        } else {
            Headway::Aside
        };
    }
    match own_line {
        Some(Ordering::Greater) => Headway::Further,
        Some(Ordering::Less) => Headway::Back,
        _ => Headway::Aside,
    }
}

// Whether one missing name gave way to the next, which the changes did not bring.
fn lacks_another(then: &TestError, now: &TestError, changes: &[Change]) -> bool {
    match (missing(&then.error), missing(&now.error)) {
        (Some(old), Some(new)) => old != new && !brought(&new, changes),
        _ => false,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Parses,
    FindsNames,
    Runs,
}

fn stage(error: &str) -> Stage {
    const UNREADABLE: [&str; 5] = [
        "SyntaxError",
        "IndentationError",
        "TabError",
        "Transform failed",
        "Parse failure",
    ];
    if missing(error).is_some() {
        Stage::FindsNames
    } else if UNREADABLE.iter().any(|word| error.contains(word)) {
        Stage::Parses
    } else if error.contains("ImportError") || error.contains("ModuleNotFoundError") {
        Stage::FindsNames
    } else {
        Stage::Runs
    }
}

fn stops(error: &TestError) -> bool {
    error.error.is_empty() || stage(&error.error) < Stage::Runs
}

// Whether a test stands in what a runner names as a whole: a file, a module or a suite.
fn holds(file: &str, test: &str) -> bool {
    test.match_indices(file).any(|(at, _)| {
        let starts = test[..at].chars().next_back();
        let ends = test[at + file.len()..].chars().next();
        starts.is_none_or(|it| "./ (".contains(it)) && ends.is_some_and(|it| ":.> [".contains(it))
    })
}

// Whether a word is new with the changes: then its being missing is their doing.
fn brought(word: &str, changes: &[Change]) -> bool {
    let has = |bytes: &[u8]| memchr::memmem::find(bytes, word.as_bytes()).is_some();
    changes.iter().any(|change| {
        let side = |state: &Option<crate::patch::FileState>| {
            state.as_ref().is_some_and(|state| has(&state.bytes))
        };
        side(&change.after) && !side(&change.before)
    })
}

fn touches(changes: &[Change], path: &str) -> bool {
    changes.iter().any(|change| change.path.as_str() == path)
}

/// A line of output without what differs from run to run: numbers, addresses, temporary paths.
pub(super) fn plain(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        if word.contains("0x") || word.contains("/tmp/") {
            String::new()
        } else {
            word.chars().filter(|it| !it.is_ascii_digit()).collect()
        }
    });
    words.collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
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
}
