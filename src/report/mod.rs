//! Floor 1: values of the model as text for people and tools, one format a file.

mod context_text;

pub use context_text::context_text;
