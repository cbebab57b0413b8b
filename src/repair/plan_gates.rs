//! What ends a run before its attempts are used up, or is no reason to.

use super::history::History;
use super::plan::{Step, next};
use super::plan_table::{after, attempt, observed, policy, with, word};
use crate::model::{
    AgentTrouble, AttemptResult, FailureKind as K, Observed, StopReason as S, TestResult,
    TroubleKind,
};

#[test]
fn the_agents_own_trouble_is_the_headline() {
    let troubled = |kind: TroubleKind| AttemptResult {
        message: "the agent's login failed".to_owned(),
        agent_trouble: Some(AgentTrouble {
            kind,
            end: "exit code 1".to_owned(),
            last_lines: Vec::new(),
            retry_after_seconds: None,
        }),
        ..attempt(1, S::AgentError)
    };
    // What it lacks, how often it failed so, what follows.
    for (kind, times, expected) in [
        (
            TroubleKind::Login,
            1,
            "stop user_action_required agent_error",
        ),
        (
            TroubleKind::Credit,
            1,
            "stop user_action_required agent_error",
        ),
        (TroubleKind::RateLimit, 1, "wait 30, ask 1 for 300"),
        (TroubleKind::RateLimit, 2, "wait 60, ask 1 for 300"),
        (TroubleKind::RateLimit, 3, "stop failed agent_error"),
        (TroubleKind::Crash, 1, "ask 1 for 300"),
        (TroubleKind::Crash, 2, "stop failed agent_error"),
    ] {
        let mut history = after(K::ImportError, vec![troubled(kind); times]);
        // Missing names would be reported, but they are not what stands in the way.
        history.baseline.as_mut().unwrap().undefined_names = vec!["a".to_owned()];
        let step = next(&history, &policy());
        assert_eq!(word(&step), expected, "{kind:?} {times}");
        if let Step::Stop(end) = step {
            assert_eq!(end.message, "the agent's login failed");
        }
    }
    // Its service says how long; nobody waits longer than there is.
    let mut limited = troubled(TroubleKind::RateLimit);
    let named = limited.agent_trouble.as_mut().unwrap();
    named.retry_after_seconds = Some(90.0);
    let mut history = after(K::TsError, vec![limited]);
    assert_eq!(word(&next(&history, &policy())), "wait 90, ask 1 for 300");
    history.seconds = policy().max_seconds.unwrap() - 80.0;
    let Step::Stop(end) = next(&history, &policy()) else {
        panic!("it waits longer than it may");
    };
    assert_eq!(end.reason, S::AgentError);
    assert!(end.message.contains("Waiting 90 s"), "{}", end.message);
    // Nor is it that the attempts are used up.
    let once = with(|it| it.max_attempts = 1);
    let history = after(K::TsError, vec![troubled(TroubleKind::Crash)]);
    assert_eq!(word(&next(&history, &once)), "stop failed agent_error");
}

#[test]
fn the_same_words_twice_at_the_top_end_it() {
    let reply = |level, digest: &str| AttemptResult {
        reply_digest: Some(digest.to_owned()),
        ..attempt(level, S::NoPatch)
    };
    let history = |replies| after(K::TsError, replies);
    let climbs = history(vec![reply(1, "x")]);
    assert_eq!(word(&next(&climbs, &policy())), "ask 2 for 300");
    let again = history(vec![reply(1, "x"), reply(2, "x")]);
    assert_eq!(word(&next(&again, &policy())), "stop failed no_patch");
    let other = history(vec![reply(1, "x"), reply(2, "y")]);
    assert_eq!(word(&next(&other, &policy())), "ask 2 for 300");
}

#[test]
fn a_run_of_which_the_policy_refused_everything_says_so() {
    let replies = vec![
        attempt(0, S::PolicyRejected),
        attempt(1, S::PolicyRejected),
        attempt(2, S::NoPatch),
    ];
    let three = with(|it| it.max_attempts = 3);
    let step = next(&after(K::TestFailure, replies), &three);
    assert_eq!(word(&step), "stop failed policy_rejected");
}

#[test]
fn replies_that_do_not_fit_are_counted_by_level() {
    let replies = vec![
        attempt(1, S::PatchInvalid),
        attempt(2, S::ApplyFailed),
        attempt(2, S::TestsFailed),
        attempt(2, S::NoPatch),
    ];
    let four = with(|it| it.max_attempts = 4);
    let Step::Stop(end) = next(&after(K::TsError, replies), &four) else {
        panic!("it goes on");
    };
    assert_eq!(
        end.message,
        "attempts used up: 4; replies without a patch that fits: 1 at level 1, 2 at level 2"
    );
}

#[test]
fn what_looks_like_a_persons_to_mend_can_be_given_to_the_agent() {
    let code = with(|it| it.treat_as_code = true);
    let gate = "stop user_action_required user_action_required";
    for kind in [
        K::PermissionDenied,
        K::DependencyError,
        K::CommandNotFound,
        K::MissingEnvVar,
    ] {
        let history = after(kind, Vec::new());
        assert_eq!(word(&next(&history, &policy())), gate);
        assert_eq!(word(&next(&history, &code)), "ask 1 for 300");
    }
    let mut package = after(K::ImportError, Vec::new());
    package.baseline.as_mut().unwrap().requires_user_action = true;
    assert_eq!(word(&next(&package, &policy())), gate);
    assert_eq!(word(&next(&package, &code)), "ask 1 for 300");
}

#[test]
fn commands_that_are_slow_are_no_failure_of_the_code() {
    let slow = |tests: &[&str]| History {
        baseline: Some(Observed {
            failing_tests: tests.iter().map(|it| (*it).to_owned()).collect(),
            test_result: TestResult {
                timed_out: true,
                duration_seconds: 900.0,
                ..TestResult::default()
            },
            ..observed(K::Timeout)
        }),
        ..History::default()
    };
    let Step::Stop(end) = next(&slow(&[]), &policy()) else {
        panic!("it goes on");
    };
    assert_eq!(end.reason, S::CommandTimeout);
    assert!(
        end.message.contains("`--test-timeout 2700`"),
        "{}",
        end.message
    );
    assert_eq!(word(&next(&slow(&["t"]), &policy())), "ask 1 for 300");
    for policy in [
        with(|it| it.treat_as_code = true),
        with(|it| it.limit_is_failure = true),
    ] {
        assert_eq!(word(&next(&slow(&[]), &policy)), "ask 1 for 300");
    }
}

#[test]
fn another_failure_than_the_given_logs_is_said() {
    let with = |kind, test: &str| Observed {
        failing_tests: vec![test.to_owned()],
        ..observed(kind)
    };
    let history = |baseline, reported| History {
        baseline: Some(baseline),
        reported: Some(reported),
        ..History::default()
    };
    let person = "stop user_action_required user_action_required";
    let here = with(K::TestFailure, "tests/test_a.py::one");
    for (baseline, reported, expected) in [
        // Seen there and here: that is twice.
        (here.clone(), here.clone(), "ask 1 for 300"),
        (
            here.clone(),
            with(K::TestFailure, "pkg/tests/test_a.py::one"),
            "ask 1 for 300",
        ),
        (
            here.clone(),
            with(K::TestFailure, "tests/test_a.py::two"),
            person,
        ),
        (observed(K::TsError), observed(K::TsError), "ask 1 for 300"),
        (observed(K::TsError), observed(K::LintError), person),
        (
            Observed {
                passed: true,
                ..observed(K::Unknown)
            },
            here,
            "stop user_action_required nothing_to_repair",
        ),
    ] {
        let shown = format!("{baseline:?} {reported:?}");
        assert_eq!(
            word(&next(&history(baseline, reported), &policy())),
            expected,
            "{shown}"
        );
    }
}
