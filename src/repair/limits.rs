//! Tracks time, money and attempts against the budget.

use std::time::Duration;

use super::plan::Policy;
use crate::model::{AttemptResult, FailureKind as Kind, Observed, Origin};

/// What was spent of what a [`Policy`] allows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub(super) calls: u32,
    pub(super) bytes: u64,
    pub(super) dollars: f64,
    pub(super) seconds: f64,
}

impl Spent {
    pub(super) fn add_up<'a>(
        attempts: impl IntoIterator<Item = &'a AttemptResult>,
        seconds: f64,
    ) -> Self {
        let none = Self {
            seconds,
            ..Self::default()
        };
        attempts.into_iter().fold(none, |all, one| Self {
            calls: all.calls + u32::from(one.origin == Origin::Agent),
            bytes: all.bytes + one.packet_bytes,
            dollars: all.dollars + one.usage.and_then(|usage| usage.cost_usd).unwrap_or(0.0),
            seconds,
        })
    }

    /// What there is no more of, calls aside; `None` while there is some of everything.
    pub(super) fn used_up(&self, policy: &Policy) -> Option<String> {
        if policy.max_seconds.is_some_and(|all| self.seconds >= all) {
            Some(format!("{TIME_UP}: {:.0} s", self.seconds))
        } else if self.bytes >= policy.max_packet_bytes {
            Some(format!("bytes of packets used up: {}", self.bytes))
        } else {
            let all = policy.max_cost_usd?;
            (self.dollars >= all).then(|| format!("money used up: {:.2} USD", self.dollars))
        }
    }

    /// What the next of `parts` parts that were not begun may spend, and each of the `count` of
    /// them: calls and seconds evenly, bytes and dollars to the end.
    ///
    /// # Errors
    /// What there is no more of.
    pub(super) fn share(&self, policy: &Policy, parts: u32, count: u32) -> Result<Policy, String> {
        if let Some(message) = self.used_up(policy) {
            return Err(message);
        }
        let calls = policy.max_attempts.saturating_sub(self.calls);
        if calls == 0 {
            return Err(format!("attempts used up: {}", self.calls));
        }
        let seconds = policy.max_seconds.map(|all| all - self.seconds);
        let agent_timeout = policy.agent_timeout / f64::from(count.max(1));
        Ok(Policy {
            heal: false,
            max_attempts: calls.div_ceil(parts.max(1)),
            max_seconds: seconds.map(|left| left / f64::from(parts.max(1))),
            max_packet_bytes: policy.max_packet_bytes - self.bytes,
            max_cost_usd: policy.max_cost_usd.map(|all| all - self.dollars),
            // A part's call of the agent gets at least this, unless the whole task got less.
            agent_timeout: agent_timeout.max(policy.agent_timeout.min(30.0)),
            depth: policy.depth + 1,
            estimated_turns: None,
            ..policy.clone()
        })
    }
}

/// How a run begins to say that its seconds are spent.
pub(super) const TIME_UP: &str = "time used up";

/// How long commands may take.
#[derive(Debug, Clone, Copy)]
pub struct RunLimit {
    /// Each of them.
    pub each: Duration,
    /// All of them together: what is left for everything.
    pub all: Option<Duration>,
}

impl RunLimit {
    /// For the next of them after this long; and whether that is what is left for everything.
    pub(super) fn after(self, elapsed: Duration) -> (Duration, bool) {
        let left = self.all.map(|all| all.saturating_sub(elapsed));
        match left.filter(|left| *left < self.each) {
            Some(left) => (left.max(Duration::from_millis(1)), true),
            None => (self.each, false),
        }
    }
}

/// How long the first run of the commands may take without a setting: half of the time for the
/// whole repair, so that a slow suite is measured rather than cut off.
pub(super) fn first_limit(max_seconds: Option<f64>) -> Duration {
    let longest = 3600.0;
    let half = max_seconds.map_or(longest, |all| (all / 2.0).clamp(LEAST, longest).min(all));
    Duration::try_from_secs_f64(half).unwrap_or(Duration::from_hours(1))
}

/// Returns the time limit of later runs: five times the first, since a fixed suite runs further than a
/// broken one. A first run that stopped before any test ran measures nothing.
pub(super) fn later_limit(first: &Observed, seconds: f64, limit: Duration) -> Duration {
    let measures_nothing = first.test_result.timed_out
        || first.kind.is_before_tests()
        || matches!(first.kind, Kind::ConfigError | Kind::DependencyError);
    if measures_nothing {
        return limit;
    }
    Duration::try_from_secs_f64((seconds * 5.0).max(LEAST)).unwrap_or(limit)
}

// Seconds.
const LEAST: f64 = 120.0;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{RunLimit, Spent, first_limit, later_limit};
    use crate::model::{
        AttemptResult, FailureKind as K, Level, Observed, Origin, TestResult, Usage,
    };
    use crate::repair::plan::tests::policy;

    #[test]
    fn parts_share_what_is_left() {
        let policy = crate::repair::Policy {
            heal: true,
            max_cost_usd: Some(1.0),
            max_packet_bytes: 100,
            ..policy()
        };
        let spent = |calls, bytes, dollars, seconds| Spent {
            calls,
            bytes,
            dollars,
            seconds,
        };
        // Five calls are allowed: what one of three parts, and then the last, still gets.
        let first = spent(1, 40, 0.25, 600.0).share(&policy, 3, 3).unwrap();
        assert_eq!((first.max_attempts, first.max_packet_bytes), (2, 60));
        assert_eq!(
            (first.max_seconds, first.agent_timeout),
            (Some(400.0), 100.0)
        );
        assert_eq!((first.max_cost_usd, first.depth), (Some(0.75), 1));
        assert!(!first.heal);
        let only = spent(0, 0, 0.0, 0.0).share(&policy, 1, 1).unwrap();
        assert_eq!((only.max_attempts, only.agent_timeout), (5, 300.0));
        let many = spent(0, 0, 0.0, 0.0).share(&policy, 20, 20).unwrap();
        assert_eq!((many.depth, many.agent_timeout), (1, 30.0));
        let last = spent(4, 40, 0.25, 600.0).share(&policy, 1, 3).unwrap();
        assert_eq!((last.max_attempts, last.max_seconds), (1, Some(1200.0)));
        for (spent, message) in [
            (spent(5, 0, 0.0, 0.0), "attempts used up: 5"),
            (spent(1, 100, 0.0, 0.0), "bytes of packets used up: 100"),
            (spent(1, 0, 1.0, 0.0), "money used up: 1.00 USD"),
            (spent(1, 0, 0.0, 1800.0), "time used up: 1800 s"),
        ] {
            assert_eq!(spent.share(&policy, 1, 3).unwrap_err(), message);
        }
    }

    #[test]
    fn adds_up_calls_and_costs_of_agents() {
        let usage = Usage {
            cost_usd: Some(0.5),
            ..Usage::default()
        };
        let attempt = |origin, usage| AttemptResult {
            usage,
            ..AttemptResult::new(1, origin, Level::Targets)
        };
        let attempts = [
            attempt(Origin::Heal, None),
            attempt(Origin::Agent, Some(usage)),
            attempt(Origin::Agent, None),
        ];
        let spent = Spent::add_up(&attempts, 9.0);
        assert_eq!((spent.calls, spent.dollars), (2, 0.5));
        let unlimited = crate::repair::Policy {
            max_seconds: None,
            ..policy()
        };
        assert_eq!(spent.used_up(&unlimited), None);
    }

    #[test]
    fn total_budget_bounds_run() {
        let seconds = Duration::from_secs;
        let limit = |each, all| RunLimit {
            each: seconds(each),
            all: Some(seconds(all)),
        };
        assert_eq!(limit(120, 300).after(seconds(10)), (seconds(120), false));
        assert_eq!(limit(120, 30).after(seconds(10)), (seconds(20), true));
        let over = limit(120, 30).after(seconds(40));
        assert_eq!(over, (Duration::from_millis(1), true));
    }

    #[test]
    fn first_run_sets_later_limit() {
        assert_eq!(first_limit(Some(1800.0)).as_secs(), 900);
        assert_eq!(first_limit(Some(10.0)).as_secs(), 10);
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
