//! What code does to its process or to its test runner that no product needs to do.

mod finding;
pub(super) mod read;
pub(super) mod words;

pub use finding::{Meddles, Meddling};
pub use read::meddling;
pub use words::is_test_runner;
