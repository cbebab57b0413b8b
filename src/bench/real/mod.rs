//! Fixes of a repository's history as cases: mined by reference, laid out from a clone.

mod candidate;
mod cases;
mod checkout;
mod environment;
mod fix;
mod mine;
mod sets;
mod trial;

pub(super) use cases::Commits;
pub use cases::real_cases;
pub(super) use checkout::Checkout;
pub use environment::BenchFile;
pub use mine::{MineOptions, mine};
pub use sets::load_sets;
