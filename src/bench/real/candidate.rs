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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// No environment holds its day.
    NoEnvironment,
    /// It changes more files or lines than are asked for.
    TooLarge,
    /// No file of tests that it changes can be run.
    NoTestFile,
    /// A file of it is not in this clone, or no text.
    Unreadable,
    /// Its tests pass without it.
    PassesBefore,
    /// Its tests fail with it.
    FailsAfter,
    /// Two runs did not end alike.
    Unsteady,
    /// The tests took too long.
    TimedOut,
}

impl Reason {
    /// Its word in documents.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::NoEnvironment => "no environment for its day",
            Self::TooLarge => "too large",
            Self::NoTestFile => "no test file that can be run",
            Self::Unreadable => "not all in this clone, or no text",
            Self::PassesBefore => "tests pass before",
            Self::FailsAfter => "tests fail after",
            Self::Unsteady => "not twice the same",
            Self::TimedOut => "out of time",
        }
    }
}

/// Looks at a step without running anything; `None` when it changes no tests or no product.
pub(super) fn candidate(
    step: &Step,
    file: &BenchFile,
    max_files: usize,
) -> Option<Result<Candidate, Reason>> {
    let Some(range) = file.range(step.time) else {
        return Some(Err(Reason::NoEnvironment));
    };
    let taken = paths(step, |path| range.is_test(path));
    let product = paths(step, |path| range.is_product(path));
    if taken.is_empty() || product.is_empty() {
        return None;
    }
    if product.len() > max_files || taken.len() > MAX_TAKEN {
        return Some(Err(Reason::TooLarge));
    }
    let after = step.files.iter().filter(|it| it.after);
    let tests: Vec<RepoPath> = after
        .filter(|it| range.takes(it.path.as_str()))
        .map(|it| it.path.clone())
        .collect();
    if tests.is_empty() {
        return Some(Err(Reason::NoTestFile));
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

// A change of this many files of tests is a rewrite of tests.
const MAX_TAKEN: usize = 40;

fn paths(step: &Step, wanted: impl Fn(&str) -> bool) -> Vec<RepoPath> {
    let paths = step.files.iter().map(|it| &it.path);
    paths
        .filter(|path| wanted(path.as_str()))
        .cloned()
        .collect()
}
