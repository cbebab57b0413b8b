//! A placed hunk and the notes on its corrections.

use std::borrow::Cow;

use crate::model::{Code, Safety};
use crate::patch::set::{HunkLine, LineKind, without_kind};

/// Lines of a hunk whose old ones are in the file side by side.
#[derive(Debug, Clone)]
pub(in crate::patch) struct Placed<'h, 'a> {
    /// The lines of the hunk, as they were understood.
    pub(in crate::patch) lines: Cow<'h, [HunkLine<'a>]>,
    /// The first line of the file it touches, counted from 0.
    pub(in crate::patch) at: usize,
    /// What it took.
    pub(in crate::patch) mends: Vec<MendNote>,
}

impl<'h, 'a> Placed<'h, 'a> {
    pub(in crate::patch) fn new(
        lines: impl Into<Cow<'h, [HunkLine<'a>]>>,
        at: usize,
        mends: Vec<MendNote>,
    ) -> Self {
        Self {
            lines: lines.into(),
            at,
            mends,
        }
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

/// What a correction is called and how far it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) struct MendNote {
    pub(in crate::patch) code: Code,
    pub(in crate::patch) safety: Safety,
    pub(in crate::patch) message: &'static str,
}

impl MendNote {
    pub(super) const fn safe(code: Code, message: &'static str) -> Self {
        Self {
            code,
            safety: Safety::Safe,
            message,
        }
    }

    pub(super) const fn lossy(code: Code, message: &'static str) -> Self {
        Self {
            code,
            safety: Safety::Lossy,
            message,
        }
    }
}

// A carriage return is no white space here, so that line ends are not mixed.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\t'))
        .map_or(0, |at| at + 1);
    line.get(..end).unwrap_or_default()
}
