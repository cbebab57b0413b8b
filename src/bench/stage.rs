//! Runs the hidden tests of a fixture in a fresh copy, so that a patch cannot prepare for them.

use std::path::Path;

use super::materialise::{lay_hidden, temporary_name};
use super::{BenchError, Fixture, HIDDEN_PASSED, materialise};
use crate::exec::{CommandLine, Discard, Environment, Job, Limits, Stop, run};
use crate::model::AtPath as _;
use crate::patch::{Change, JudgeOptions, judge, write_worktree};
use crate::policy::Allowed;
use crate::source::{Source, Untracked, Worktree};

/// What the hidden tests of a fixture came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hidden {
    /// All of them ran and passed.
    Passed,
    /// They did not, and how it ended.
    Failed(String),
}

/// Reads the patch of a run. A reference may change what a reply may not, such as a test that is wrong.
pub(super) fn read_patch(patch: &[u8], source: &dyn Source) -> Result<Vec<Change>, Hidden> {
    let options = JudgeOptions {
        allowed: Allowed::new(&["**".to_owned()]).unwrap_or_default(),
        ..JudgeOptions::default()
    };
    let judged = judge(patch, source, &options);
    if judged.changes.is_empty() {
        let feedback = judged.verdict.feedback;
        return Err(Hidden::Failed(format!(
            "its patch does not apply: {feedback}"
        )));
    }
    Ok(judged.changes)
}

/// Runs the hidden tests in a fresh copy below `home` that has `patch` in it. The copy is gone
/// afterwards, so that nothing else ever sees them. A fixture without hidden tests passes.
///
/// # Errors
/// [`BenchError`] when something could not be run or written.
pub(super) fn hidden_tests(
    fixture: &Fixture,
    patch: Option<&[u8]>,
    home: &Path,
    stop: &Stop,
) -> Result<Hidden, BenchError> {
    let Some(line) = &fixture.hidden_test else {
        return Ok(Hidden::Passed);
    };
    std::fs::create_dir_all(home).at(home)?;
    let home = tempfile::tempdir_in(home).at(home)?;
    let root = materialise(fixture, home.path())?;
    if let Some(patch) = patch {
        let source = Worktree::open(&root, Box::new(Untracked), 1).map_err(BenchError::Source)?;
        match read_patch(patch, &source) {
            Ok(changes) => write_worktree(&root, home.path(), &changes)?,
            Err(failed) => return Ok(failed),
        }
    }
    lay_hidden(fixture, &root)?;
    let job = Job {
        limits: Limits::within(fixture.timeout()),
        environment: Environment::with(vec![temporary_name(home.path())?]),
        ..Job::new(CommandLine::Shell(line.clone()), &root)
    };
    let outcome = run(&job, stop, &mut Discard)?;
    let text = outcome.output.text();
    let reported = text.lines().any(|line| line.trim() == HIDDEN_PASSED);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.unwrap_or("no output").trim();
    Ok(match (outcome.passed(), reported) {
        (true, true) => Hidden::Passed,
        (true, false) => Hidden::Failed(format!("it never printed `{HIDDEN_PASSED}`")),
        (false, _) => Hidden::Failed(format!("{}, `{last}`", outcome.end)),
    })
}
