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
#[path = "progress_table.rs"]
mod progress_table;
