//! Names and folders of kept runs. Names sort by age.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::StateError;
use crate::model::AtPath as _;

/// The name of a run: UTC time to the millisecond and process, so that names sort by age and no
/// two are alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    /// A name for a run that starts now.
    pub fn now() -> Self {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let id = Self::at(jiff::Timestamp::now());
            if last.as_ref() != Some(&id) {
                return last.insert(id).clone();
            }
            // Another run of this process has it.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn at(time: jiff::Timestamp) -> Self {
        let time = time.strftime("%Y%m%dT%H%M%S.%3f");
        Self(format!("{time}-{}", std::process::id()))
    }
}

static LAST: Mutex<Option<RunId>> = Mutex::new(None);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The runs of one worktree, each a folder.
#[derive(Debug, Clone)]
pub struct Runs {
    directory: PathBuf,
}

impl Runs {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Makes the folder of a run that starts now.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(&self, id: &RunId) -> Result<PathBuf, StateError> {
        let folder = self.directory.join(&id.0);
        fs::create_dir_all(&folder).at(&folder)?;
        Ok(folder)
    }

    /// The folder of a run by its name, or of the newest for `latest`.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let mut names = self.names();
        let found = match name {
            "latest" => names.pop(),
            name => names.into_iter().find(|known| known == name),
        };
        found.map(|name| self.directory.join(name))
    }

    /// The names of all runs, oldest first.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten();
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_age() {
        let time = |text: &str| RunId::at(text.parse().unwrap());
        let early = time("2000-02-29T01:01:01.042Z");
        assert!(early.0.starts_with("20000229T010101.042-"), "{early}");
        assert!(early < time("2026-11-21T23:00:00Z"));
    }

    #[test]
    fn latest_run_is_newest() {
        let home = tempfile::tempdir().unwrap();
        let runs = Runs::new(home.path().join("runs"));
        assert!(runs.find("latest").is_none());
        let folder = runs.start(&RunId("20260101T000000.000-1".to_owned())).unwrap();
        fs::create_dir(folder.join("attempts")).unwrap();
        runs.start(&RunId("20250101T000000.000-1".to_owned())).unwrap();
        assert_eq!(runs.find("latest"), Some(folder));
        assert_eq!(
            runs.find("20250101T000000.000-1"),
            Some(home.path().join("runs/20250101T000000.000-1"))
        );
        assert!(runs.find("..").is_none());
    }
}
