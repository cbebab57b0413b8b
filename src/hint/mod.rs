//! Floor 5: an undefined name to the import that was meant: how the repository imports it, what
//! defines it, the standard library, manifests; certain or abstaining.

mod choose;
mod entity;
mod evidence;
mod outside;
mod python;
mod recovery;
mod script;
mod similar;
mod style;
mod suggest;
mod tables;
mod words;

pub use recovery::{recovery_context, recovery_hint};
pub use suggest::{Query, suggest};
