use crate::model::Code;

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read `{file}`: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// The file is not TOML.
    #[error("`{file}` is not valid TOML: {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// The line, and the parser's words.
        reason: String,
    },
    /// A key that does not exist.
    #[error("unknown setting `{key}` in {place}")]
    UnknownKey {
        /// The key.
        key: String,
        /// File or environment.
        place: String,
        /// The key that was perhaps meant.
        suggestion: Option<String>,
    },
    /// A value of the wrong type.
    #[error("`{key}` in {place} must be {expected}")]
    WrongValue {
        /// The key.
        key: String,
        /// File or environment.
        place: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A key that a file of the repository may not set.
    #[error("`{key}` is not allowed in {place}, which came with the repository: it {why}")]
    Untrusted {
        /// The key.
        key: String,
        /// The file.
        place: String,
        /// Why not.
        why: String,
    },
}

impl ConfigError {
    /// The stable code of the error.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Untrusted { .. } => Code::U106,
            _ => Code::U103,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey {
                suggestion: Some(key),
                ..
            } => Some(format!("did you mean `{key}`?")),
            Self::UnknownKey { .. } => Some("`mendit config show` lists every setting".to_owned()),
            Self::Untrusted { .. } => Some(
                "set it in your own file or by a flag, or pass `--trust-config`"
                    .to_owned(),
            ),
            Self::Unreadable { .. } => Some(
                "`--config FILE` names a file that is there; `mendit config show` says where each setting \
                 is from"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
