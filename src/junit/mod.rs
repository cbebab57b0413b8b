//! Floor 1: reports of tests in the form of `JUnit`, as the runners of many languages write them.

mod read;
mod report;
mod runner_ids;

pub use read::read_report;
pub use report::{Case, End, Report};
