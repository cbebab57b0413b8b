//! The loop as a user runs it: commands, agents, proof, benches.

mod bench;
mod bench_real;
mod ci_hosts;
mod example_agents;
mod first;
mod hang;
mod heal;
mod heal_http;
mod repair;
#[path = "../support/mod.rs"]
mod support;
mod traced;
mod why;
mod witnesses;
