//! The loop as a user runs it: commands, agents, proof, benches.

mod bench;
mod bench_real;
mod exec_alone;
mod first;
mod fix_ci;
mod hang;
mod heal;
mod repair;
#[path = "../support/mod.rs"]
mod support;
mod traced;
mod why;
mod witnesses;
