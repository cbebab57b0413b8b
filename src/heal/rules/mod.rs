//! What to do about each kind of failure (R35): a table, one function a row.

mod guidance;
mod not_found;
mod refused;
mod table;
mod transport;

pub(super) use guidance::unknown;
#[cfg(feature = "mcp")]
pub(super) use refused::is_local;
pub(super) use table::{RULES, Rule};
