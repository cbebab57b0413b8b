//! Chooses the command that a user should type next.

use crate::model::{Remedy, RunSummary, WhyDocument, WhyReason, WhyVerdict};

/// What is known of a failure when the next step is chosen.
#[derive(Debug, Clone, Copy, Default)]
pub struct NextFacts<'a> {
    /// Problems of the environment.
    pub environment: &'a [Remedy],
    /// Whether `mendit fix` has a certain fix.
    pub is_certain: bool,
    /// Whether a certain import is missing from a test, which `mendit fix` leaves alone.
    pub is_certain_in_test: bool,
    /// Whether it has candidates to try.
    pub may_fix: bool,
    /// Whether one of them comes before reverting the culprit, which would break tests.
    pub fix_first: bool,
    /// The change that made it fail.
    pub culprit: Culprit,
    /// An agent that is installed.
    pub agent: Option<&'a str>,
}

/// Whether the change that made a command fail is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Culprit {
    /// It may be found.
    #[default]
    Unknown,
    /// The search ended without a culprit.
    NoChange,
    /// The failing tests are new: no change broke them.
    NewTest,
    /// It is known.
    Known,
    /// It is this many changes, and one patch reverts them.
    Undoable(usize),
    /// The cause lies outside the code.
    Outside,
}

impl Culprit {
    /// What a search says of it.
    pub fn of_search(found: &WhyDocument) -> Self {
        match found.reason {
            _ if found.undo.is_some() => Self::Undoable(found.cause.len()),
            _ if found.verdict == WhyVerdict::NotByThisChange => Self::NoChange,
            Some(WhyReason::NewTest) => Self::NewTest,
            _ => Self::Unknown,
        }
    }

    /// Whether the culprit of a failed run is known.
    pub fn of_run(summary: &RunSummary, found: Option<&WhyDocument>) -> Self {
        match found.map_or(Self::Unknown, Self::of_search) {
            Self::Unknown if summary.cause.is_some() => Self::Known,
            Self::Unknown if summary.requires_user_action => Self::Outside,
            culprit => culprit,
        }
    }
}

/// The commands to type next, the most useful first, at most three.
pub fn next_steps(facts: &NextFacts<'_>) -> Vec<String> {
    let mut steps = Vec::new();
    for remedy in facts.environment {
        let command = remedy.command.as_ref();
        steps.extend(command.map(|line| format!("{line}  ({})", remedy.problem)));
    }
    let mut offer = |command: &str, what: &str| steps.push(format!("{command}  ({what})"));
    if facts.is_certain && !facts.may_fix {
        offer("mendit fix", "applies the certain fixes");
    }
    // Three tries take less time than a search for the culprit.
    let is_early = facts.is_certain || facts.fix_first || facts.culprit == Culprit::Unknown;
    if facts.may_fix && is_early {
        offer("mendit fix", "tries the fixes above");
    }
    match facts.culprit {
        Culprit::Undoable(1) => offer("mendit fix --undo", "reverts that change"),
        Culprit::Undoable(_) => offer("mendit fix --undo", "reverts those changes"),
        Culprit::Unknown => offer("mendit why", "finds the change that broke it"),
        Culprit::NoChange if facts.environment.is_empty() => {
            offer("mendit why", "looks at older commits");
        }
        Culprit::NewTest => offer("mendit context", "shows the code that the new tests reach"),
        Culprit::Known | Culprit::NoChange | Culprit::Outside => {}
    }
    if facts.is_certain_in_test {
        offer("mendit hint --apply", "adds the import; fix edits no tests");
    }
    if facts.may_fix && !is_early {
        offer("mendit fix", "tries the fixes above");
    }
    if let Some(agent) = facts.agent.filter(|_| facts.culprit != Culprit::Outside) {
        offer(&format!("mendit fix --agent {agent}"), "asks the agent");
    }
    // Where a revert makes the tests pass, the environment did not break them.
    let is_found = matches!(facts.culprit, Culprit::Undoable(_));
    steps.sort_by_key(|step| is_found && !step.starts_with("mendit "));
    // A longer list is not read.
    steps.truncate(3);
    steps
}

#[cfg(test)]
mod tests {
    use super::{Culprit, NextFacts, next_steps};
    use crate::model::Remedy;

    #[test]
    fn next_steps_follow_what_is_known() {
        let remedy = [Remedy::new(
            "a package is missing",
            Some("npm ci".to_owned()),
        )];
        let facts = NextFacts::default();
        let undo = NextFacts {
            culprit: Culprit::Undoable(1),
            ..facts
        };
        let outside = NextFacts {
            environment: &remedy,
            culprit: Culprit::Outside,
            ..facts
        };
        let with_manager = NextFacts {
            environment: &remedy,
            ..undo
        };
        let certain = NextFacts {
            is_certain: true,
            agent: Some("claude"),
            ..undo
        };
        let candidates = NextFacts {
            may_fix: true,
            ..facts
        };
        let reverted = NextFacts {
            may_fix: true,
            ..undo
        };
        let renamed = NextFacts {
            fix_first: true,
            ..reverted
        };
        let either = NextFacts {
            may_fix: true,
            ..certain
        };
        assert_eq!(
            next_steps(&either)[0],
            "mendit fix  (tries the fixes above)"
        );
        for (facts, commands) in [
            (candidates, &["mendit fix", "mendit why"][..]),
            (reverted, &["mendit fix --undo", "mendit fix"]),
            (renamed, &["mendit fix", "mendit fix --undo"]),
            (facts, &["mendit why"][..]),
            (undo, &["mendit fix --undo"]),
            (outside, &["npm ci"]),
            (with_manager, &["mendit fix --undo", "npm ci"]),
            (
                certain,
                &[
                    "mendit fix", "mendit fix --undo", "mendit fix --agent claude",
                ],
            ),
        ] {
            let steps = next_steps(&facts);
            let typed: Vec<&str> = steps.iter().filter_map(|it| it.split("  ").next()).collect();
            assert_eq!(typed, commands);
        }
    }
}
