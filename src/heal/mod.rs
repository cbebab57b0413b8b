//! Layer 6: what must answer before a repair can start. A probe is a command or an MCP server; it
//! is really started, diagnosed when it does not answer, and started again with a changed copy of
//! its configuration. Choosing the change is pure: [`choose_fix`] over a table of rules.

mod choose;
mod config;
#[cfg(feature = "mcp")]
mod connect;
mod gather;
#[cfg(feature = "http")]
mod http;
mod probe;
mod rules;
mod run;
mod span;
#[cfg(feature = "mcp")]
mod stdio;

pub use choose::{Fix, History, choose_fix};
pub use config::{ServerConfig, masked};
pub use gather::Surroundings;
pub use probe::{Endpoint, HealError, Probe, Target, Transport};
pub use run::{Healed, Options, heal};
