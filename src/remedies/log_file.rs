use std::cell::Cell;
use std::ops::Range;

use super::candidate::Candidate;
use crate::languages::{syntax_errors, uses};
use crate::model::{Diagnosis, MentionedFile, RepoPath};
use crate::patch::{Change, FileState, canonical};
use crate::source::Source;

/// Longest line of a log that is looked at.
pub(super) const MAX_LINE: usize = 2000;

/// The files of the repository that a log names. A log may name one in each of its lines, and to look
/// into it may take long: so many are read and no more.
pub(super) struct LogFiles<'s> {
    diagnosis: &'s Diagnosis,
    source: &'s dyn Source,
    left: Cell<usize>,
}

impl<'s> LogFiles<'s> {
    pub(super) fn new(diagnosis: &'s Diagnosis, source: &'s dyn Source, most: usize) -> Self {
        Self {
            diagnosis,
            source,
            left: Cell::new(most),
        }
    }

    /// The file that the log calls `named`, when the diagnosis knows it too: of several that end
    /// alike the one that has most in common.
    pub(super) fn find(&self, named: &str) -> Option<LogFile<'s>> {
        let files = self.diagnosis.files.iter();
        let path = files
            .filter_map(MentionedFile::repo_path)
            .filter(|path| is_end(named, path.as_str()) || is_end(path.as_str(), named))
            .max_by_key(|path| path.as_str().len().min(named.len()))?;
        self.left.set(self.left.get().checked_sub(1)?);
        LogFile::of(path, self.source)
    }
}

/// A file of the repository that a log names, with its text.
pub(super) struct LogFile<'s> {
    pub(super) path: RepoPath,
    pub(super) text: String,
    source: &'s dyn Source,
}

impl<'s> LogFile<'s> {
    /// A file of the repository.
    pub(super) fn of(path: RepoPath, source: &'s dyn Source) -> Option<Self> {
        let bytes = source.read(&path).ok()?;
        Some(Self {
            text: String::from_utf8(bytes.to_vec()).ok()?,
            path,
            source,
        })
    }

    /// The bytes of a line, counted from 1, without its line end.
    pub(super) fn line(&self, number: usize) -> Option<Range<usize>> {
        let mut start = 0;
        for (at, line) in self.text.split_inclusive('\n').enumerate() {
            if at + 1 == number {
                let bare = line.trim_end_matches(['\n', '\r']);
                return Some(start..start + bare.len());
            }
            start += line.len();
        }
        None
    }

    /// The byte of a line and column, both counted from 1 in characters.
    pub(super) fn offset(&self, line: usize, column: usize) -> Option<usize> {
        let range = self.line(line)?;
        let text = self.text.get(range.clone())?;
        let mut places = text.char_indices().map(|(at, _)| at);
        let at = places
            .nth(column.checked_sub(1)?)
            .or_else(|| (text.chars().count() + 1 == column).then_some(text.len()))?;
        Some(range.start + at)
    }

    /// The text with a range replaced.
    pub(super) fn with(&self, range: Range<usize>, new: &str) -> Option<String> {
        let head = self.text.get(..range.start)?;
        Some(format!("{head}{new}{}", self.text.get(range.end..)?))
    }

    /// A text of this file with one name for another, wherever the name stands for what it means.
    pub(super) fn respelled(&self, text: &str, wrong: &str, right: &str) -> Option<String> {
        let places = uses(&self.path, text.as_bytes(), wrong)?.places;
        let mut text = text.to_owned();
        for at in places.into_iter().rev() {
            let (before, after) = (text.get(..at)?, text.get(at + wrong.len()..)?);
            text = format!("{before}{right}{after}");
        }
        self.parses(&text).then_some(text)
    }

    /// Whether a text of this file follows its grammar.
    pub(super) fn parses(&self, text: &str) -> bool {
        syntax_errors(&self.path, text.as_bytes()).is_empty()
    }

    /// The change to `after`; `what` says it in a sentence without the file's name.
    pub(super) fn heal(&self, what: &str, after: &str, must_fix: bool) -> Option<Candidate> {
        let mode = self.source.listing().get(self.path.as_str())?.kind.mode()?;
        let state = |text: &str| Some(FileState::new(text.as_bytes(), mode));
        let change = Change::between(self.path.clone(), state(&self.text), state(after));
        (after != self.text).then(|| Candidate {
            what: format!("{what} in {}", self.path),
            patch: canonical(&[change]),
            files: vec![self.path.clone()],
            must_fix,
            ..Candidate::default()
        })
    }
}

// Whether a path ends with whole parts of another.
fn is_end(path: &str, end: &str) -> bool {
    let head = path.strip_suffix(end);
    head.is_some_and(|head| head.is_empty() || head.ends_with(['/', '\\']))
}

pub(super) fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word
            .chars()
            .all(|char| char.is_alphanumeric() || char == '_' || char == '$')
}
