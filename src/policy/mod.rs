//! Layer 3: which files may be read and changed, which text may be shown, and in which form.
//!
//! Three questions are answered here. *May this file be read?* [`ReadPolicy`], by `protected.toml` and the user's globs. *May
//! this change be made?* [`check_path`] checks a path, [`judge_change`] one file, [`judge_together`] a whole patch: protected
//! files, manifests by the keys that differ, what the test command runs, existing tests, and lines that turn tests green by
//! other means than a repair. *May this text be shown?* [`Redactor`] masks secrets; [`sanitize_log`] makes plain text of what
//! programs print.
//!
//! Each answer that refuses is a problem with a code. The rows are in tables (`*.toml`) that the tests read; the code has
//! the order in which they decide.

mod change;
mod changed_lines;
mod commands;
mod globs;
mod guards;
mod invisible;
mod manifest;
mod path_safety;
mod read;
#[cfg(feature = "program")]
mod redact;
mod sanitize;
#[cfg(feature = "program")]
mod secrets;
mod suspicion;
mod test_change;
mod test_files;

pub use change::{ChangeLimits, ChangeRules, ChangedFile, judge_change, judge_together};
pub use commands::CommandFiles;
pub use guards::{Allowed, When};
pub use invisible::text_warnings;
pub use manifest::{Dependencies, unreadable};
pub use path_safety::check_path;
pub use read::{PolicyError, ReadPolicy, ReadRules};
#[cfg(feature = "program")]
pub use redact::Redactor;
pub use sanitize::{decode_log, sanitize_log};
#[cfg(feature = "program")]
pub use secrets::{is_secret_name, to_base64, to_base64_url};
pub use suspicion::find_suspicious;
pub use test_files::{TEST_FOLDERS, is_test, is_test_name, is_test_text};
