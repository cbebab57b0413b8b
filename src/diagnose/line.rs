//! A line of a log without escapes and CI prefixes.

use std::borrow::Cow;

/// One line of a log, without escapes and CI decoration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// 1-based line of the log as it was given.
    pub(super) number: u64,
    /// What the tool printed.
    pub(super) text: Cow<'a, str>,
    /// What the CI service adds to this line.
    pub(super) mark: Mark,
    /// Whether it is in a section that repeats what the program under test printed.
    pub(super) captured: bool,
    /// Whether it is in the failure block of a test: data that steers nothing.
    pub(super) claimed: bool,
    /// Whether it is not about a failure: a passed test, a warning, an echoed script.
    pub(super) quiet: bool,
}

/// The texts of up to `most` lines right above an index.
pub(super) fn lines_above<'l>(
    lines: &'l [Line<'_>],
    at: usize,
    most: usize,
) -> impl DoubleEndedIterator<Item = &'l str> {
    let near = lines.get(at.saturating_sub(most)..at).unwrap_or_default();
    near.iter().map(|line| line.text.as_ref())
}

/// The texts of up to `most` lines from an index on.
pub(super) fn lines_below<'l>(
    lines: &'l [Line<'_>],
    from: usize,
    most: usize,
) -> impl Iterator<Item = &'l str> {
    lines.iter().skip(from).take(most).map(|line| line.text.as_ref())
}

/// What a CI service adds to a line beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Mark {
    #[default]
    None,
    /// A group or section opens, with its name.
    Open(String),
    /// The group or section that is open, or the named one, ends.
    Close(String),
    /// The service shows the line as an error.
    Error,
    /// The service shows the line as a warning or a remark.
    Remark,
    /// The service shows a command that it runs.
    Command,
}
