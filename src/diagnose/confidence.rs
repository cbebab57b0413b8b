//! The confidence of a verdict, 0 to 1: the share of answers like it that were right, measured on
//! labelled logs of public jobs (the table stands in docs).

/// The service says that the job passed.
pub(super) const SERVICE: f64 = 0.95;
/// A runner says that all went well, and nothing says otherwise.
pub(super) const RUNNER: f64 = 0.85;
/// The most that an error of no known kind is worth which no stack shows to be of the program under test.
pub(super) const UNFRAMED: f64 = 0.6;

/// Of reports of failing tests, `most` of `all` of which died of the same: an expectation that did not
/// hold, or what a rule recognises.
pub(super) fn of_tests(most: usize, all: usize, expectation: bool, recognised: bool) -> f64 {
    let base = match (expectation, recognised) {
        (true, _) => 0.95,
        (false, true) => 0.9,
        (false, false) => 0.8,
    };
    let split = if most == all {
        0.0
    } else if most * 2 > all {
        0.15
    } else {
        0.3
    };
    steps(base - split)
}

/// Lines that rules know.
#[expect(clippy::struct_excessive_bools, reason = "each lowers it by itself")]
pub(super) struct Lines {
    /// The weight of the best.
    pub(super) weight: u8,
    /// Other kinds about as near to the root cause.
    pub(super) rivals: usize,
    /// Whether a line says it, not only the exit code.
    pub(super) in_log: bool,
    /// Whether the service says which step failed.
    pub(super) step: bool,
    /// Whether much else stands in the log.
    pub(super) long: bool,
    /// Whether the command is known to have passed.
    pub(super) passed: bool,
}

impl Lines {
    pub(super) fn confidence(&self) -> f64 {
        let base: f64 = match self.weight {
            65.. => 0.95,
            40..=64 => 0.85,
            25..=39 => 0.9,
            20..=24 => 0.7,
            _ => 0.4,
        };
        // In a long log that no service cut into steps a line may be of something else.
        let unsure = self.long && !self.step;
        let base = if unsure { base.min(0.85) } else { base };
        let rivals = 0.15 * f64::from(u8::try_from(self.rivals.min(3)).unwrap_or(3));
        let in_log = if self.in_log { 0.0 } else { 0.25 };
        let passed = if self.passed { 0.4 } else { 0.0 };
        steps((base - rivals - in_log - passed).clamp(0.05, 0.95))
    }
}

/// Rounds to steps of 0.05.
pub(super) fn steps(value: f64) -> f64 {
    (value * 20.0).round() / 20.0
}
