//! A change of one path, with both sides.

use std::ops::Range;
use std::sync::Arc;

use super::judge::read_original;
use super::line_ends::with_ends;
#[cfg(not(feature = "program"))]
use super::text::Text;
#[cfg(feature = "program")]
use crate::git::changed_lines;
use crate::model::{Operation, RepoPath};
use crate::source::Source;

/// What happens to one path, with the bytes of both sides.
#[derive(Debug, Clone)]
pub struct Change {
    /// The path that changes.
    pub path: RepoPath,
    /// Where the content came from, for renames and copies.
    pub from: Option<RepoPath>,
    /// What happens.
    pub operation: Operation,
    /// What the content is made from; for renames and copies, it is at [`Change::from`].
    pub before: Option<FileState>,
    /// What is at the path now.
    pub standing: Option<FileState>,
    /// What shall be there.
    pub after: Option<FileState>,
    /// A file whose mode changes gets the permissions of a new one, as git does it; otherwise it
    /// keeps those of its owner as far as they go.
    #[cfg_attr(not(feature = "program"), expect(dead_code, reason = "for the writer"))]
    pub(super) new_permissions: bool,
}

impl Change {
    /// The change from one state of a file to another; `None` is no file.
    pub fn between(path: RepoPath, before: Option<FileState>, after: Option<FileState>) -> Self {
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
            new_permissions: false,
        }
    }

    /// Lines that come and lines that go.
    pub fn line_counts(&self) -> (usize, usize) {
        self.runs().into_iter().fold((0, 0), |(added, removed), (gone, come)| {
            (added + come.len(), removed + gone.len())
        })
    }

    /// Runs of lines of the old text and those of the new one that represent them, counted from 0.
    pub fn runs(&self) -> Vec<(Range<usize>, Range<usize>)> {
        changed_lines(
            &bytes_of(self.before.as_ref()),
            &bytes_of(self.after.as_ref()),
        )
    }

    /// The same with the line ends that the file had throughout; one that changes nothing else stays
    /// as it is.
    pub fn with_its_line_ends(self) -> Self {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return self;
        };
        let is_text = !before.bytes.contains(&0) && !after.bytes.contains(&0);
        let adapted = with_ends(&before.bytes, &after.bytes);
        let Some(bytes) = adapted.filter(|bytes| is_text && **bytes != *before.bytes) else {
            return self;
        };
        let after = FileState::new(bytes, after.mode);
        Self::between(self.path, self.before, Some(after))
    }

    /// The change that restores the path, once this one is written.
    pub fn undone(&self) -> Self {
        Self::between(self.path.clone(), self.after.clone(), self.standing.clone())
    }
}

fn bytes_of(side: Option<&FileState>) -> Arc<[u8]> {
    side.map(|state| state.bytes.clone()).unwrap_or_default()
}

/// Returns one run from the first line that differs to the last: without the program there is no diff.
#[cfg(not(feature = "program"))]
fn changed_lines(old: &[u8], new: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let (a, b) = (Text::new(old), Text::new(new));
    let most = a.len().min(b.len());
    let head = (0..most).take_while(|row| a.whole(*row) == b.whole(*row)).count();
    let back = 1..=most - head;
    let tail = back
        .take_while(|back| a.whole(a.len() - back) == b.whole(b.len() - back))
        .count();
    let (gone, come) = (head..a.len() - tail, head..b.len() - tail);
    if gone.is_empty() && come.is_empty() {
        return Vec::new();
    }
    vec![(gone, come)]
}

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// The bytes; of a symlink, its target.
    pub bytes: Arc<[u8]>,
    /// git's mode: 0o100644, 0o100755 or 0o120000.
    pub mode: u32,
}

/// The mode that git records for one that is in a patch or on the disk.
pub(super) fn recorded_mode(mode: u32) -> u32 {
    match mode & 0o170_000 {
        link_or_submodule @ (0o120_000 | 0o160_000) => link_or_submodule,
        _ if mode & 0o100 != 0 => 0o100_755,
        _ => 0o100_644,
    }
}

impl FileState {
    /// Bytes with git's mode.
    pub fn new(bytes: impl Into<Arc<[u8]>>, mode: u32) -> Self {
        let bytes = bytes.into();
        Self { bytes, mode }
    }

    /// A file or a link of a source; `None` when there is none that can be read.
    pub fn read(source: &dyn Source, path: &RepoPath) -> Option<Self> {
        read_original(source, path.as_str()).ok()?
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
