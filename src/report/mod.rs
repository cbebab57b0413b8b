//! Floor 1: values of the model as text for people and tools, one format a file.

mod context_block;
mod context_markdown;
mod context_prompt;
mod context_text;
mod context_xml;
mod diagnosis_github;
mod diagnosis_sarif;
mod diagnosis_text;
mod failure_text;
mod healing_text;
mod imports_dot;
mod imports_mermaid;
mod imports_text;
mod patch_github;
mod patch_sarif;
mod patch_text;
mod run_text;

pub use context_markdown::context_markdown;
pub use context_text::context_text;
pub use context_xml::context_xml;
pub use diagnosis_github::diagnosis_github;
pub use diagnosis_sarif::diagnosis_sarif;
pub use diagnosis_text::diagnosis_text;
pub use failure_text::{failure_text, parse_failure_text};
pub use healing_text::healing_text;
pub use imports_dot::imports_dot;
pub use imports_mermaid::imports_mermaid;
pub use imports_text::imports_text;
pub use patch_github::patch_github;
pub use patch_sarif::patch_sarif;
pub use patch_text::patch_text;
pub use run_text::run_text;
