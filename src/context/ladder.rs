use crate::model::{FailureKind, Level, StopReason};

use super::error::ContextError;

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
    if let LevelChoice::Exactly(level) = choice {
        if level == Level::Bundle && !include_bundle {
            return Err(ContextError::BundleNotPermitted);
        }
        return Ok((level, format!("level {level} was asked for")));
    }
    if include_bundle {
        return Ok((
            Level::Bundle,
            "the whole repository was asked for".to_owned(),
        ));
    }
    if requested > 0 {
        let files = if requested == 1 { "file" } else { "files" };
        return Ok((
            Level::Requested,
            format!("{requested} {files} were requested"),
        ));
    }
    let (first, first_reason) = first_level(purpose.into());
    let Some(stop_reason) = retry.stop_reason else {
        return Ok((first, first_reason));
    };
    let before = retry.level.unwrap_or(first);
    if !more_context_helps(stop_reason) {
        return Ok((
            before,
            format!(
                "the attempt before ended with {stop_reason}, which more context does not change"
            ),
        ));
    }
    let next = match before {
        Level::Targets => Level::OneHop,
        _ => Level::TwoHops,
    };
    let reason = if before >= Level::TwoHops {
        format!(
            "the attempt before ended with {stop_reason}; level 2 is the last without a request"
        )
    } else {
        format!("the attempt before, at level {before}, ended with {stop_reason}")
    };
    Ok((next, reason))
}

fn first_level(purpose: Purpose) -> (Level, String) {
    let kind = match purpose {
        Purpose::Log(kind) => kind,
        Purpose::Issue => {
            let reason = "an issue says what is wanted, not where: many files are looked through";
            return (Level::TwoHops, reason.to_owned());
        }
    };
    match kind {
        Some(FailureKind::None) => (
            Level::OneHop,
            "the log tells of no failure; what it names is shown with its imports".to_owned(),
        ),
        Some(FailureKind::Unknown) => (
            Level::OneHop,
            "no rule knows the failure, and other files usually explain one".to_owned(),
        ),
        Some(kind) if !MENDED_WHERE_SAID.contains(&kind) => (
            Level::OneHop,
            format!("the failure is {kind}, which other files usually explain"),
        ),
        Some(kind) => (
            Level::Targets,
            format!("the failure is {kind}, which is mended where the log says"),
        ),
        None => (Level::Targets, "first attempt without a log".to_owned()),
    }
}

// Of other failures the line that the log names is where they show, not where they come from.
const MENDED_WHERE_SAID: [FailureKind; 2] = [FailureKind::SyntaxError, FailureKind::LintError];

fn more_context_helps(stop_reason: StopReason) -> bool {
    match stop_reason {
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
        | StopReason::RequestedFiles => true,
        StopReason::Fixed
        | StopReason::NothingToRepair
        | StopReason::AgentError
        | StopReason::AgentTimeout
        | StopReason::WorkplaceUnused
        | StopReason::WorktreeChanged
        | StopReason::BudgetExhausted
        | StopReason::Flaky
        | StopReason::UserActionRequired
        | StopReason::InvalidTask
        | StopReason::Interrupted => false,
    }
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
