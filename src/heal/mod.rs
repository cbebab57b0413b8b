//! Floor 6: what must answer before a repair can start. A probe is a command or an MCP server; it
//! is really started, diagnosed when it does not answer, and started again with a changed copy of
//! its configuration. Choosing the change is pure: [`next`] over a table.

#[cfg(feature = "mcp")]
mod ask;
mod config;
mod error;
mod gather;
#[cfg(feature = "http")]
mod http;
mod next;
mod probe;
mod programs;
mod rules;
mod run;
#[cfg(feature = "mcp")]
mod server;
#[cfg(not(feature = "mcp"))]
#[path = "no_server.rs"]
mod server;
mod span;
#[cfg(feature = "mcp")]
mod stdio;

pub use config::{ServerConfig, masked};
pub use error::HealError;
pub use gather::Surroundings;
pub use next::{Fix, History, next};
pub use probe::{Endpoint, Probe, Target, Transport};
pub use run::{Healed, Options, heal};
pub use span::span_of;
