//! Floor 8: the commands as tools of an MCP server, over standard input and output or streamable
//! HTTP on this machine. Thin: each tool is a call into the library and a document of the model.

mod answer;
#[cfg(feature = "http")]
mod http;

mod prompts;
mod resources;

mod roots;
mod server;
mod stdio;
mod tool;
mod tools;

#[cfg(feature = "http")]
pub use http::{HttpOptions, new_token, serve_http};
pub use server::{Server, ServerOptions};
pub use stdio::serve_stdio;
