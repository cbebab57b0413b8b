//! Floor 1: values of the model as text for people and tools, one format a file.

#[cfg(feature = "program")]
mod bench_agents;
#[cfg(feature = "program")]
mod bench_html;
#[cfg(feature = "program")]
mod bench_junit;
#[cfg(feature = "program")]
mod bench_markdown;
#[cfg(feature = "program")]
mod bench_text;
#[cfg(feature = "program")]
mod checkup_rows;
#[cfg(feature = "program")]
mod ci_markdown;
#[cfg(feature = "program")]
mod context_block;
#[cfg(feature = "program")]
mod context_markdown;
#[cfg(feature = "program")]
mod context_prompt;
#[cfg(feature = "program")]
mod context_text;
#[cfg(feature = "program")]
mod context_xml;
#[cfg(feature = "program")]
mod diagnosis_github;
#[cfg(feature = "program")]
mod diagnosis_message;
#[cfg(feature = "program")]
mod diagnosis_sarif;
#[cfg(feature = "program")]
mod diagnosis_text;
#[cfg(feature = "program")]
mod diff_text;
#[cfg(feature = "program")]
mod failure_text;
#[cfg(feature = "program")]
mod healing_text;
#[cfg(feature = "program")]
mod imports_dot;
#[cfg(feature = "program")]
mod imports_mermaid;
#[cfg(feature = "program")]
mod imports_text;
#[cfg(feature = "program")]
mod markup;
#[cfg(feature = "program")]
mod page;
#[cfg(feature = "program")]
mod patch_github;
#[cfg(feature = "program")]
mod patch_sarif;
#[cfg(feature = "program")]
mod patch_text;
#[cfg(feature = "program")]
mod printable;
#[cfg(feature = "program")]
mod proof_text;
#[cfg(feature = "program")]
mod run_html;
#[cfg(feature = "program")]
mod run_markdown;
#[cfg(feature = "program")]
mod run_summary;
#[cfg(feature = "program")]
mod run_text;
#[cfg(feature = "program")]
mod sarif;
mod visible;

#[cfg(feature = "program")]
pub use bench_agents::{agents_markdown, agents_text};
#[cfg(feature = "program")]
pub use bench_html::bench_html;
#[cfg(feature = "program")]
pub use bench_junit::bench_junit;
#[cfg(feature = "program")]
pub use bench_markdown::bench_markdown;
#[cfg(feature = "program")]
pub use bench_text::bench_text;
#[cfg(feature = "program")]
pub use checkup_rows::checkup_rows;
#[cfg(feature = "program")]
pub use ci_markdown::{CiRow, ci_markdown};
#[cfg(feature = "program")]
pub use context_markdown::{agent_prompt, context_markdown};
#[cfg(feature = "program")]
pub use context_prompt::ReplyForm;
#[cfg(feature = "program")]
pub use context_text::context_text;
#[cfg(feature = "program")]
pub use context_xml::context_xml;
#[cfg(feature = "program")]
pub use diagnosis_github::diagnosis_github;
#[cfg(feature = "program")]
pub use diagnosis_sarif::diagnosis_sarif;
#[cfg(feature = "program")]
pub use diagnosis_text::diagnosis_text;
#[cfg(feature = "program")]
pub use diff_text::diff_text;
#[cfg(feature = "program")]
pub use failure_text::{failure_text, parse_failure_text};
#[cfg(feature = "program")]
pub use healing_text::healing_text;
#[cfg(feature = "program")]
pub use imports_dot::imports_dot;
#[cfg(feature = "program")]
pub use imports_mermaid::imports_mermaid;
#[cfg(feature = "program")]
pub use imports_text::imports_text;
#[cfg(feature = "program")]
pub use patch_github::patch_github;
#[cfg(feature = "program")]
pub use patch_sarif::patch_sarif;
#[cfg(feature = "program")]
pub use patch_text::patch_text;
#[cfg(feature = "program")]
pub use printable::{printable, printable_in_colour, printable_json};
#[cfg(feature = "program")]
pub use proof_text::proof_rows;
#[cfg(feature = "program")]
pub use run_html::run_html;
#[cfg(feature = "program")]
pub use run_markdown::run_markdown;
#[cfg(feature = "program")]
pub use run_summary::run_summary;
#[cfg(feature = "program")]
pub use run_text::run_text;
pub use visible::{harmless, visible};
