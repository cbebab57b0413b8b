//! Layer 4: decides what a passing run proves. Pure: reads the command line, its output and its report
//! into one account for each runner, and compares the accounts before and after a fix in a
//! [`Proof`](crate::model::Proof).
//!
//! `named_runners` finds the runners that a command names, `evidence` what each says of its run, and
//! `compare` says what is missing.

mod compare;
mod evidence;
mod named_runners;

pub use compare::{compare_evidence, unnamed_skip};
pub use evidence::{CommandEvidence, CommandOutput, Evidence, command_evidence, hidden_failure};
pub use named_runners::named_runners;
