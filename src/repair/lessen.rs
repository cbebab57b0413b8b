use std::collections::HashMap;

use serde_json::json;

use super::commands::CommandsRun;
use super::error::RepairError;
use super::run::is_named;
use super::session::Session;
use super::trial::{Trial, digest};
use crate::model::{AttemptResult, RepoPath};
use crate::patch::{Change, FileState, canonical};
use crate::policy::is_test;
use crate::proof::compare;

impl Session<'_> {
    /// Drops of a change that passes what looks needless, together with what earlier attempts left, and runs
    /// the commands once: where they pass in the same way, the rest is the change. What is laid in
    /// afterwards is what is given back.
    pub(super) fn lessen(
        &mut self,
        result: &mut AttemptResult,
        trial: &Trial<'_>,
        (changes, ran): (Vec<Change>, CommandsRun),
        folder: &str,
    ) -> Result<(Vec<Change>, CommandsRun), RepairError> {
        if !ran.observed.passed {
            return Ok((changes, ran));
        }
        let less = self.less(&changes)?;
        let same = |it: &(&Change, &Change)| it.0.path == it.1.path && it.0.after == it.1.after;
        if less.is_empty()
            || less.len() == changes.len() && less.iter().zip(&changes).all(|it| same(&it))
        {
            return Ok((changes, ran));
        }
        self.place.reset()?;
        self.place.write(&less)?;
        let message = json!({ "what": "without-the-needless" });
        self.event("info", "command_started", message)?;
        self.purpose = Some("without what of the change looks needless".to_owned());
        let again = self.run_commands()?;
        let failing = self.failing_before(trial.before);
        let stays = !again.interrupted
            && !again.cut_short
            && again.observed.passed
            && compare(&self.evidence, &again.evidence, &failing).proven;
        if !stays {
            self.place.reset()?;
            self.place.write(&changes)?;
            return Ok((changes, ran));
        }
        let patch = canonical(&less);
        self.journal
            .masked(&format!("{folder}/patch.diff"), &patch)?;
        result.patch_digest = Some(digest(&patch));
        result.files_modified = less.iter().map(|it| it.path.to_string()).collect();
        Ok((less, again))
    }

    // The change without: files that are new and that nobody names, what it rewrites in tests, and all that earlier
    // attempts changed beside it.
    fn less(&self, changes: &[Change]) -> Result<Vec<Change>, RepairError> {
        let source = self.place.source()?;
        let is_free = |path: &RepoPath| self.setup.allowed.has(path.as_str());
        let mut less = Vec::new();
        for change in changes {
            let path = &change.path;
            let is_new = change.before.is_none() && change.standing.is_none();
            let unnamed = is_new
                && !is_test(path.as_str())
                && !is_named(source.as_ref(), path)
                && !self.has_unnamed_neighbours(path);
            let rewrites = is_test(path.as_str()) && takes_lines(change) && !is_free(path);
            if unnamed || rewrites {
                continue;
            }
            less.push(change.clone());
        }
        // Something of it must stay.
        if less.is_empty() {
            return Ok(less);
        }
        for (path, before) in &self.base {
            let stays = is_free(path) || self.settled(path) && !is_test(path.as_str());
            let is_earlier = changes.iter().all(|it| it.path != *path) && !stays;
            let now = FileState::of(&source, path).filter(|_| is_earlier);
            if is_earlier && now != *before {
                less.push(Change::between(path.clone(), now, before.clone()));
            }
        }
        Ok(less)
    }

    // Whether files stand beside it that nobody names either: what a folder is read for, as migrations, routes
    // and commands are, is needed without a name.
    fn has_unnamed_neighbours(&self, path: &RepoPath) -> bool {
        let source = self.setup.source;
        let files = source.listing().files();
        let beside = files.filter(|it| it.path.directory() == path.directory());
        let mut beside = beside.filter(|it| it.path.extension() == path.extension());
        !path.directory().is_empty()
            && beside.any(|it| !is_test(it.path.as_str()) && !is_named(source, &it.path))
    }

    // What an earlier attempt changed that was sure of it.
    fn settled(&self, path: &RepoPath) -> bool {
        let kept = self.all.iter().filter(|it| it.kept && it.certain);
        kept.into_iter()
            .any(|it| it.files_modified.iter().any(|one| one == path.as_str()))
    }
}

fn lines(side: Option<&FileState>) -> Vec<String> {
    let bytes = side.map(|it| it.bytes.to_vec());
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn counted(lines: &[String]) -> HashMap<&str, usize> {
    let mut found = HashMap::new();
    for line in lines {
        *found.entry(line.trim()).or_default() += 1;
    }
    found
}

fn takes_lines(change: &Change) -> bool {
    let (before, after) = (lines(change.before.as_ref()), lines(change.after.as_ref()));
    let after = counted(&after);
    let mut before = counted(&before).into_iter();
    before.any(|(line, count)| !line.is_empty() && after.get(line).is_none_or(|it| *it < count))
}

#[cfg(test)]
mod tests {
    use super::takes_lines;
    use crate::model::RepoPath;
    use crate::patch::{Change, FileState};

    fn change(before: &str, after: &str) -> Change {
        let state = |text: &str| Some(FileState::new(text.as_bytes().to_vec(), 0o100_644));
        Change::between(
            RepoPath::new("src/a.py").unwrap(),
            state(before),
            state(after),
        )
    }

    #[test]
    fn what_takes_lines_of_a_test_rewrites_it() {
        let before = "def f():\n    return 1\n";
        assert!(takes_lines(&change(before, "def f():\n    return 2\n")));
        assert!(!takes_lines(&change("a\n", "a\nb\n")));
    }
}
