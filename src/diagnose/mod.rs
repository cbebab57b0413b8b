//! Floor 4: log text to a diagnosis. Pure, linear, and at a loss rather than guessing.

mod claimed;
mod derive;
mod failing;
mod finding;
mod locate;
mod mention;
mod normalise;
mod pattern;
mod rules;
mod special;
mod verdict;

pub use claimed::diagnose_in;
pub use derive::{Retry, category, requires_user_action, retry, suggested_actions, words};
pub use verdict::{LogFacts, diagnose};
