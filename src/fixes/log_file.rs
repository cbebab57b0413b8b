//! A file that a log names, with its text.

use std::ops::Range;

use super::candidate::Candidate;
use crate::languages::syntax_errors;
use crate::model::{Diagnosis, MentionedFile, RepoPath};
use crate::patch::{Change, FileState, canonical};
use crate::runners::pattern;
use crate::source::Source;

/// A file of the repository that a log names, with its text.
pub(super) struct LogFile<'s> {
    pub(super) path: RepoPath,
    pub(super) text: String,
    source: &'s dyn Source,
}

impl<'s> LogFile<'s> {
    pub(super) fn open(path: RepoPath, source: &'s dyn Source) -> Option<Self> {
        let bytes = source.read(&path).ok()?;
        Some(Self {
            text: String::from_utf8(bytes.to_vec()).ok()?,
            path,
            source,
        })
    }

    /// Opens the file that the log calls `named`, when the diagnosis knows it too; of several that end alike the one
    /// that has most in common.
    pub(super) fn find(named: &str, diagnosis: &Diagnosis, source: &'s dyn Source) -> Option<Self> {
        let paths = diagnosis.files.iter().filter_map(MentionedFile::repo_path);
        let fits =
            |path: &RepoPath| named.ends_with(path.as_str()) || path.as_str().ends_with(named);
        let path = paths
            .filter(fits)
            .max_by_key(|path| path.as_str().len().min(named.len()))?;
        Self::open(path, source)
    }

    /// Returns the bytes of a line, counted from 1, without its line end.
    pub(super) fn line(&self, number: usize) -> Option<Range<usize>> {
        let mut lines = self.text.split_inclusive('\n');
        let above = lines.by_ref().take(number.checked_sub(1)?);
        let start: usize = above.map(str::len).sum();
        let bare = lines.next()?.trim_end_matches(['\n', '\r']);
        Some(start..start + bare.len())
    }

    /// Returns the byte of a line and column, both counted from 1 in characters.
    pub(super) fn byte_offset(&self, line: usize, column: usize) -> Option<usize> {
        let range = self.line(line)?;
        let text = self.text.get(range.clone())?;
        let at = text.char_indices().nth(column.checked_sub(1)?);
        Some(range.start + at.map_or(text.len(), |(at, _)| at))
    }

    /// Returns the text with a range replaced.
    pub(super) fn with(&self, range: Range<usize>, new: &str) -> Option<String> {
        let head = self.text.get(..range.start)?;
        Some(format!("{head}{new}{}", self.text.get(range.end..)?))
    }

    pub(super) fn parses_text(&self, text: &str) -> bool {
        syntax_errors(&self.path, text.as_bytes()).is_empty()
    }

    /// Returns the change to `after`, when that parses, as a candidate that must make the commands pass.
    pub(super) fn make_candidate(&self, what: &str, after: &str) -> Option<Candidate> {
        let mode = self.source.listing().get(self.path.as_str())?.kind.mode()?;
        let state = |text: &str| Some(FileState::new(text.as_bytes(), mode));
        let change = Change::between(self.path.clone(), state(&self.text), state(after));
        (after != self.text && self.parses_text(after)).then(|| Candidate {
            what: format!("{what} in {}", self.path),
            patch: canonical(std::slice::from_ref(&change)),
            files: vec![self.path.clone()],
            must_fix: true,
            ..Candidate::default()
        })
    }
}

// `File "a.py", line 3` or `a.py:3: NameError`.
pattern!(
    PYTHON_FRAME,
    r#"^(?:File "([^"]+)", line ([0-9]+)|([^\s:]+\.py):([0-9]+):)"#
);

/// Returns the path and line of a frame of Python.
pub(super) fn python_frame(line: &str) -> Option<(&str, usize)> {
    let found = PYTHON_FRAME.captures(line)?;
    let mut groups = found.iter().skip(1).flatten().map(|group| group.as_str());
    Some((groups.next()?, groups.next()?.parse().ok()?))
}
