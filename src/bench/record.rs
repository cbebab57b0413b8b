use std::fs;
use std::path::{Path, PathBuf};

use super::Fixture;
use crate::model::{AttemptRecord, Origin};
use crate::repair::read_run;

/// What a run wrote into its folder, as far as the bench looks at it.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The attempts, in order.
    pub(super) attempts: Vec<AttemptRecord>,
    /// Files that hold something forbidden, and what.
    pub(super) leaks: Vec<String>,
}

impl Record {
    /// Reads a run's folder. What is missing there is not in the record.
    pub(super) fn read(fixture: &Fixture, folder: &Path) -> Self {
        let attempts = read_run(folder).map_or_else(Vec::new, |run| run.attempts);
        let mut leaks = Vec::new();
        let texts = fixture.forbidden_texts();
        for path in list_files(folder) {
            let bytes = fs::read(&path).unwrap_or_default();
            let holds = |text: &String| memchr::memmem::find(&bytes, text.as_bytes()).is_some();
            if texts.iter().any(holds) {
                // The text itself is not repeated, because this goes into logs and documents.
                let name = path.strip_prefix(folder).unwrap_or(&path);
                leaks.push(format!("{}: a forbidden text", name.display()));
            }
        }
        for attempt in &attempts {
            for path in &fixture.forbid.paths {
                if attempt.files.iter().any(|(file, _)| file == path.as_str()) {
                    leaks.push(format!("{}: the file `{path}`", attempt.folder));
                }
            }
        }
        Self { attempts, leaks }
    }

    /// Returns the patches of changes without a model that were kept.
    pub(super) fn heals(&self) -> impl Iterator<Item = &str> {
        let attempts = self.attempts.iter();
        let heals = attempts.filter(|one| one.result.origin == Origin::Heal && one.result.kept);
        heals.map(|one| one.patch.as_str())
    }
}

// Sorted; links are not followed.
fn list_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
