//! Floor 8: broken repositories with a known repair, and how often the loop repairs them.

mod agent;
mod compare;
mod error;
mod fixture;
mod judge;
mod layout;
mod load;
mod materialise;
mod parts;
mod real;
mod record;
mod run;
mod score;
mod sight;
mod skeleton;
mod stage;
mod verify;

pub use agent::BenchAgent;
pub use compare::{compare, pairs};
pub use error::BenchError;
pub use fixture::{Expected, Fixture, Forbidden, HIDDEN_PASSED, Reply};
pub use layout::Case;
pub use load::load_fixtures;
pub use materialise::materialise;
pub use parts::{merge, parse_partition, part_of, partition_from_environment};
pub use real::{BenchFile, Clones, MineOptions, Mined, load_sets, mine, real_cases};
pub use run::{BenchOptions, in_parallel, run_cases};
pub use score::{Heading, score};
pub use skeleton::{Skeleton, new_fixture};
pub use verify::{Proof, ProofProblem};
pub use verify::{missing_programs, verify};
