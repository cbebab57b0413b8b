//! What code does to its process or to its test runner that no product needs to do.

pub(super) mod read;
pub(super) mod words;

pub use read::{Meddles, Meddling, meddling};
pub use words::is_test_runner;
