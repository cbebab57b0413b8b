use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Exit, StopReason};

/// The answer for a patch or for one hunk; the later in this list, the more it outranks others.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As written.
    #[default]
    Applies,
    /// After the listed corrections.
    AppliesMended,
    /// The files already are as the patch would make them.
    AlreadyApplied,
    /// The files hold the new side, and its old side was never in this repository.
    Reversed,
    /// More than one place fits.
    Ambiguous,
    /// It was made against an older state of the file.
    Stale,
    /// The lines it would replace are not there.
    ContextNotFound,
    /// It is not a complete, consistent patch.
    Malformed,
    /// The policy forbids it.
    Refused,
    /// A path or kind of entry that is never written.
    Unsafe,
}

impl Verdict {
    /// Whether the change may be written.
    #[must_use]
    pub const fn applies(self) -> bool {
        matches!(self, Self::Applies | Self::AppliesMended)
    }

    /// How a command ends with this answer, unless a code says otherwise.
    #[must_use]
    pub fn exit(self) -> Exit {
        match self {
            Self::Applies | Self::AppliesMended | Self::AlreadyApplied => Exit::Yes,
            Self::Unsafe | Self::Refused => Exit::Refused,
            _ => Exit::No,
        }
    }

    /// How an attempt ends whose patch gets this answer, unless a code says otherwise. A patch that
    /// applies has not ended anything yet.
    #[must_use]
    pub fn stop_reason(self) -> StopReason {
        match self {
            Self::AlreadyApplied => StopReason::NoPatch,
            Self::Malformed => StopReason::PatchInvalid,
            Self::Unsafe | Self::Refused => StopReason::PolicyRejected,
            _ => StopReason::ApplyFailed,
        }
    }
}

/// Whether a problem stops the patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}
