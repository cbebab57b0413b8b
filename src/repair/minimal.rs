//! Drops the parts of a patch that the tests do not need.

use super::attempt::{Attempt, Trial, paths_of};
use super::commands::CommandsRun;
use super::error::RepairError;
use super::run::Session;
use crate::languages::words;
use crate::model::RepoPath;
use crate::patch::{Change, canonical};
use crate::policy::is_test;
use crate::source::Source;

impl Session<'_> {
    /// Drops new files that no other file names from a change that passes, if the commands pass in the same way
    /// without them.
    pub(super) fn minimize_patch(
        &mut self,
        attempt: &mut Attempt<'_>,
        trial: &mut Trial,
    ) -> Result<(), RepairError> {
        let source = self.stage.place.source()?;
        // Files that a program finds by their folder, as migrations and routes are, need no name.
        let is_beside_unnamed = |path: &RepoPath| {
            let (folder, source) = (path.directory(), self.asked.source);
            let mut files = source.listing().files().map(|file| &file.path);
            !folder.is_empty()
                && files.any(|file| {
                    ({ file.directory() == folder && file.extension() == path.extension() })
                        && !is_named(source, file)
                })
        };
        let mut less = trial.changes.clone();
        less.retain(|change| {
            let path = &change.path;
            let is_new = change.before.is_none() && change.standing.is_none();
            let is_unnamed = is_new && !is_named(source.as_ref(), path);
            !is_unnamed || is_test(path.as_str()) || is_beside_unnamed(path)
        });
        if less.is_empty() || less.len() == trial.changes.len() {
            return Ok(());
        }
        self.lay(&less, &[])?;
        let why = "without the parts of the change that look unnecessary";
        let ran = self.stage.run(None, why)?;
        if self.passes_again(attempt, &ran) {
            self.narrow_changes(attempt, trial, less, ran)?;
        }
        Ok(())
    }

    /// Whether a run passes with the same proof as the runs before it ask for.
    pub(super) fn passes_again(&self, attempt: &Attempt<'_>, ran: &CommandsRun) -> bool {
        let failing = self.seen.failing_before(attempt.before.as_ref());
        ran.observed.passed && self.compare(ran, &failing).proven
    }

    /// Replaces a change by the part of it with which the commands ran.
    pub(super) fn narrow_changes(
        &mut self,
        attempt: &mut Attempt<'_>,
        trial: &mut Trial,
        less: Vec<Change>,
        ran: CommandsRun,
    ) -> Result<(), RepairError> {
        self.write_patch(attempt, &canonical(&less))?;
        attempt.result.files_modified = paths_of(&less);
        (trial.changes, trial.ran) = (less, ran);
        Ok(())
    }
}

/// Whether any other file names this one, as an import of it would; a module of a package is loaded with it.
pub(super) fn is_named(source: &dyn Source, path: &RepoPath) -> bool {
    let name = match path.stem() {
        "__init__" | "index" | "mod" => path.directory().rsplit('/').next().unwrap_or_default(),
        stem => stem,
    };
    if name.is_empty() || name == "conftest" {
        return true;
    }
    let mut others = source.listing().files().filter(|file| file.path != *path);
    others.any(|file| {
        let text = source.read(&file.path).unwrap_or_default();
        words(&text, name).next().is_some()
    })
}
