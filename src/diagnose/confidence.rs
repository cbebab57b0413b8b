/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The service says that the job passed.
    Service,
    /// A runner says that all went well, and nothing says otherwise.
    Runner,
    /// Reports of failing tests.
    Tests {
        /// Every test died of the same.
        unanimous: bool,
        /// More than half did.
        majority: bool,
        /// A rule knows the words.
        recognised: bool,
        /// It is an expectation that did not hold.
        assertion: bool,
    },
    /// Lines that rules know.
    Lines {
        /// The weight of the best.
        weight: u8,
        /// Other kinds about as near to the root cause.
        rivals: usize,
        /// Whether a line says it, not only the exit code.
        in_log: bool,
        /// Whether the service says which step failed.
        step: bool,
        /// Whether much else stands in the log.
        long: bool,
        /// Whether the command is known to have passed.
        passed: bool,
    },
}

/// The most that an error of no known kind is worth which no stack shows to be of the program under test.
pub(super) const UNFRAMED: f64 = 0.6;

/// The confidence of a verdict, 0 to 1: the share of answers like it that were right, measured on
/// labelled logs of public jobs (the table stands in docs).
pub(super) fn of(source: Source) -> f64 {
    steps(match source {
        Source::Service => 0.95,
        Source::Runner => 0.85,
        Source::Tests {
            unanimous,
            majority,
            recognised,
            assertion,
        } => {
            let base: f64 = if assertion {
                0.95
            } else if recognised {
                0.9
            } else {
                0.8
            };
            let split = if unanimous {
                0.0
            } else if majority {
                0.15
            } else {
                0.3
            };
            base - split
        }
        Source::Lines {
            weight,
            rivals,
            in_log,
            step,
            long,
            passed,
        } => {
            let base: f64 = match weight {
                65.. => 0.95,
                40..=64 => 0.85,
                25..=39 => 0.9,
                20..=24 => 0.7,
                _ => 0.4,
            };
            // In a long log that no service cut into steps a line may be of something else.
            let base = if step || !long { base } else { base.min(0.85) };
            let rivals = 0.15 * f64::from(u8::try_from(rivals.min(3)).unwrap_or(3));
            let in_log = if in_log { 0.0 } else { 0.25 };
            let passed = if passed { 0.4 } else { 0.0 };
            (base - rivals - in_log - passed).clamp(0.05, 0.95)
        }
    })
}

/// Rounds to steps of 0.05.
pub(super) fn steps(value: f64) -> f64 {
    (value * 20.0).round() / 20.0
}
