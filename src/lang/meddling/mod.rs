//! What code does to its process or to its test runner that no product needs to do.

mod finding;
mod python;
mod python_names;
mod read;
mod script;
mod script_names;
mod words;

pub use finding::{Meddles, Meddling};
pub use read::meddling;
pub use words::is_test_runner;
