//! The loop as a user runs it: real repositories, real commands, agents that are shell scripts.

mod applying;
mod editing;
mod ends;
mod learning;
mod masking;
mod order;
mod prompting;
mod proving;
mod reporting;
mod resuming;
mod rows;
mod splitting;
mod standing;
mod world;
