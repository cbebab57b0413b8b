//! Floor 8: broken repositories with a known repair, and how often the loop repairs them.

mod error;
mod fixture;
mod load;
mod materialise;
mod verify;

pub use error::FixtureError;
pub use fixture::{End, Expected, Fixture, Forbidden, Generate, Reply};
pub use load::load_fixtures;
pub use materialise::materialise;
pub use verify::{Proof, ProofProblem, missing_programs, verify};
