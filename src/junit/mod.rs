//! Layer 1: reports of tests in the form of `JUnit`, as the runners of many languages write them.

mod read;

pub use read::{End, Report, TestCase, read_report};
