//! Where the lines of a hunk stand in a file: pure functions over bytes.

mod diagnose;
mod file;
mod one;
mod pieces;
mod rule;
mod search;
mod variant;
mod whole;

pub(super) use diagnose::{Failure, diagnose};
pub(super) use file::{Outcome, place};
pub(super) use one::{Piece, Placed};
pub(super) use search::Work;
