//! Layer 6: the external agent. Calls any command by one of three protocols in a home of its own and reads its reply;
//! what the reply says is data, and nothing it names is run.

mod adapter;
mod call;
mod home;
mod mcp_server;
mod reply;
mod settings;
mod trouble;

pub use adapter::{Adapter, PRESETS, preset};
pub use call::{AgentOutput, AgentRequest, Places, run_agent};
pub use home::AgentHome;
pub use mcp_server::McpServer;
pub use reply::{Reply, read_reply};
pub use trouble::{find_trouble, in_words};
