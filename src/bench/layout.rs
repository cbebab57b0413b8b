use std::any::Any;
use std::path::{Path, PathBuf};

use super::materialise::temporary;
use super::stage::{Hidden, hidden_tests};
use super::{BenchError, Fixture, materialise};
use crate::exec::Stop;

/// A broken repository with all that is known of its repair, and where its files come from.
pub struct Case<'a> {
    /// What is known.
    pub fixture: Fixture,
    /// Where its files come from.
    pub(super) layout: Box<dyn Layout + 'a>,
}

impl Case<'_> {
    /// A case whose files stand in the fixture's folder.
    #[must_use]
    pub fn of_folder(fixture: Fixture) -> Self {
        Self {
            fixture,
            layout: Box::new(Folder),
        }
    }
}

/// Where the files of a case come from, and how its hidden tests are run.
pub(super) trait Layout: Sync + Send {
    /// Lays the broken repository out below `home`, or where it has to stand.
    ///
    /// # Errors
    /// [`BenchError`] when it cannot.
    fn lay_out(&self, fixture: &Fixture, home: &Path, stop: &Stop) -> Result<LaidOut, BenchError>;

    /// Runs the hidden tests on the laid out files with `patch`; `None` when there are none.
    ///
    /// # Errors
    /// [`BenchError`] when something could not be run or written.
    fn hidden(
        &self,
        fixture: &Fixture,
        laid: &LaidOut,
        patch: Option<&[u8]>,
        home: &Path,
        stop: &Stop,
    ) -> Result<Option<Hidden>, BenchError>;
}

/// A broken repository as it stands on disk, with one commit.
pub(super) struct LaidOut {
    /// Its root.
    pub(super) root: PathBuf,
    /// The line for a shell that fails in it.
    pub(super) test: String,
    /// Variables that the line needs, `NAME=VALUE`.
    pub(super) variables: Vec<String>,
    /// What must not be used by anybody else while it stands.
    pub(super) held: Option<Box<dyn Any + Send>>,
}

// A copy of the folder `repo` of a fixture.
struct Folder;

impl Layout for Folder {
    fn lay_out(&self, fixture: &Fixture, home: &Path, _: &Stop) -> Result<LaidOut, BenchError> {
        Ok(LaidOut {
            root: materialise(fixture, home)?,
            test: fixture.test.clone(),
            variables: vec![temporary(home)?],
            held: None,
        })
    }

    fn hidden(
        &self,
        fixture: &Fixture,
        _: &LaidOut,
        patch: Option<&[u8]>,
        home: &Path,
        stop: &Stop,
    ) -> Result<Option<Hidden>, BenchError> {
        if fixture.hidden_test.is_none() {
            return Ok(None);
        }
        hidden_tests(fixture, patch, home, stop).map(Some)
    }
}
