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
