//! Floor 8: the commands as tools of an MCP server, over standard input and output or streamable
//! HTTP on this machine. Thin: each tool is a call into the library and a document of the model.

mod answer;
mod error;
#[cfg(feature = "http")]
mod http;
mod options;

mod progress;
mod prompts;
mod resources;

mod roots;
mod server;
mod stdio;
mod tool;
mod tools;

#[cfg(feature = "http")]
pub use http::{HttpOptions, new_token, serve_http};
pub use options::ServerOptions;
pub use server::Server;
pub use stdio::serve_stdio;
