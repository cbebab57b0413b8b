//! Floor 1: values of the model as text for people and tools, one format a file.

mod context_text;
mod imports_dot;
mod imports_mermaid;
mod imports_text;

pub use context_text::context_text;
pub use imports_dot::imports_dot;
pub use imports_mermaid::imports_mermaid;
pub use imports_text::imports_text;
