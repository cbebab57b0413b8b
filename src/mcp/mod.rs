//! Layer 10: the commands as tools of an MCP server, over standard input and output. Thin: each tool
//! is a call into the library and a document of the model.

mod reading_tools;
mod running_tools;
mod server;
mod stdio;
mod tool;

pub use server::{Server, ServerOptions};
pub use stdio::serve_stdio;
