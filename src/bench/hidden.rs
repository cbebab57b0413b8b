use std::path::Path;

use super::materialise::lay_hidden;
use super::stage::{Stage, last};
use super::{Fixture, FixtureError, HIDDEN_PASSED};
use crate::exec::Stop;

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
/// [`FixtureError`] when something could not be run or written.
pub(super) fn hidden_tests(
    fixture: &Fixture,
    patch: Option<&[u8]>,
    home: &Path,
    stop: &Stop,
) -> Result<Hidden, FixtureError> {
    let Some(line) = &fixture.hidden_test else {
        return Ok(Hidden::Passed);
    };
    std::fs::create_dir_all(home).map_err(|error| FixtureError::write(home, &error))?;
    let home = tempfile::tempdir_in(home).map_err(|error| FixtureError::write(home, &error))?;
    let stage = Stage::lay_out(fixture, home.path(), "hidden")?;
    if let Some(patch) = patch {
        let judged = stage.judge(patch, false)?;
        if judged.changes.is_empty() {
            let said = format!("its patch does not apply: {}", judged.verdict.feedback);
            return Ok(Hidden::Failed(said));
        }
        stage.write(&judged.changes)?;
    }
    lay_hidden(fixture, &stage.root)?;
    let outcome = stage.test(line, stop)?;
    let text = outcome.output.text();
    let told = text.lines().any(|line| line.trim() == HIDDEN_PASSED);
    Ok(match (outcome.passed(), told) {
        (true, true) => Hidden::Passed,
        (true, false) => Hidden::Failed(format!("it never said `{HIDDEN_PASSED}`")),
        (false, _) => Hidden::Failed(last(&outcome)),
    })
}
