//! Layer 8: broken repositories with a known repair, and how often the loop repairs them.

mod agent;
mod compare;
mod error;
mod fixture;
mod judge;
mod layout;
mod load;
mod parts;
mod real;
mod run;
mod score;
mod stage;

pub use agent::BenchAgent;
pub use compare::{compare, pairs};
pub use error::BenchError;
pub use fixture::{Expected, Fixture, HIDDEN_PASSED, Reply, missing_programs};
pub use layout::BenchCase;
pub use load::load_fixtures;
pub use parts::{merge, parse_partition, part_of};
pub use real::{BenchFile, MineOptions, load_sets, mine, real_cases};
pub use run::{BenchOptions, run_cases};
pub use score::{Heading, bench_failure, conclude_rates, count_run, prediction_lines, score};
pub use stage::materialise;
