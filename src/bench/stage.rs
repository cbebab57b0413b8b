use std::path::{Path, PathBuf};

use super::materialise::{lay_hidden, temporary};
use super::{BenchError, Fixture, HIDDEN_PASSED, materialise};
use crate::exec::{CommandLine, Discard, Environment, Job, Limits, Outcome, Stop, run};
use crate::patch::{Change, JudgeOptions, Judged, judge, write_worktree};
use crate::policy::Allowed;
use crate::source::{Untracked, Worktree};

/// One layout of a fixture's repository, in a folder of its own.
struct Stage {
    root: PathBuf,
    state: PathBuf,
    temporary: String,
    limits: Limits,
}

impl Stage {
    fn lay_out(fixture: &Fixture, home: &Path, name: &str) -> Result<Self, BenchError> {
        let folder = home.join(name);
        let state = folder.join("state");
        let root = materialise(fixture, &folder)?;
        std::fs::create_dir_all(&state).map_err(|error| BenchError::disk(&state, &error))?;
        Ok(Self {
            root,
            state,
            temporary: temporary(&folder)?,
            limits: Limits::within(fixture.timeout()),
        })
    }

    fn source(&self) -> Result<Worktree, BenchError> {
        Worktree::open(&self.root, Box::new(Untracked), 1).map_err(BenchError::Source)
    }

    fn test(&self, line: &str, stop: &Stop) -> Result<Outcome, BenchError> {
        let job = Job {
            limits: self.limits,
            environment: Environment::with(vec![self.temporary.clone()]),
            ..Job::new(CommandLine::Shell(line.to_owned()), &self.root)
        };
        Ok(run(&job, stop, &mut Discard)?)
    }

    // The author of a fixture may change what a reply may not, such as a test that is wrong.
    fn judge(&self, patch: &[u8]) -> Result<Judged, BenchError> {
        let options = JudgeOptions {
            allowed: Allowed::new(&["**".to_owned()]).unwrap_or_default(),
            ..JudgeOptions::default()
        };
        Ok(judge(patch, &self.source()?, &options))
    }

    fn write(&self, changes: &[Change]) -> Result<(), BenchError> {
        Ok(write_worktree(&self.root, &self.state, changes)?)
    }
}

/// What the hidden tests of a fixture came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hidden {
    /// All of them ran and passed.
    Passed,
    /// They did not, and how it ended.
    Failed(String),
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
    std::fs::create_dir_all(home).map_err(|error| BenchError::disk(home, &error))?;
    let home = tempfile::tempdir_in(home).map_err(|error| BenchError::disk(home, &error))?;
    let stage = Stage::lay_out(fixture, home.path(), "hidden")?;
    if let Some(patch) = patch {
        let judged = stage.judge(patch)?;
        if judged.changes.is_empty() {
            let message = format!("its patch does not apply: {}", judged.verdict.feedback);
            return Ok(Hidden::Failed(message));
        }
        stage.write(&judged.changes)?;
    }
    lay_hidden(fixture, &stage.root)?;
    let outcome = stage.test(line, stop)?;
    let text = outcome.output.text();
    let reported = text.lines().any(|line| line.trim() == HIDDEN_PASSED);
    Ok(match (outcome.passed(), reported) {
        (true, true) => Hidden::Passed,
        (true, false) => Hidden::Failed(format!("it never said `{HIDDEN_PASSED}`")),
        (false, _) => Hidden::Failed(last(&outcome)),
    })
}

/// How a command ended and the last that it said.
fn last(outcome: &Outcome) -> String {
    let text = outcome.output.text();
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    format!("{}, `{}`", outcome.end, line.unwrap_or("no output").trim())
}
