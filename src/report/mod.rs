//! Floor 1: values of the model as text for people and machines.

mod patch_github;
mod patch_sarif;
mod patch_text;

pub use patch_github::patch_github;
pub use patch_sarif::patch_sarif;
pub use patch_text::patch_text;
