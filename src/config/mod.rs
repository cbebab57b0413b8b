//! Layer 1: settings. Flags beat environment, environment beats the repository's file, that beats
//! the user's own, and that the defaults; every value knows where it comes from. What a repository
//! brings along may tune and tighten, and neither run a command nor loosen a rule.

mod file;
mod settings;
mod table;
mod trust;
mod values;

pub use file::ConfigError;
pub use file::{File, find};
pub use settings::{Origin, Settings};
pub use table::{Context, Output, Patch};
pub use values::{Bytes, Color, Dollars, Seconds, SecretRule};
