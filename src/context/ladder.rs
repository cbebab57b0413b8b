use crate::model::{FailureKind, Level, StopReason};

use super::error::ContextError;
use super::request::Request;

/// The rung a caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LevelChoice {
    /// Whatever the evidence calls for.
    #[default]
    Auto,
    /// This one.
    Exactly(Level),
}

/// What is known of the attempt before this packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retry {
    /// How it ended; `None` for a first attempt.
    pub stop_reason: Option<StopReason>,
    /// The rung it was given.
    pub level: Option<Level>,
}

/// What a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// What a log tells of; `None` without one.
    Log(Option<FailureKind>),
    /// What a person asks for.
    Issue,
}

impl From<Option<FailureKind>> for Purpose {
    fn from(kind: Option<FailureKind>) -> Self {
        Self::Log(kind)
    }
}

/// Chooses the rung of the ladder and says why in one sentence.
///
/// # Errors
/// [`ContextError::BundleNotPermitted`] when level 4 is asked for without its flag.
pub fn choose_level(
    choice: LevelChoice,
    purpose: impl Into<Purpose>,
    retry: Retry,
    requested: usize,
    include_bundle: bool,
) -> Result<(Level, String), ContextError> {
    let (first, reason) = first_level(purpose.into());
    let (level, trigger) = climb(choice, first, retry, requested, include_bundle)?;
    let before = retry.level.unwrap_or(first);
    let reason = match trigger {
        Trigger::Asked => format!("level {level} was asked for"),
        Trigger::Bundle => "the whole repository was asked for".to_owned(),
        Trigger::Requested if requested == 1 => "1 file was requested".to_owned(),
        Trigger::Requested => format!("{requested} files were requested"),
        Trigger::First => reason,
        Trigger::Ended(ended) if !more_context_helps(ended) => {
            format!("the attempt before ended with {ended}, which more context does not change")
        }
        Trigger::Ended(ended) if before >= Level::TwoHops => {
            format!("the attempt before ended with {ended}; level 2 is the last without a request")
        }
        Trigger::Ended(ended) => {
            format!("the attempt before, at level {before}, ended with {ended}")
        }
    };
    Ok((level, reason))
}

/// Chooses the rung by the letter of the specification, and names the trigger in one word: the kind
/// of the failure, the end of the attempt before, or who asked.
pub(super) fn choose_spec_level(
    request: &Request,
    purpose: Purpose,
    requested: usize,
    message: &str,
) -> Result<(Level, String), ContextError> {
    let kind = match purpose {
        Purpose::Log(kind) => kind.unwrap_or(FailureKind::Unknown),
        Purpose::Issue => FailureKind::Unknown,
    };
    let is_named = SPEC_WORDS.iter().any(|word| message.contains(word));
    let first = if SPEC_KINDS.contains(&kind) || is_named {
        Level::OneHop
    } else {
        Level::Targets
    };
    let include = request.include_bundle;
    let (level, trigger) = climb(request.level, first, request.retry, requested, include)?;
    let word = match trigger {
        Trigger::Asked => "level_requested".to_owned(),
        Trigger::Bundle => "include_repo_bundle".to_owned(),
        Trigger::Requested => StopReason::RequestedFiles.to_string(),
        Trigger::First => kind.to_string(),
        Trigger::Ended(ended) => ended.to_string(),
    };
    Ok((level, word))
}

/// Kinds of failures and words of a message that start at level 1 in the specification.
const SPEC_KINDS: [FailureKind; 4] = [
    FailureKind::TsError,
    FailureKind::ImportError,
    FailureKind::ZodError,
    FailureKind::DrizzleError,
];
const SPEC_WORDS: [&str; 4] = ["Cannot find", "Module not found", "Type", "Schema"];

/// What decided the rung.
enum Trigger {
    Asked,
    Bundle,
    Requested,
    First,
    Ended(StopReason),
}

fn climb(
    choice: LevelChoice,
    first: Level,
    retry: Retry,
    requested: usize,
    include_bundle: bool,
) -> Result<(Level, Trigger), ContextError> {
    if let LevelChoice::Exactly(level) = choice {
        if level == Level::Bundle && !include_bundle {
            return Err(ContextError::BundleNotPermitted);
        }
        return Ok((level, Trigger::Asked));
    }
    Ok(match retry.stop_reason {
        _ if include_bundle => (Level::Bundle, Trigger::Bundle),
        _ if requested > 0 => (Level::Requested, Trigger::Requested),
        None => (first, Trigger::First),
        Some(ended) => {
            let before = retry.level.unwrap_or(first);
            let next = match before {
                _ if !more_context_helps(ended) => before,
                Level::Targets => Level::OneHop,
                _ => Level::TwoHops,
            };
            (next, Trigger::Ended(ended))
        }
    })
}

fn first_level(purpose: Purpose) -> (Level, String) {
    let kind = match purpose {
        Purpose::Issue => return (Level::TwoHops, "an issue says what, not where".to_owned()),
        Purpose::Log(None) => return (Level::Targets, "first attempt without a log".to_owned()),
        Purpose::Log(Some(kind)) => kind,
    };
    let (level, reason) = match kind {
        FailureKind::None => (
            Level::OneHop,
            "the log reports no failure; the files it names are shown with their imports",
        ),
        FailureKind::Unknown => (
            Level::OneHop,
            "no rule knows the failure, and other files usually explain one",
        ),
        _ if FIXED_WHERE_SHOWN.contains(&kind) => {
            let reason = format!("the failure is {kind}, which is fixed where the log says");
            return (Level::Targets, reason);
        }
        _ => {
            let reason = format!("the failure is {kind}, which other files usually explain");
            return (Level::OneHop, reason);
        }
    };
    (level, reason.to_owned())
}

// Of other failures the line that the log names is where they show, not where they come from.
const FIXED_WHERE_SHOWN: [FailureKind; 2] = [FailureKind::SyntaxError, FailureKind::LintError];

fn more_context_helps(ended: StopReason) -> bool {
    matches!(
        ended,
        StopReason::PatchInvalid
            | StopReason::ApplyFailed
            | StopReason::TestsFailed
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
    use super::{LevelChoice, Purpose, Retry, choose_level};
    use crate::context::ContextError;
    use crate::model::{FailureKind as K, Level, StopReason as S};

    #[test]
    fn the_ladder_is_this_table() {
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
                S::TestsFailed,
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
                S::TestsFailed,
                Some(1),
                0,
                2,
                "a failed patch climbs",
            ),
            (
                K::TestFailure,
                S::TestsFailed,
                Some(0),
                0,
                1,
                "level 1 comes before level 2",
            ),
            (
                K::TestFailure,
                S::TestsFailed,
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
                S::TestsFailed,
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
    fn the_bundle_needs_its_flag() {
        let choose =
            |choice, bundle| choose_level(choice, Purpose::Issue, Retry::default(), 0, bundle);
        assert_eq!(
            choose(LevelChoice::Exactly(Level::Bundle), false).unwrap_err(),
            ContextError::BundleNotPermitted
        );
        assert_eq!(choose(LevelChoice::Auto, true).unwrap().0, Level::Bundle);
        assert_eq!(choose(LevelChoice::Auto, false).unwrap().0, Level::TwoHops);
        let exactly = LevelChoice::Exactly(Level::TwoHops);
        assert_eq!(choose(exactly, false).unwrap().0, Level::TwoHops);
    }
}
