//! Where the lines of a hunk stand in a file: pure functions over bytes.

mod context;
mod diagnose;
mod file;
mod hunk;
mod indent;
mod pieces;
mod placed;
mod rule;
mod search;
#[cfg(test)]
mod trial;
mod truncation;
mod variant;

pub(super) use diagnose::diagnose;
pub(super) use file::{Placement, place};
pub(super) use indent::{Kind, foreign_kind, indent};
pub(super) use placed::Placed;
pub(super) use rule::TRIMMED;
pub(super) use search::{Work, places};
