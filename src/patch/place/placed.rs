//! A placed hunk and the notes on its corrections.

use std::borrow::Cow;

use crate::model::Mend;
use crate::patch::set::{HunkLine, LineKind, without_kind};
use crate::patch::text::Text;

/// Lines of a hunk whose old ones are in the file side by side.
#[derive(Debug, Clone)]
pub(in crate::patch) struct Placed<'h, 'a> {
    /// The lines of the hunk, as they were understood.
    pub(in crate::patch) lines: Cow<'h, [HunkLine<'a>]>,
    /// The first line of the file it touches, counted from 0.
    pub(in crate::patch) at: usize,
    /// What it took.
    pub(in crate::patch) mends: Vec<Mend>,
}

impl<'h, 'a> Placed<'h, 'a> {
    pub(in crate::patch) fn new(
        lines: impl Into<Cow<'h, [HunkLine<'a>]>>,
        at: usize,
        mends: Vec<Mend>,
    ) -> Self {
        Self {
            lines: lines.into(),
            at,
            mends,
        }
    }

    /// Whether an old line of this kind is marked as one without a newline, and has one in the file.
    pub(in crate::patch) fn has_false_mark(&self, text: &Text<'_>, kind: LineKind) -> bool {
        let mut rows = without_kind(&self.lines, LineKind::Add).zip(self.at..);
        rows.any(|(line, row)| {
            let is_marked = line.kind == kind && line.no_newline;
            is_marked && (row + 1 < text.len() || text.final_newline)
        })
    }

    /// The line of the file after the last it touches.
    pub(super) fn end(&self) -> usize {
        self.at + old_of(&self.lines).len()
    }
}

/// The lines that are in the file before.
pub(super) fn old_of<'h, 'a>(lines: &'h [HunkLine<'a>]) -> Vec<&'h HunkLine<'a>> {
    without_kind(lines, LineKind::Add).collect()
}

// A carriage return is no white space here, so that line ends are not mixed.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let last = line.iter().rposition(|byte| !b" \t".contains(byte));
    line.get(..last.map_or(0, |at| at + 1)).unwrap_or_default()
}

/// A line as a message names it.
pub(super) fn quote(line: &[u8]) -> String {
    match line.trim_ascii() {
        [] => "a blank line".to_owned(),
        _ => format!("`{}`", to_text(line)),
    }
}

/// A line in at most 200 letters.
pub(super) fn to_text(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    if text.chars().count() > 200 {
        text.chars().take(200).chain(['…']).collect()
    } else {
        text.into_owned()
    }
}
