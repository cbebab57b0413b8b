use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::exec::{End, Outcome, TimeLimit};
use crate::model::{Diagnosis, FailureKind as Kind, Observed, TestResult};

/// What a change did to a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The commands pass.
    Fixed,
    /// The same failure.
    Same,
    /// Part of it is gone and nothing came.
    Better,
    /// Another failure, neither better nor worse.
    Changed,
    /// Something that worked no longer does.
    Regressed,
}

/// What one run of the commands says.
#[must_use]
pub fn observe(outcome: &Outcome, diagnosis: &Diagnosis) -> Observed {
    let mut failing_tests = diagnosis.failing_tests.clone();
    failing_tests.sort();
    failing_tests.dedup();
    let passed = outcome.end == End::Exit(0);
    Observed {
        passed,
        kind: match outcome.end {
            End::TimedOut(_) => Kind::Timeout,
            End::NotFound => Kind::CommandNotFound,
            End::NotExecutable => Kind::PermissionDenied,
            _ => diagnosis.kind,
        },
        subkind: diagnosis.subkind.as_ref().map(|it| it.0.clone()),
        message: if passed {
            "the commands pass".to_owned()
        } else {
            diagnosis.explanation.clone()
        },
        signature: signature(diagnosis, &failing_tests),
        failing_tests,
        requires_user_action: diagnosis.requires_user_action,
        undefined_names: diagnosis.undefined_names.clone(),
        test_result: test_result(outcome),
    }
}

/// Compares what fails before and after a change (S4's partial success; "regressed").
#[must_use]
pub fn effect(before: &Observed, after: &Observed) -> Effect {
    if after.passed {
        return Effect::Fixed;
    }
    if before.signature == after.signature {
        return Effect::Same;
    }
    let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    let (old, new) = (set(&before.failing_tests), set(&after.failing_tests));
    if !old.is_empty() && !new.is_empty() {
        return match (new.is_subset(&old), new == old) {
            (true, false) => Effect::Better,
            (true, true) => Effect::Changed,
            _ if old.is_subset(&new) || breaks(after.kind) => Effect::Regressed,
            _ => Effect::Changed,
        };
    }
    let (old, new) = (set(&before.undefined_names), set(&after.undefined_names));
    if before.kind == after.kind && !new.is_empty() && new.is_subset(&old) && new != old {
        return Effect::Better;
    }
    if after.test_result.timed_out && !before.test_result.timed_out {
        return Effect::Regressed;
    }
    // What stops the code from loading hides everything that worked before.
    if breaks(after.kind) && !breaks(before.kind) {
        return Effect::Regressed;
    }
    if breaks(before.kind) && !breaks(after.kind) && after.kind != Kind::Unknown {
        return Effect::Better;
    }
    Effect::Changed
}

fn breaks(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::SyntaxError | Kind::ImportError | Kind::TestSetupError | Kind::CommandNotFound
    )
}

/// How the command ended, in numbers and in words.
#[must_use]
pub(super) fn test_result(outcome: &Outcome) -> TestResult {
    let message = match &outcome.end {
        End::Exit(code) => format!("exit code {code}"),
        End::Signal(signal) => format!("killed by signal {signal}"),
        End::TimedOut(TimeLimit::Total) => "stopped at its time limit".to_owned(),
        End::TimedOut(TimeLimit::Idle) => "stopped after it wrote nothing for too long".to_owned(),
        End::OutputLimit => "stopped at the limit of its output".to_owned(),
        End::NotFound => "command not found".to_owned(),
        End::NotExecutable => "not executable".to_owned(),
        End::Interrupted => "interrupted".to_owned(),
    };
    let code = match outcome.end {
        End::Exit(code) => Some(code),
        _ => None,
    };
    TestResult {
        exit: code,
        signal: match outcome.end {
            End::Signal(signal) => Some(signal),
            _ => None,
        },
        timed_out: matches!(outcome.end, End::TimedOut(_)),
        leaked: outcome.leaked,
        duration_seconds: seconds(outcome.duration),
        message: match code {
            // What a POSIX shell says of a command that is not there.
            Some(127) => "exit code 127: command not found".to_owned(),
            _ => message,
        },
    }
}

/// Seconds in steps of a millisecond.
#[must_use]
pub(super) fn seconds(duration: std::time::Duration) -> f64 {
    duration.as_millis() as f64 / 1000.0
}

// Tests identify a failure; without any, names and evidence do, numbers left out of it.
fn signature(diagnosis: &Diagnosis, failing_tests: &[String]) -> String {
    let mut digest = Sha256::new();
    let mut say = |part: &str| {
        digest.update(part.as_bytes());
        digest.update(b"\0");
    };
    say(&diagnosis.kind.to_string());
    say(diagnosis.subkind.as_ref().map_or("", |it| &it.0));
    for test in failing_tests {
        say(test);
    }
    if failing_tests.is_empty() {
        for names in [
            &diagnosis.undefined_names,
            &diagnosis.missing_modules,
            &diagnosis.missing_exports,
        ] {
            for name in names {
                say(name);
            }
            say("");
        }
        for evidence in &diagnosis.evidence {
            let text: String = evidence
                .text
                .chars()
                .filter(|char| !char.is_ascii_digit())
                .collect();
            say(&text);
        }
    }
    let bytes: [u8; 32] = digest.finalize().into();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Effect, effect};
    use crate::model::{FailureKind as K, Observed, TestResult};

    fn failing(kind: K, tests: &[&str], names: &[&str]) -> Observed {
        let owned = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        Observed {
            passed: false,
            kind,
            subkind: None,
            message: String::new(),
            failing_tests: owned(tests),
            signature: format!("{kind} {tests:?} {names:?}"),
            requires_user_action: false,
            undefined_names: owned(names),
            test_result: TestResult::default(),
        }
    }

    #[test]
    fn effects_are_this_table() {
        let two = failing(K::TestFailure, &["a", "b"], &[]);
        let rows = [
            (two.clone(), two.clone(), Effect::Same),
            (
                two.clone(),
                failing(K::TestFailure, &["a"], &[]),
                Effect::Better,
            ),
            (
                two.clone(),
                failing(K::TestFailure, &["a", "b", "c"], &[]),
                Effect::Regressed,
            ),
            (
                two.clone(),
                failing(K::TestFailure, &["c"], &[]),
                Effect::Changed,
            ),
            (
                two.clone(),
                failing(K::SyntaxError, &[], &[]),
                Effect::Regressed,
            ),
            (
                failing(K::ImportError, &[], &["x", "y"]),
                failing(K::ImportError, &[], &["y"]),
                Effect::Better,
            ),
            (
                failing(K::ImportError, &[], &["x"]),
                failing(K::ImportError, &[], &["z"]),
                Effect::Changed,
            ),
            (
                failing(K::ImportError, &[], &["x"]),
                two.clone(),
                Effect::Better,
            ),
            (
                two.clone(),
                Observed {
                    passed: true,
                    ..two
                },
                Effect::Fixed,
            ),
        ];
        for (before, after, expected) in rows {
            assert_eq!(effect(&before, &after), expected, "{before:?} {after:?}");
        }
    }
}
