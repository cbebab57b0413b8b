//! Packets, as a user sees them.

mod budget;
mod change;
mod deterministic;
mod errors;
mod example;
mod issue;
mod levels;
mod places;
mod prompt;
mod skeleton;
