//! Floor 1: values of the model to text, one file for each form.

mod imports_dot;
mod imports_mermaid;
mod imports_text;

pub use imports_dot::imports_dot;
pub use imports_mermaid::imports_mermaid;
pub use imports_text::imports_text;
