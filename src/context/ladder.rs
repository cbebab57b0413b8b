//! Chooses the context level from the kind of failure and the last attempt.

use super::request::ContextError;
use crate::model::{FailureKind, Level, StopReason};

/// The level a caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LevelChoice {
    /// Whatever the evidence calls for.
    #[default]
    Auto,
    /// This one.
    Exactly(Level),
}

/// The facts of the attempt before this packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retry {
    /// How it ended; `None` for a first attempt.
    pub stop_reason: Option<StopReason>,
    /// The level it was given.
    pub level: Option<Level>,
}

/// Chooses the level for the failure in a log, `None` without one. Returns it with the reason in one
/// sentence.
///
/// # Errors
/// [`ContextError::BundleNotPermitted`] when level 4 is asked for without its flag.
pub fn choose_level(
    choice: LevelChoice,
    kind: Option<FailureKind>,
    retry: Retry,
    requested: usize,
    include_bundle: bool,
) -> Result<(Level, String), ContextError> {
    let first = first_rung(kind);
    let rung = climb(choice, first, retry, requested, include_bundle)?;
    Ok((rung.level, rung.reason))
}

/// A level.
pub(super) struct Rung {
    pub(super) level: Level,
    /// What decided, in one word, as the specification has it: the kind of the failure, the end of
    /// the attempt before, or who asked.
    pub(super) trigger: String,
    /// The same in a sentence.
    pub(super) reason: String,
}

impl Rung {
    pub(super) fn new(level: Level, trigger: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            level,
            trigger: trigger.into(),
            reason: reason.into(),
        }
    }
}

/// Returns the first level by the letter of the specification.
pub(super) fn first_spec_rung(kind: FailureKind, message: &str) -> Rung {
    let is_named = SPEC_WORDS.iter().any(|word| message.contains(word));
    let level = if SPEC_KINDS.contains(&kind) || is_named {
        Level::OneHop
    } else {
        Level::Targets
    };
    Rung::new(level, kind.to_string(), "")
}

/// Kinds of failures and words of a message that start at level 1 in the specification.
const SPEC_KINDS: [FailureKind; 4] = [
    FailureKind::TsError,
    FailureKind::ImportError,
    FailureKind::ZodError,
    FailureKind::DrizzleError,
];
const SPEC_WORDS: [&str; 4] = ["Cannot find", "Module not found", "Type", "Schema"];

/// Goes from the first level to that which was asked for, or which the end of the attempt before
/// calls for.
pub(super) fn climb(
    choice: LevelChoice,
    first: Rung,
    retry: Retry,
    requested: usize,
    include_bundle: bool,
) -> Result<Rung, ContextError> {
    let rung = match (choice, retry.stop_reason) {
        (LevelChoice::Exactly(Level::Bundle), _) if !include_bundle => {
            return Err(ContextError::BundleNotPermitted);
        }
        (LevelChoice::Exactly(level), _) => {
            let reason = format!("level {level} was requested");
            Rung::new(level, "level_requested", reason)
        }
        _ if include_bundle => {
            let reason = "the whole repository was requested";
            Rung::new(Level::Bundle, "include_repo_bundle", reason)
        }
        _ if requested > 0 => {
            let reason = match requested {
                1 => "1 file was requested".to_owned(),
                _ => format!("{requested} files were requested"),
            };
            Rung::new(
                Level::Requested,
                StopReason::RequestedFiles.to_string(),
                reason,
            )
        }
        (_, None) => first,
        (_, Some(ended)) => {
            let before = retry.level.unwrap_or(first.level);
            let is_last = before >= Level::TwoHops;
            let (level, at, more) = match more_context_helps(ended) {
                false => (before, "", ", which more context does not help"),
                true if is_last => (Level::TwoHops, "", "; level 3 needs a request"),
                true if before == Level::Targets => (Level::OneHop, ", at level 0,", ""),
                true => (Level::TwoHops, ", at level 1,", ""),
            };
            let reason = format!("the previous attempt{at} ended with {ended}{more}");
            Rung::new(level, ended.to_string(), reason)
        }
    };
    Ok(rung)
}

fn first_rung(kind: Option<FailureKind>) -> Rung {
    let Some(kind) = kind else {
        return Rung::new(Level::Targets, "", "first attempt without a log");
    };
    let (level, reason) = match kind {
        FailureKind::None => (Level::OneHop, "the log reports no failure".into()),
        FailureKind::Unknown => (
            Level::OneHop,
            "no rule recognizes the failure, and a fix usually needs more files than the log names"
                .into(),
        ),
        // Other failures show at the line that the log names, but come from elsewhere.
        FailureKind::SyntaxError | FailureKind::LintError => (
            Level::Targets,
            format!("a failure of kind {kind} is usually fixed where the log points"),
        ),
        _ => (
            Level::OneHop,
            format!("a failure of kind {kind} usually needs more files than the log names"),
        ),
    };
    Rung::new(level, kind.to_string(), reason)
}

fn more_context_helps(ended: StopReason) -> bool {
    matches!(
        ended,
        StopReason::PatchInvalid
            | StopReason::ApplyFailed
            | StopReason::StillFailing
            | StopReason::TestsChanged
            | StopReason::Regressed
            | StopReason::Unproven
            | StopReason::NoPatch
            | StopReason::NoProgress
            | StopReason::PolicyRejected
            | StopReason::CommandTimeout
            | StopReason::RequestedFiles
    )
}

#[cfg(test)]
mod tests {
    use super::{LevelChoice, Retry, choose_level, first_spec_rung};
    use crate::context::ContextError;
    use crate::model::{FailureKind as K, Level, StopReason as S};

    #[test]
    fn level_follows_table() {
        // Kind, level, requirement.
        let first = [
            (None, 0, "no log"),
            (
                Some(K::TestFailure),
                1,
                "failed tests start at the code under test; any failed reply climbs",
            ),
            (
                Some(K::RuntimeError),
                1,
                "failed tests start at the code under test; any failed reply climbs",
            ),
            (
                Some(K::Unknown),
                1,
                "failed tests start at the code under test; any failed reply climbs",
            ),
            (
                Some(K::None),
                1,
                "failed tests start at the code under test; any failed reply climbs",
            ),
            (
                Some(K::SyntaxError),
                0,
                "failed tests start at the code under test; any failed reply climbs",
            ),
            (
                Some(K::LintError),
                0,
                "failed tests start at the code under test; any failed reply climbs",
            ),
            (
                Some(K::TsError),
                1,
                "type and import errors start with imports",
            ),
            (
                Some(K::ImportError),
                1,
                "type and import errors start with imports",
            ),
            (
                Some(K::ZodError),
                1,
                "type and import errors start with imports",
            ),
            (
                Some(K::DrizzleError),
                1,
                "type and import errors start with imports",
            ),
        ];
        let first = first.map(|(kind, level, rule)| (kind, None, None, 0, level, rule));
        // Kind, how the attempt before ended and at which level, requests, level, requirement.
        let later = [
            (
                K::LintError,
                S::StillFailing,
                None,
                0,
                1,
                "failed tests start at the code under test; any failed reply climbs",
            ),
            (
                K::TsError,
                S::PatchInvalid,
                Some(1),
                0,
                2,
                "a failed patch climbs",
            ),
            (
                K::TsError,
                S::ApplyFailed,
                None,
                0,
                2,
                "a failed patch climbs",
            ),
            (
                K::TestFailure,
                S::StillFailing,
                Some(1),
                0,
                2,
                "a failed patch climbs",
            ),
            (
                K::TestFailure,
                S::StillFailing,
                Some(0),
                0,
                1,
                "level 1 comes before level 2",
            ),
            (
                K::TestFailure,
                S::StillFailing,
                Some(2),
                0,
                2,
                "files that were asked for, twice at most",
            ),
            (
                K::TestFailure,
                S::AgentTimeout,
                Some(0),
                0,
                0,
                "a time limit splits the task",
            ),
            (
                K::TsError,
                S::StillFailing,
                Some(2),
                2,
                3,
                "files that were asked for, twice at most",
            ),
            (
                K::TestFailure,
                S::PolicyRejected,
                Some(0),
                0,
                1,
                "failed tests start at the code under test; any failed reply climbs",
            ),
            (
                K::TestFailure,
                S::CommandTimeout,
                Some(1),
                0,
                2,
                "failed tests start at the code under test; any failed reply climbs",
            ),
        ];
        let later = later.map(|(kind, ended, at, requested, level, rule)| {
            (Some(kind), Some(ended), at, requested, level, rule)
        });
        let rows = first.into_iter().chain(later);
        for (kind, stop_reason, before, requested, expected, rule) in rows {
            let retry = Retry {
                stop_reason,
                level: before.and_then(Level::from_number),
            };
            let (level, reason) =
                choose_level(LevelChoice::Auto, kind, retry, requested, false).unwrap();
            assert_eq!(level.number(), expected, "{rule}: {reason}");
            assert!(
                !reason.contains("is none") && !reason.contains("is unknown"),
                "{reason}"
            );
        }
    }

    #[test]
    fn level_4_needs_flag() {
        let choose = |choice, bundle| choose_level(choice, None, Retry::default(), 0, bundle);
        assert_eq!(
            choose(LevelChoice::Exactly(Level::Bundle), false).unwrap_err(),
            ContextError::BundleNotPermitted
        );
        assert_eq!(choose(LevelChoice::Auto, true).unwrap().0, Level::Bundle);
        assert_eq!(choose(LevelChoice::Auto, false).unwrap().0, Level::Targets);
        let exactly = LevelChoice::Exactly(Level::TwoHops);
        assert_eq!(choose(exactly, false).unwrap().0, Level::TwoHops);
    }

    #[test]
    fn reason_names_level_and_requests() {
        let reason = |level, requested| {
            let retry = Retry {
                stop_reason: Some(S::StillFailing),
                level: Level::from_number(level),
            };
            choose_level(LevelChoice::Auto, Some(K::TsError), retry, requested, false).unwrap()
        };
        assert!(reason(1, 0).1.contains(", at level 1, ended"));
        assert!(reason(2, 0).1.ends_with("; level 3 needs a request"));
        let requested = "1 file was requested".to_owned();
        assert_eq!(reason(2, 1), (Level::Requested, requested));
    }

    #[test]
    fn spec_level_follows_kind_or_message() {
        for (kind, message, expected) in [
            (K::TsError, "x", Level::OneHop),
            (K::TestFailure, "x", Level::Targets),
            (K::TestFailure, "Module not found: y", Level::OneHop),
        ] {
            let rung = first_spec_rung(kind, message);
            assert_eq!(rung.level, expected, "{kind} {message}");
        }
    }
}
