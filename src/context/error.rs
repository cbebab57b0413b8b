//! The errors of building a packet.

use crate::model::Code;

/// Why no packet can be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// Level 4 without the flag that permits it.
    #[error("level 4 holds the whole repository and must be permitted")]
    BundleNotPermitted,
    /// A log was given and there is nothing in it.
    #[error("the log is empty")]
    EmptyLog,
    /// An issue was given and there is nothing in it.
    #[error("the issue is empty")]
    EmptyIssue,
}

impl ContextError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::BundleNotPermitted => Code::C110,
            Self::EmptyLog | Self::EmptyIssue => Code::C320,
        }
    }
}
