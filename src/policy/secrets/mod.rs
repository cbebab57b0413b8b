//! Finds secrets in text. A rule is a row of a table (see `rules`); the rest is how rules are asked
//! quickly, and what surrounds a value that makes it a secret.

mod anchors;
mod known;
mod provider;
mod rule;
mod rules;
mod scan;

pub(super) use known::KnownValues;
pub(super) use scan::{Hit, scan};
