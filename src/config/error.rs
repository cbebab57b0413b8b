//! The errors of settings.

use crate::model::Code;

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// The problem and its place.
    pub message: String,
    /// The stable code of the error.
    pub code: Code,
    /// What to do about it; empty where the message says it.
    pub hint: String,
}

impl ConfigError {
    pub(super) fn new(message: String, hint: impl Into<String>) -> Self {
        Self {
            message,
            code: Code::U103,
            hint: hint.into(),
        }
    }

    /// A file that cannot be read.
    #[must_use]
    pub fn unreadable(file: &str, reason: &str) -> Self {
        let hint = "`--config FILE` needs an existing file; `mendit config show` prints the source of each setting";
        Self::new(format!("cannot read `{file}`: {reason}"), hint)
    }

    /// A setting that a file of the repository may not change so.
    pub(super) fn untrusted(key: &str, place: &str, why: &str) -> Self {
        let message =
            format!("`{key}` is not allowed in {place}, which came with the repository: it {why}");
        Self {
            code: Code::U106,
            ..Self::new(
                message,
                "set it in your own file or by a flag, or pass `--trust-config`",
            )
        }
    }
}
