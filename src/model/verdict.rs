//! Verdicts, severities and exit codes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StopReason;

/// The answer for a patch or for one hunk; the later in this list, the more it outranks others.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As written.
    #[default]
    Applies,
    /// After the listed corrections.
    AppliesMended,
    /// The files already match the patch.
    AlreadyApplied,
    /// More than one place fits.
    Ambiguous,
    /// The lines that it would replace are missing.
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
    pub const fn applies(self) -> bool {
        matches!(self, Self::Applies | Self::AppliesMended)
    }

    /// How a command ends with this answer, unless a code says otherwise.
    pub fn exit(self) -> Exit {
        match self {
            Self::Applies | Self::AppliesMended | Self::AlreadyApplied => Exit::Yes,
            Self::Unsafe | Self::Refused => Exit::Refused,
            _ => Exit::No,
        }
    }

    /// How an attempt ends whose patch gets this answer, unless a code says otherwise. A patch that
    /// applies has not ended anything yet.
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
    /// The patch cannot be applied.
    Error,
    /// A warning.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// How a task ended, as a process says it with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// 0, yes: it applies, is fixed, was built, all pass.
    Yes,
    /// 1, no: it does not apply, still fails, is below the threshold, there are findings.
    No,
    /// 2: usage, configuration, I/O or environment.
    Environment,
    /// 3: a time limit ended it.
    TimedOut,
    /// 4: action required.
    PersonMustAct,
    /// 5: refused by policy.
    Refused,
    /// 130: interrupted by the person who asked for it.
    Interrupted,
    /// An exit code of `git-apply`, or of a command that is kept because that was asked for.
    Git(u8),
}

impl Exit {
    /// The exit code of the process.
    pub const fn code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Environment => 2,
            Self::TimedOut => 3,
            Self::PersonMustAct => 4,
            Self::Refused => 5,
            Self::Interrupted => 130,
            Self::Git(code) => code,
        }
    }
}
