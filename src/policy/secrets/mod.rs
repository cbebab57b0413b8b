//! Finds secrets in text. A rule is a row of a table (see `rules`); the rest is how rules are asked
//! quickly, and what surrounds a value that makes it a secret.

mod anchors;
mod assignment;
mod block;
mod command;
mod encoded;
mod header;
mod hit;
mod known;
mod manifest;
mod name;
mod provider;
mod rule;
mod rules;
mod scan;
mod url;
mod value;
mod view;

pub(super) use hit::Hit;
pub(super) use known::KnownValues;
pub(super) use scan::scan;
