//! A fixture or real fix as a case, and the case as a repository on disk.

use super::real::{Checkout, Commits};
use super::stage::{Hidden, hidden_tests, temporary_name};
use super::{BenchError, Fixture, materialise};
use crate::exec::Stop;
use std::path::{Path, PathBuf};

/// A broken repository with all that is known of its repair, and where its files come from.
pub struct BenchCase<'a> {
    /// What is known.
    pub fixture: Fixture,
    /// The commits that hold its files; without, the folder of the fixture holds them.
    pub(super) commits: Option<Commits<'a>>,
}

/// A broken repository as it is on disk, with one commit.
pub(super) struct LaidOut {
    /// Its root.
    pub(super) root: PathBuf,
    /// The line for a shell that fails in it.
    pub(super) test: String,
    /// Variables that the line needs, `NAME=VALUE`.
    pub(super) variables: Vec<String>,
    /// The checkout that nobody else may use while it exists.
    pub(super) checkout: Option<Checkout>,
}

impl BenchCase<'_> {
    /// A case whose files are in the fixture's folder.
    pub fn from_folder(fixture: Fixture) -> Self {
        Self {
            fixture,
            commits: None,
        }
    }

    /// Lays the broken repository out below `home`, or where it has to be there.
    ///
    /// # Errors
    /// [`BenchError`] when it cannot.
    pub(super) fn lay_out(&self, home: &Path, stop: &Stop) -> Result<LaidOut, BenchError> {
        if let Some(commits) = &self.commits {
            return commits.lay_out(stop);
        }
        Ok(LaidOut {
            root: materialise(&self.fixture, home)?,
            test: self.fixture.test.clone(),
            variables: vec![temporary_name(home)?],
            checkout: None,
        })
    }

    /// Runs the hidden tests on the laid out files with `patch`; `None` when there are none.
    ///
    /// # Errors
    /// [`BenchError`] when something could not be run or written.
    pub(super) fn run_hidden_tests(
        &self,
        laid: &LaidOut,
        patch: Option<&[u8]>,
        home: &Path,
        stop: &Stop,
    ) -> Result<Option<Hidden>, BenchError> {
        match (&self.commits, &laid.checkout) {
            (Some(commits), Some(checkout)) => commits.judge(checkout, patch, stop).map(Some),
            _ if self.fixture.hidden_test.is_none() => Ok(None),
            _ => hidden_tests(&self.fixture, patch, home, stop).map(Some),
        }
    }
}
