//! Reads both sides of a fix from a clone: files, tests and needed lines.

use std::sync::Arc;

use crate::bench::BenchError;
use crate::git::{Repository, TreeSource, changed_lines};
use crate::model::{NeededFile, RepoPath};
use crate::patch::{Change, FileState};
use crate::source::{EntryKind, Overlay, Source};

/// The two commits of a fix, as far as a clone has them.
pub(super) struct Sides {
    /// What is to be fixed.
    pub(super) parent: TreeSource,
    /// The fix.
    pub(super) fixed: TreeSource,
}

impl Sides {
    /// Opens the trees of two commits.
    ///
    /// # Errors
    /// [`BenchError::Lacking`] when one is not in the clone.
    pub(super) fn open(clone: &Repository, parent: &str, commit: &str) -> Result<Self, BenchError> {
        let tree = |id: &str| {
            clone.tree(id).map_err(|error| {
                BenchError::Lacking(format!("the clone lacks the commit {id}: {error}"))
            })
        };
        Ok(Self {
            parent: tree(parent)?,
            fixed: tree(commit)?,
        })
    }

    /// The parent with these files as the fix has them.
    ///
    /// # Errors
    /// [`BenchError::Lacking`] when one is not in the clone.
    pub(super) fn broken(&self, taken: &[RepoPath]) -> Result<Overlay<'_>, BenchError> {
        let mut edits: Vec<(RepoPath, Option<Arc<[u8]>>)> = Vec::new();
        for path in taken {
            let after = match state_of(&self.fixed, path)? {
                Some(state) if state.mode == 0o120_000 => {
                    let message =
                        format!("`{path}` is a link; links among tests are not supported");
                    return Err(BenchError::Lacking(message));
                }
                after => after.map(|state| state.bytes),
            };
            edits.push((path.clone(), after));
        }
        Ok(Overlay::new(&self.parent, edits))
    }

    /// What the fix does to these files.
    ///
    /// # Errors
    /// [`BenchError::Lacking`] when one is not in the clone.
    pub(super) fn changes(&self, product: &[RepoPath]) -> Result<Vec<Change>, BenchError> {
        let mut changes = Vec::new();
        for path in product {
            let (before, after) = (state_of(&self.parent, path)?, state_of(&self.fixed, path)?);
            changes.push(Change::between(path.clone(), before, after));
        }
        Ok(changes)
    }
}

/// A file of a commit; `None` when there is none.
///
/// # Errors
/// [`BenchError::Lacking`] when the commit has it and the clone does not.
pub(super) fn state_of(
    source: &dyn Source,
    path: &RepoPath,
) -> Result<Option<FileState>, BenchError> {
    let Some(entry) = source.listing().get(path.as_str()) else {
        return Ok(None);
    };
    let mode = entry
        .kind
        .mode()
        .ok_or_else(|| BenchError::Lacking(format!("the clone lacks the file `{path}`")))?;
    let bytes = match &entry.kind {
        EntryKind::Symlink { target } => target.as_bytes().into(),
        _ => source.read(path).map_err(BenchError::Source)?,
    };
    Ok(Some(FileState::new(bytes, mode)))
}

/// The files that changes need, with the lines of the old side.
pub(super) fn needed_files(changes: &[Change]) -> Vec<NeededFile> {
    changes
        .iter()
        .map(|change| NeededFile {
            path: change.path.clone(),
            lines: lines_before(change),
        })
        .collect()
}

fn lines_before(change: &Change) -> Vec<[u32; 2]> {
    let (Some(before), Some(after)) = (&change.before, &change.after) else {
        return Vec::new();
    };
    changed_lines(&before.bytes, &after.bytes)
        .into_iter()
        .map(|(gone, _)| {
            let first = if gone.is_empty() { gone.start } else { gone.start + 1 };
            [line_number(first), line_number(gone.end.max(first))]
        })
        .collect()
}

fn line_number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// How many lines changes take away and bring.
pub(super) fn count_lines(changes: &[Change]) -> usize {
    changes
        .iter()
        .flat_map(|change| {
            changed_lines(
                &bytes_of(change.before.as_ref()),
                &bytes_of(change.after.as_ref()),
            )
        })
        .map(|(gone, come)| gone.len() + come.len())
        .sum()
}

fn bytes_of(side: Option<&FileState>) -> Arc<[u8]> {
    side.map_or_else(|| Arc::from([]), |state| state.bytes.clone())
}

/// Whether all of it is text.
pub(super) fn is_text(changes: &[Change]) -> bool {
    let sides = changes.iter().flat_map(|change| [&change.before, &change.after]);
    sides
        .flatten()
        .all(|state| state.mode != 0o120_000 && std::str::from_utf8(&state.bytes).is_ok())
}
