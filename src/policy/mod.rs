//! Layer 3: which files may be read and changed, which text may be shown, and in which form.

mod change;
mod changed_lines;
#[cfg(feature = "program")]
mod code_pages;
mod commands;
mod globs;
mod guards;
mod invisible;
mod manifest;
mod path_safety;
mod read;
#[cfg(feature = "program")]
mod redact;
#[cfg(feature = "program")]
mod sanitize;
#[cfg(feature = "program")]
mod secrets;
mod suspicion;
mod test_change;
mod test_files;
#[cfg(feature = "program")]
mod utf16;

pub use change::{ChangeLimits, ChangeRules, ChangedFile, judge_change, judge_together};
pub use commands::CommandFiles;
pub use guards::{Allowed, When};
#[cfg(feature = "program")]
pub use invisible::text_warnings;
pub use manifest::{Dependencies, unreadable};
pub use path_safety::check_path;
pub use read::{PolicyError, ReadPolicy, ReadRules};
#[cfg(feature = "program")]
pub use redact::{Finding, Redactor};
#[cfg(feature = "program")]
pub use sanitize::{decode_log, sanitize_log};
#[cfg(feature = "program")]
pub use secrets::is_secret_name;
#[cfg(feature = "program")]
pub use suspicion::find_suspicious;
pub use test_files::{TEST_FOLDERS, is_test, is_test_name, is_test_text};
