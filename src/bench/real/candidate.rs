//! Decides whether a commit may be a fix: from its files alone, because most commits drop out here, then by running its
//! tests with and without its change, twice each, to avoid flaky cases.

use super::environment::{BenchFile, Range, test_line};
use super::fix::{Sides, count_lines, is_text, needed_files};
use super::trial::{CheckoutRunner, TestRun};
use crate::bench::BenchError;
use crate::git::Step;
use crate::model::{RealFix, RepoPath};
use crate::source::{Overlay, Source};

/// A step of history that changes tests and product, and so may be a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The commit.
    pub(super) commit: String,
    /// Its first parent.
    pub(super) parent: String,
    /// Seconds since 1970.
    pub(super) time: i64,
    /// The environment's name.
    pub(super) environment: String,
    /// Files of tests that it changes, makes or removes.
    pub(super) taken: Vec<RepoPath>,
    /// Those that can be run.
    pub(super) tests: Vec<RepoPath>,
    /// Program files that it changes, makes or removes.
    pub(super) product: Vec<RepoPath>,
}

/// Why a step that changes tests and product is no candidate, or a candidate no fix.
pub(super) type Reason = &'static str;

pub(super) const NO_ENVIRONMENT: Reason = "no environment covers its date";
pub(super) const TOO_LARGE: Reason = "too large";
const NO_TEST_FILE: Reason = "no test file that can be run";
pub(super) const UNREADABLE: Reason = "not all in this clone, or not text";
pub(super) const PASSES_BEFORE: Reason = "tests pass before";
pub(super) const FAILS_AFTER: Reason = "tests fail after";
pub(super) const UNSTEADY: Reason = "not deterministic";
pub(super) const TIMED_OUT: Reason = "out of time";

/// Looks at a step without running anything; `None` when it changes no tests or no product.
pub(super) fn find_candidate(step: &Step, file: &BenchFile) -> Option<Result<Candidate, Reason>> {
    let Some(range) = file.range(step.time) else {
        return Some(Err(NO_ENVIRONMENT));
    };
    let taken = list_paths(step, |path| range.is_test(path));
    let product = list_paths(step, |path| range.is_product(path));
    if taken.is_empty() || product.is_empty() {
        return None;
    }
    // Product files that a fix may change. More files of tests are a rewrite of tests.
    if product.len() > 5 || taken.len() > 40 {
        return Some(Err(TOO_LARGE));
    }
    let after = step.files.iter().filter(|file| file.exists_after).map(|file| file.path.clone());
    let tests: Vec<RepoPath> = after.filter(|path| range.takes(path.as_str())).collect();
    if tests.is_empty() {
        return Some(Err(NO_TEST_FILE));
    }
    Some(Ok(Candidate {
        commit: step.commit.clone(),
        parent: step.parent.clone(),
        time: step.time,
        environment: range.name().to_owned(),
        taken,
        tests,
        product,
    }))
}

fn list_paths(step: &Step, wanted: impl Fn(&str) -> bool) -> Vec<RepoPath> {
    let paths = step.files.iter().map(|file| file.path.clone());
    paths.filter(|path| wanted(path.as_str())).collect()
}

/// The result for a candidate: a fix that is proven both ways, or why not and what was seen.
pub(super) type Verdict = Result<RealFix, (Reason, String)>;

/// Runs a candidate's tests without and with its change, twice each.
///
/// # Errors
/// [`BenchError`] when the checkout or a command is not available.
pub(super) fn prove_candidate(
    candidate: &Candidate,
    range: &Range,
    sides: &Sides,
    runner: &CheckoutRunner<'_>,
    id: String,
) -> Result<Verdict, BenchError> {
    let changes = sides.changes(&candidate.product)?;
    if !is_text(&changes) {
        return Ok(no_fix(UNREADABLE, "a product file is not text"));
    }
    let lines = count_lines(&changes);
    // Lines of product that a fix may take away and bring.
    if lines > 200 {
        return Ok(no_fix(TOO_LARGE, format!("{lines} lines")));
    }
    let broken = sides.broken(&candidate.taken)?;
    runner.checkout.lay_files(&broken)?;
    let own: Vec<&RepoPath> = candidate.tests.iter().collect();
    let environment = runner.checkout.environment();
    let line = |tests: &[&RepoPath]| test_line(&runner.environment.test, tests, &environment);
    let red = runner.run(&line(&own), &[])?;
    if red.passed {
        return Ok(no_fix(PASSES_BEFORE, red.end));
    }
    if red.timed_out {
        return Ok(no_fix(TIMED_OUT, red.end));
    }
    let green = runner.run(&line(&own), &changes)?;
    if green.timed_out {
        return Ok(no_fix(TIMED_OUT, green.end));
    }
    if !green.passed {
        return Ok(no_fix(FAILS_AFTER, green.end));
    }
    let again = runner.run(&line(&own), &[])?;
    if !same_results(&red, &again) {
        return Ok(no_fix(UNSTEADY, format!("without it: {}", again.end)));
    }
    // The second run with the change takes the neighbours along, which later are the hidden tests.
    let mut hidden = find_neighbors(&broken, range, &candidate.tests);
    let mut whole = runner.run(&line(&join_tests(&own, &hidden)), &changes)?;
    if !whole.passed && !hidden.is_empty() {
        // Neighbours that fail whatever the fix does, as where an environment lacks something.
        let mut sound = Vec::new();
        for path in hidden {
            if runner.run(&line(&[&path]), &changes)?.passed {
                sound.push(path);
            }
        }
        hidden = sound;
        whole = runner.run(&line(&join_tests(&own, &hidden)), &changes)?;
    }
    if !whole.passed {
        return Ok(no_fix(UNSTEADY, format!("with it: {}", whole.end)));
    }
    Ok(Ok(RealFix {
        id,
        commit: candidate.commit.clone(),
        parent: candidate.parent.clone(),
        time: candidate.time,
        environment: candidate.environment.clone(),
        taken: candidate.taken.clone(),
        tests: candidate.tests.clone(),
        hidden,
        hidden_passed: whole.tests_passed,
        needed: needed_files(&changes),
        kind: red.kind,
        failing: red.failing.len() as u64,
    }))
}

/// A candidate that is no fix.
pub(super) fn no_fix(reason: Reason, seen: impl Into<String>) -> Verdict {
    Err((reason, seen.into()))
}

fn join_tests<'a>(own: &[&'a RepoPath], hidden: &'a [RepoPath]) -> Vec<&'a RepoPath> {
    own.iter().copied().chain(hidden).collect()
}

fn same_results(one: &TestRun, other: &TestRun) -> bool {
    (one.passed, &one.failing, one.kind) == (other.passed, &other.failing, other.kind)
}

// Other test files in the folders of a fix's own.
fn find_neighbors(broken: &Overlay<'_>, range: &Range, own: &[RepoPath]) -> Vec<RepoPath> {
    let files = broken.listing().files().map(|file| &file.path);
    let mut found: Vec<RepoPath> = files.cloned().collect();
    found.retain(|path| {
        let mut near = own.iter().map(RepoPath::directory);
        range.takes(path.as_str()) && !own.contains(path) && near.any(|at| at == path.directory())
    });
    found.truncate(6);
    found
}
