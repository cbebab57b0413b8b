//! Where commands run: inside limits, in set-ups of real projects.

mod exec;
mod set_ups;
#[path = "../support/mod.rs"]
mod support;
