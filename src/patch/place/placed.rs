use std::borrow::Cow;

use super::rule::MendNote;
use crate::patch::set::{HunkLine, LineKind};

/// A hunk whose every old line has a line of the file.
#[derive(Debug, Clone)]
pub(in crate::patch) struct Placed<'h, 'a> {
    /// The lines of the hunk, as they were understood.
    pub(in crate::patch) lines: Cow<'h, [HunkLine<'a>]>,
    /// Which lines stand where.
    pub(in crate::patch) pieces: Vec<Piece>,
    /// What it took.
    pub(in crate::patch) mends: Vec<MendNote>,
}

impl<'h, 'a> Placed<'h, 'a> {
    /// All lines in one piece, from line `at` of the file on.
    pub(in crate::patch) fn whole(
        lines: impl Into<Cow<'h, [HunkLine<'a>]>>,
        at: usize,
        mends: Vec<MendNote>,
    ) -> Self {
        let lines = lines.into();
        let to = lines.len();
        Self {
            lines,
            pieces: vec![Piece { at, from: 0, to }],
            mends,
        }
    }

    /// The first line of the file it touches, counted from 0.
    pub(in crate::patch) fn at(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.at)
    }

    /// The line of the file after the last it touches.
    pub(super) fn end(&self) -> usize {
        let end = |piece: &Piece| piece.at + old_of(self.of(*piece)).len();
        self.pieces.last().map_or(0, end)
    }

    /// The lines of a piece.
    pub(in crate::patch) fn of(&self, piece: Piece) -> &[HunkLine<'a>] {
        self.lines.get(piece.from..piece.to).unwrap_or_default()
    }
}

/// Lines `from..to` of a hunk, whose old lines stand in the file from line `at` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) struct Piece {
    pub(in crate::patch) at: usize,
    pub(in crate::patch) from: usize,
    pub(in crate::patch) to: usize,
}

/// The lines that stand in the file before.
pub(super) fn old_of<'h, 'a>(lines: &'h [HunkLine<'a>]) -> Vec<&'h HunkLine<'a>> {
    lines
        .iter()
        .filter(|line| line.kind != LineKind::Add)
        .collect()
}
