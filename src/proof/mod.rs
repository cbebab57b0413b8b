//! Layer 4: what is behind a green run. Pure: from the words of a command, what it printed and
//! the report it was asked for to what each runner says of its tests, and from two such accounts to
//! a [`Proof`](crate::model::Proof).
//!
//! `named_runners` finds the runners that a command names, `evidence` what each says of its run, and
//! `compare` says what is missing.

mod compare;
mod evidence;
mod named_runners;

pub use compare::compare_evidence;
pub use evidence::{CommandEvidence, CommandOutput, Evidence, command_evidence, hidden_failure};
pub use named_runners::named_runners;
