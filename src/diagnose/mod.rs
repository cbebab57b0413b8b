//! Floor 3: what a log says went wrong. Rules are a table; an unknown tool stays unknown.

mod category;
mod classify;
mod mentions;
mod rules;

pub use category::category_of;
pub use classify::{LogFacts, diagnose};
