//! Where the lines of a hunk stand in a file: pure functions over bytes.

mod as_git;
mod blank;
mod diagnose;
mod file;
mod one;
mod pieces;
mod rule;
mod search;
mod shift;
mod variant;
mod whole;

pub use as_git::GitRules;
pub(super) use as_git::apply_as_git;
pub(super) use diagnose::{Failure, diagnose};
pub(super) use file::{Outcome, place};
pub(super) use one::{Piece, Placed};
pub(super) use search::Work;
