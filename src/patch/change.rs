use std::sync::Arc;

use super::compose::LineEdit;
#[cfg(feature = "program")]
use crate::git::changed_lines;
use crate::model::{Operation, RepoPath};
use crate::source::{EntryKind, Source};

/// What happens to one path, with the bytes of both sides.
#[derive(Debug, Clone)]
pub struct Change {
    /// The path that changes.
    pub path: RepoPath,
    /// Where the content came from, for renames and copies.
    pub from: Option<RepoPath>,
    /// What happens.
    pub operation: Operation,
    /// What the content is made from; for renames and copies, it stands at [`Change::from`].
    pub before: Option<FileState>,
    /// What stands at the path now.
    pub standing: Option<FileState>,
    /// What shall stand there.
    pub after: Option<FileState>,
    pub(super) edits: Vec<LineEdit>,
    /// A file whose mode changes gets the permissions of a new one, as git does it; otherwise it
    /// keeps those of its owner as far as they go.
    #[cfg_attr(not(feature = "program"), expect(dead_code, reason = "for the writer"))]
    pub(super) new_permissions: bool,
}

impl Change {
    /// What leads from one state of a file to another; `None` is no file.
    #[must_use]
    pub fn between(path: RepoPath, before: Option<FileState>, after: Option<FileState>) -> Self {
        let bytes = |side: &Option<FileState>| {
            side.as_ref()
                .map_or_else(|| Arc::from([]), |side| side.bytes.clone())
        };
        let (old, new) = (bytes(&before), bytes(&after));
        let edits = line_edits(&old, &new);
        Self {
            path,
            from: None,
            operation: match (&before, &after) {
                (None, _) => Operation::Create,
                (_, None) => Operation::Delete,
                _ => Operation::Modify,
            },
            standing: before.clone(),
            before,
            after,
            edits,
            new_permissions: false,
        }
    }

    /// What puts the path back, once the change stands.
    #[must_use]
    pub fn undone(&self) -> Self {
        Self::between(self.path.clone(), self.after.clone(), self.standing.clone())
    }
}

#[cfg(feature = "program")]
fn line_edits(old: &[u8], new: &[u8]) -> Vec<LineEdit> {
    let runs = changed_lines(old, new).into_iter();
    runs.map(|(gone, come)| LineEdit {
        at: gone.start,
        removed: gone.len(),
        added: come.len(),
    })
    .collect()
}

// Without a diff, one run from the first line that differs to the last.
#[cfg(not(feature = "program"))]
fn line_edits(old: &[u8], new: &[u8]) -> Vec<LineEdit> {
    super::compose::one_edit(old, new)
}

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// The bytes; of a symlink, its target.
    pub bytes: Arc<[u8]>,
    /// git's mode: 0o100644, 0o100755 or 0o120000.
    pub mode: u32,
}

/// The mode that git records for one that stands in a patch or on the disk.
pub(super) fn recorded_mode(mode: u32) -> u32 {
    match mode & 0o170_000 {
        link_or_submodule @ (0o120_000 | 0o160_000) => link_or_submodule,
        _ if mode & 0o100 != 0 => 0o100_755,
        _ => 0o100_644,
    }
}

impl FileState {
    /// A file or a link of a source; `None` when there is none that can be read.
    #[must_use]
    pub fn of(source: &dyn Source, path: &RepoPath) -> Option<Self> {
        let kind = &source.listing().get(path.as_str())?.kind;
        let bytes = match kind {
            EntryKind::Symlink { target } => target.as_bytes().into(),
            _ => source.read(path).ok()?,
        };
        let mode = kind.mode()?;
        Some(Self { bytes, mode })
    }
}

impl Default for FileState {
    fn default() -> Self {
        Self {
            bytes: Arc::from([]),
            mode: 0o100_644,
        }
    }
}
