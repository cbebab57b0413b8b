use std::time::Duration;

use crate::model::{FailureKind as Kind, Observed};

/// How long the first run of the commands may take when nobody says: half of what there is for
/// everything, so that a slow suite is measured rather than cut off.
#[must_use]
pub(super) fn first_limit(max_seconds: Option<f64>) -> Duration {
    let half = max_seconds.map_or(LONGEST, |all| (all / 2.0).clamp(LEAST, LONGEST));
    Duration::try_from_secs_f64(half).unwrap_or(Duration::from_hours(1))
}

/// How long later runs may take, from the first: five times as long, since a mended suite runs
/// further than a broken one. One that stopped before any test ran measures nothing.
#[must_use]
pub(super) fn later_limit(first: &Observed, seconds: f64, limit: Duration) -> Duration {
    let measures_nothing = first.test_result.timed_out
        || matches!(
            first.kind,
            Kind::SyntaxError
                | Kind::ImportError
                | Kind::TestSetupError
                | Kind::ConfigError
                | Kind::CommandNotFound
                | Kind::DependencyError
        );
    if measures_nothing {
        return limit;
    }
    Duration::try_from_secs_f64((seconds * TIMES).max(LEAST)).unwrap_or(limit)
}

const TIMES: f64 = 5.0;
// Seconds.
const LEAST: f64 = 120.0;
const LONGEST: f64 = 3600.0;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{first_limit, later_limit};
    use crate::model::{FailureKind as K, Observed, TestResult};

    #[test]
    fn the_first_run_measures_the_others() {
        assert_eq!(first_limit(Some(1800.0)).as_secs(), 900);
        assert_eq!(first_limit(Some(10.0)).as_secs(), 120);
        assert_eq!(first_limit(None).as_secs(), 3600);
        let limit = Duration::from_mins(15);
        for (kind, timed_out, took, expected) in [
            (K::TestFailure, false, 2.0, 120),
            (K::TestFailure, false, 300.0, 1500),
            (K::ImportError, false, 2.0, 900),
            (K::Timeout, true, 900.0, 900),
        ] {
            let first = Observed {
                kind,
                test_result: TestResult {
                    timed_out,
                    ..TestResult::default()
                },
                ..Observed::default()
            };
            assert_eq!(later_limit(&first, took, limit).as_secs(), expected);
        }
    }
}
