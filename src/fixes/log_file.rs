//! A file that a log names, with its text.

use std::ops::Range;

use super::candidate::Candidate;
use crate::languages::{syntax_errors, words};
use crate::model::{Diagnosis, MentionedFile, RepoPath};
use crate::patch::{Change, FileState};
use crate::policy::is_test;
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
        let path = paths
            .filter(|path| named.ends_with(path.as_str()) || path.as_str().ends_with(named))
            .max_by_key(|path| path.as_str().len().min(named.len()));
        Self::open(path?, source)
    }

    /// Returns the bytes of a line, counted from 1, without its line end.
    pub(super) fn line(&self, number: usize) -> Option<Range<usize>> {
        let mut lines = self.text.split_inclusive('\n');
        let start: usize = lines.by_ref().take(number.checked_sub(1)?).map(str::len).sum();
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

    /// Returns where a word occurs in a part of the text.
    pub(super) fn words<'w>(
        &'w self,
        range: Range<usize>,
        word: &'w str,
    ) -> impl Iterator<Item = usize> {
        let text = self.text.get(range.clone()).unwrap_or_default();
        words(text.as_bytes(), word).map(move |at| range.start + at)
    }

    /// Returns the change to `after`, when that is another text that parses.
    pub(super) fn change_to(&self, after: &str) -> Option<Change> {
        let is_fit = after != self.text && syntax_errors(&self.path, after.as_bytes()).is_empty();
        let before = FileState::read(self.source, &self.path).filter(|_| is_fit)?;
        let after = FileState::new(after.as_bytes(), before.mode);
        let path = self.path.clone();
        Some(Change::between(path, Some(before), Some(after)))
    }

    /// Returns that change as a candidate that must make the commands pass.
    pub(super) fn make_candidate(&self, what: &str, after: &str) -> Option<Candidate> {
        Candidate::from_changes(what, vec![self.change_to(after)?])
    }
}

/// Returns the files of the product whose paths are meant.
pub(super) fn product_files(
    source: &dyn Source,
    is_meant: impl Fn(&str) -> bool,
) -> impl Iterator<Item = LogFile<'_>> {
    let paths = source.listing().files().map(|entry| &entry.path);
    let paths = paths.filter(move |path| is_meant(path.as_str()) && !is_test(path.as_str()));
    let files = paths.filter_map(|path| LogFile::open(path.clone(), source));
    // Bounds a file in which names are looked for, in bytes.
    files.filter(|file| file.text.len() <= (256 << 10))
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
