use std::collections::HashMap;

use super::attempt::{Attempt, Trial, paths_of, unfinished};
use super::error::RepairError;
use super::run::Session;
use crate::languages::words;
use crate::model::RepoPath;
use crate::patch::{Change, FileState, canonical};
use crate::policy::is_test;
use crate::proof::compare;
use crate::source::Source;

impl Session<'_> {
    /// Drops what looks needless of a change that passes: new files that nobody names, and lines taken from tests. Where
    /// the commands pass in the same way without it, the rest is the change.
    pub(super) fn minimize(
        &mut self,
        attempt: &mut Attempt<'_>,
        trial: &mut Trial,
    ) -> Result<(), RepairError> {
        let less = self.without_needless(&trial.changes)?;
        if less.is_empty() || less.len() == trial.changes.len() {
            return Ok(());
        }
        self.lay(&less, &[])?;
        let why = "without what of the change looks needless";
        let again = self.stage.run(None, why)?;
        let failing = self.seen.failing_before(attempt.before.as_ref());
        let passes = unfinished(&again).is_none()
            && again.observed.passed
            && compare(&self.seen.evidence, &again.evidence, &failing).proven;
        if !passes {
            return Ok(());
        }
        self.write_patch(attempt, &canonical(&less))?;
        attempt.result.files_modified = paths_of(&less);
        (trial.changes, trial.ran) = (less, again);
        Ok(())
    }

    fn without_needless(&self, changes: &[Change]) -> Result<Vec<Change>, RepairError> {
        let source = self.stage.place.source()?;
        let is_needless = |change: &Change| {
            let path = &change.path;
            if is_test(path.as_str()) {
                return takes_lines(change) && !self.is_allowed(path);
            }
            let is_new = change.before.is_none() && change.standing.is_none();
            is_new && !is_named(source.as_ref(), path) && !self.has_unnamed_neighbors(path)
        };
        let kept = changes.iter().filter(|change| !is_needless(change));
        Ok(kept.cloned().collect())
    }

    // Files that a program finds by their folder, as migrations and routes are, need no name.
    fn has_unnamed_neighbors(&self, path: &RepoPath) -> bool {
        let source = self.asked.source;
        let mut beside = source.listing().files().filter(|file| {
            file.path.directory() == path.directory() && file.path.extension() == path.extension()
        });
        !path.directory().is_empty()
            && beside.any(|file| !is_test(file.path.as_str()) && !is_named(source, &file.path))
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

fn takes_lines(change: &Change) -> bool {
    let count = |side: &Option<FileState>| {
        let bytes = side.as_ref().map(|state| state.bytes.to_vec());
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let mut lines: HashMap<String, usize> = HashMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            *lines.entry(line.to_owned()).or_default() += 1;
        }
        lines
    };
    let (before, after) = (count(&change.before), count(&change.after));
    let mut before = before.iter();
    before.any(|(line, count)| after.get(line).is_none_or(|now| now < count))
}

#[cfg(test)]
mod tests {
    use super::takes_lines;
    use crate::model::RepoPath;
    use crate::patch::{Change, FileState};

    #[test]
    fn sees_lines_taken_from_test() {
        let change = |before: &str, after: &str| {
            let state = |text: &str| Some(FileState::new(text.as_bytes().to_vec(), 0o100_644));
            let path = RepoPath::new("src/a.py").unwrap();
            Change::between(path, state(before), state(after))
        };
        let before = "def f():\n    return 1\n";
        assert!(takes_lines(&change(before, "def f():\n    return 2\n")));
        assert!(!takes_lines(&change("a\n", "a\nb\n")));
    }
}
