use super::environment::BenchFile;
use crate::git::Step;
use crate::model::RepoPath;

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

pub(super) const NO_ENVIRONMENT: Reason = "no environment for its day";
pub(super) const TOO_LARGE: Reason = "too large";
const NO_TEST_FILE: Reason = "no test file that can be run";
pub(super) const UNREADABLE: Reason = "not all in this clone, or no text";
pub(super) const PASSES_BEFORE: Reason = "tests pass before";
pub(super) const FAILS_AFTER: Reason = "tests fail after";
pub(super) const UNSTEADY: Reason = "not twice the same";
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
    if product.len() > MAX_FILES || taken.len() > MAX_TAKEN {
        return Some(Err(TOO_LARGE));
    }
    let after = step.files.iter().filter(|file| file.after);
    let after = after.map(|file| file.path.clone());
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

// Product files that a fix may change. More files of tests are a rewrite of tests.
const MAX_FILES: usize = 5;
const MAX_TAKEN: usize = 40;

fn list_paths(step: &Step, wanted: impl Fn(&str) -> bool) -> Vec<RepoPath> {
    let paths = step.files.iter().map(|file| file.path.clone());
    paths.filter(|path| wanted(path.as_str())).collect()
}
