use super::rules::{rule, unknown};
use super::{Probe, Surroundings};
use crate::model::Diagnosis;

/// What was tried so far, and what a choice may use.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    /// The configuration that failed now.
    pub current: &'a Probe,
    /// The configurations that failed before, the first as it was given, and why.
    pub earlier: &'a [(Probe, Diagnosis)],
    /// What stands around the probe.
    pub surroundings: &'a Surroundings,
    /// Addresses on this machine that the program said it listens on.
    pub said_urls: &'a [String],
    /// The last lines of what it said, redacted.
    pub tail: &'a str,
}

impl<'a> History<'a> {
    /// The configuration as it was given.
    pub(super) fn first(&self) -> &'a Probe {
        self.earlier
            .first()
            .map_or(self.current, |(probe, _)| probe)
    }

    pub(super) fn was_tried(&self, probe: &Probe) -> bool {
        self.current.starts_as(probe) || self.earlier.iter().any(|(it, _)| it.starts_as(probe))
    }
}

/// The fix to try next: of the diagnosis's rule (R35) the first change that was not tried before;
/// when there is none, one that an earlier configuration still has open; else what a person must
/// do. Pure.
///
/// Nothing in a log is ever run or installed: a package comes from a manifest, a lock or the
/// configuration itself, an address from the configuration, a compose file, or what the program
/// says about this machine.
#[must_use]
pub fn next(diagnosis: &Diagnosis, history: &History<'_>) -> Fix {
    let newest = std::iter::once((history.current, diagnosis));
    let before = history.earlier.iter().rev();
    let stages: Vec<_> = newest
        .chain(before.map(|(probe, diagnosis)| (probe, diagnosis)))
        .map(|(current, diagnosis)| {
            propose(
                diagnosis,
                &History {
                    current,
                    ..*history
                },
            )
        })
        .collect();
    let open = |fix: &&Fix| {
        let probe = fix.new_config.as_ref();
        !fix.requires_user_action && probe.is_some_and(|probe| !history.was_tried(probe))
    };
    if let Some(fix) = stages.iter().flatten().find(open) {
        return fix.clone();
    }
    // A change that led to another known failure got further; one that led nowhere says nothing.
    let first = history.earlier.first().map(|(_, diagnosis)| diagnosis.kind);
    let further =
        first.is_none_or(|first| first != diagnosis.kind) && rule(diagnosis.kind).is_some();
    let stage = if further {
        stages.first()
    } else {
        stages.last()
    };
    let person = stage.and_then(|fixes| fixes.iter().find(|fix| fix.requires_user_action));
    person
        .cloned()
        .unwrap_or_else(|| Fix::person(diagnosis.suggested_fix.clone()))
}

fn propose(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    rule(diagnosis.kind).unwrap_or(unknown)(diagnosis, history)
}

/// A change that may make a probe answer (R34).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, or what a person shall do, in one sentence.
    pub description: String,
    /// The changed probe; `None` when nothing can be changed without a person.
    pub new_config: Option<Probe>,
    /// A command that a person may want to run. Never run by this program.
    pub install_command: Option<String>,
    /// The variable that is missing.
    pub env_var_hint: Option<String>,
    /// Whether only a person can do it. Such a fix is never applied (R38).
    pub requires_user_action: bool,
}

impl Fix {
    /// A changed configuration to try.
    pub(super) fn change(description: impl Into<String>, probe: Probe) -> Self {
        Self {
            description: description.into(),
            new_config: Some(probe),
            install_command: None,
            env_var_hint: None,
            requires_user_action: false,
        }
    }

    /// Something that only a person can do.
    pub(super) fn person(description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            new_config: None,
            install_command: None,
            env_var_hint: None,
            requires_user_action: true,
        }
    }

    pub(super) fn run(mut self, command: impl Into<String>) -> Self {
        self.install_command = Some(command.into());
        self
    }

    pub(super) fn variable(mut self, name: Option<&str>) -> Self {
        self.env_var_hint = name.map(str::to_owned);
        self
    }
}
