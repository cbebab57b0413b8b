//! The table of the loop: what happened, what follows, which requirement says so.

use super::history::{History, PartsRun, SplitEnd};
use super::plan::{Policy, RunEnd, Step, next};
use crate::model::{
    AttemptResult, FailureKind as K, Level, Observed, Origin, RunStatus, StopReason as S,
};

pub(super) fn policy() -> Policy {
    Policy {
        agent: true,
        heal: false,
        heal_imports: true,
        auto_split: true,
        min_level: Level::Targets,
        max_level: Level::Requested,
        max_attempts: 5,
        max_seconds: Some(1800.0),
        max_packet_bytes: 20_000_000,
        max_cost_usd: None,
        agent_timeout: 300.0,
        depth: 0,
        estimated_turns: None,
        treat_as_code: false,
        limit_is_failure: false,
        counter_proof: true,
        strict: false,
        trace: false,
    }
}

// That policy with one thing otherwise.
pub(super) fn with(change: impl FnOnce(&mut Policy)) -> Policy {
    let mut policy = policy();
    change(&mut policy);
    policy
}

pub(super) fn observed(kind: K) -> Observed {
    Observed {
        kind,
        message: "it fails".to_owned(),
        signature: "s".to_owned(),
        ..Observed::default()
    }
}

pub(super) fn attempt(level: u8, stop_reason: S) -> AttemptResult {
    AttemptResult {
        stop_reason,
        duration_seconds: 1.0,
        message: "so it ended".to_owned(),
        agent_timeout_seconds: 300.0,
        timed_out_agent: stop_reason == S::AgentTimeout,
        packet_bytes: 10,
        ..AttemptResult::new(1, Origin::Agent, Level::from_number(level).unwrap())
    }
}

pub(super) fn after(kind: K, attempts: Vec<AttemptResult>) -> History {
    History {
        baseline: Some(observed(kind)),
        repeated: Some(observed(kind)),
        attempts,
        ..History::default()
    }
}

pub(super) fn word(step: &Step) -> String {
    match step {
        Step::RunBaseline => "baseline".to_owned(),
        Step::RepeatBaseline => "repeat".to_owned(),
        Step::LookForHeals => "look".to_owned(),
        Step::TryHeal => "heal".to_owned(),
        Step::Ask {
            level,
            timeout,
            pause,
            ..
        } if *pause > 0.0 => format!("wait {pause}, ask {level} for {timeout}"),
        Step::Ask { level, timeout, .. } => format!("ask {level} for {timeout}"),
        Step::Split { reason } => format!("split {reason}"),
        Step::Stop(RunEnd { status, reason, .. }) => {
            let status = serde_json::to_value(status).unwrap();
            format!("stop {} {reason}", status.as_str().unwrap())
        }
    }
}

// Kind, level and end of each reply, what follows, why.
const LADDER: &str = "
    test_failure | | ask 1 for 300 | failed tests start at the code under test; any failed reply climbs;
    ts_error | | ask 1 for 300 | type and import errors start with imports;
    import_error | 1 patch_invalid | ask 2 for 300 | a failed patch climbs;
    ts_error | 1 apply_failed | ask 2 for 300 | a failed patch climbs;
    ts_error | 1 tests_failed | ask 2 for 300 | a failed patch climbs;
    test_failure | 0 tests_failed | ask 1 for 300 | level 1 comes before level 2;
    ts_error | 1 no_patch | ask 2 for 300 | a failed patch climbs;
    test_failure | 0 unproven | ask 1 for 300 | only proof ends a run;
    ts_error | 2 unproven, 2 unproven | ask 2 for 300 | only proof ends a run;
    ts_error | 1 tests_failed, 2 unproven, 2 tests_failed, 2 unproven,
        2 unproven | stop unproven unproven | only proof ends a run;
    ts_error | 1 unproven, 2 tests_failed, 2 tests_failed, 2 tests_failed,
        2 tests_failed | stop unproven budget_exhausted | only proof ends a run;
    ts_error | 1 tests_failed, 2 tests_failed | ask 2 for 300 | the top level is tried again;
    ts_error | 2 patch_invalid | ask 2 for 300 | normalise once;
    ts_error | 1 patch_invalid, 2 patch_invalid, 2 apply_failed | ask 2 for 300 | the top level is tried again;
    ts_error | 2 tests_changed | ask 2 for 300 | progress;
    ts_error | 2 no_patch | ask 2 for 300 | the top level is tried again;
    ts_error | 1 command_timeout | ask 2 for 300 | failed tests start at the code under test; any failed reply climbs;
    ts_error | 1 regressed, 2 regressed, 2 regressed | ask 2 for 300 | the top level is tried again;
    ts_error | 1 tests_failed, 2 tests_failed, 2 tests_changed, 2 policy_rejected,
        2 tests_failed | stop failed budget_exhausted | max-attempts;
    ts_error | 1 requested_files | ask 3 for 300 | files that were asked for, twice at most;
    ts_error | 2 requested_files, 3 requested_files | ask 3 for 300 | files that were asked for, twice at most;
    ts_error | 2 requested_files, 3 requested_files,
        3 requested_files | stop failed no_progress | files that were asked for, twice at most;
    ts_error | 1 policy_rejected | ask 2 for 300 | failed tests start at the code under test; any failed reply climbs;
    ts_error | 0 policy_rejected, 1 policy_rejected | ask 2 for 300 | failed tests start at the code under test; any failed reply climbs;
    ts_error | 1 agent_error | ask 1 for 300 | an agent error is retried once;
    ts_error | 1 agent_error, 1 agent_error | stop failed agent_error | an agent error is retried once;
    ts_error | 1 agent_timeout | split timeout_auto_split | a time limit splits the task;
    ts_error | 1 invalid_task | stop invalid_task invalid_task | no retry helps;
    ts_error | 1 interrupted | stop failed interrupted | no retry helps;
    ts_error | 1 fixed | stop fixed fixed | done;
    command_not_found | | stop user_action_required user_action_required | no retry helps;
    missing_env_var | | stop user_action_required user_action_required | a person must act;
    config_error | | ask 1 for 300 | failed tests start at the code under test; any failed reply climbs;
";

#[test]
fn replies_lead_up_the_ladder_and_to_an_end() {
    for row in LADDER.trim().split_terminator(';') {
        let [kind, replies, expected, rule] = row.split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{row}");
        };
        let attempts = replies.split_terminator(',').map(|reply| {
            let (level, end) = reply.trim().split_once(' ').unwrap();
            attempt(level.parse().unwrap(), end.parse().unwrap())
        });
        let history = after(kind.parse().unwrap(), attempts.collect());
        assert_eq!(word(&next(&history, &policy())), expected, "{rule}: {row}");
    }
}

#[test]
fn the_first_runs_decide_whether_there_is_work() {
    let mut history = History::default();
    assert_eq!(word(&next(&history, &policy())), "baseline");
    history.baseline = Some(observed(K::TestFailure));
    assert_eq!(word(&next(&history, &policy())), "repeat");
    history.repeated = Some(Observed {
        passed: true,
        ..observed(K::TestFailure)
    });
    assert_eq!(word(&next(&history, &policy())), "stop failed flaky");
    history.repeated = None;
    history.baseline = Some(observed(K::SyntaxError));
    assert_eq!(
        word(&next(&history, &policy())),
        "ask 0 for 300",
        "what parses is not flaky"
    );
    history.baseline = Some(Observed {
        passed: true,
        ..observed(K::Unknown)
    });
    assert_eq!(
        word(&next(&history, &policy())),
        "stop fixed nothing_to_repair"
    );
    history.interrupted = true;
    assert_eq!(word(&next(&history, &policy())), "stop failed interrupted");
}

#[test]
fn without_an_agent_the_last_run_is_the_answer() {
    let alone = with(|it| it.agent = false);
    let heals = with(|it| (it.agent, it.heal) = (false, true));
    let last = |kind| History {
        last: Some(observed(kind)),
        ..History::default()
    };
    let mut history = last(K::TestFailure);
    assert_eq!(word(&next(&history, &alone)), "stop failed tests_failed");
    assert_eq!(word(&next(&history, &heals)), "look");
    history.heals = Some(0);
    assert_eq!(word(&next(&history, &heals)), "stop failed tests_failed");
    // What can be tried is tried.
    history.heals = Some(1);
    assert_eq!(word(&next(&history, &heals)), "baseline");
    assert_eq!(
        word(&next(&last(K::CommandNotFound), &alone)),
        "stop user_action_required user_action_required"
    );
}

#[test]
fn heals_come_before_the_agent_and_before_asking_a_person() {
    let policy = with(|it| it.heal = true);
    let mut history = after(K::PermissionDenied, Vec::new());
    assert_eq!(word(&next(&history, &policy)), "look");
    history.heals = Some(1);
    assert_eq!(word(&next(&history, &policy)), "heal");
    history.heals = Some(0);
    assert_eq!(
        word(&next(&history, &policy)),
        "stop user_action_required user_action_required"
    );
}

#[test]
fn time_doubles_once_after_progress_then_the_task_is_split() {
    let timed_out = |seconds: f64| AttemptResult {
        progress: true,
        agent_timeout_seconds: seconds,
        ..attempt(0, S::AgentTimeout)
    };
    let kind = K::TestFailure;
    let step = next(&after(kind, vec![timed_out(300.0)]), &policy());
    assert_eq!(word(&step), "ask 0 for 600");
    // Also when what it did until then was kept.
    let kept = |seconds: f64| AttemptResult {
        stop_reason: S::TestsChanged,
        kept: true,
        ..timed_out(seconds)
    };
    let step = next(&after(kind, vec![kept(300.0)]), &policy());
    assert_eq!(word(&step), "ask 1 for 600");
    let again = after(kind, vec![kept(300.0), kept(600.0)]);
    assert_eq!(word(&next(&again, &policy())), "ask 1 for 600");
    let then = after(kind, vec![kept(300.0), timed_out(600.0)]);
    assert_eq!(word(&next(&then, &policy())), "split timeout_auto_split");
    let twice = after(kind, vec![timed_out(300.0), timed_out(600.0)]);
    assert_eq!(word(&next(&twice, &policy())), "split timeout_auto_split");
    let never = with(|it| it.auto_split = false);
    assert_eq!(word(&next(&twice, &never)), "stop failed agent_timeout");
    let deep = with(|it| it.depth = 2);
    assert_eq!(word(&next(&twice, &deep)), "stop failed agent_timeout");
    // Nothing is left for a part.
    let none = with(|it| it.max_attempts = 2);
    assert_eq!(word(&next(&twice, &none)), "stop failed agent_timeout");
    let failed = History {
        split: Some(SplitEnd::Failed("one test".to_owned())),
        ..twice.clone()
    };
    let Step::Stop(end) = next(&failed, &policy()) else {
        panic!("it goes on");
    };
    assert_eq!(
        end.message,
        "Issue timed out and auto-split failed: one test. Manual intervention required."
    );
    let ran = History {
        split: Some(SplitEnd::Ran(PartsRun {
            passed: true,
            ran: 2,
            reason: S::Fixed,
            left: None,
        })),
        // What came of it stands, however late.
        seconds: 1800.0,
        ..twice.clone()
    };
    assert_eq!(word(&next(&ran, &policy())), "stop fixed fixed");
    for reason in [S::AgentTimeout, S::TestsFailed] {
        let split = Some(SplitEnd::Ran(PartsRun {
            passed: false,
            ran: 2,
            reason,
            left: None,
        }));
        let ran = History {
            split,
            ..twice.clone()
        };
        let expected = format!("stop split {reason}");
        assert_eq!(word(&next(&ran, &policy())), expected);
    }
}

#[test]
fn a_task_that_is_too_large_is_split_before_it_is_tried() {
    let large = with(|it| it.estimated_turns = Some(21));
    let history = after(K::TestFailure, Vec::new());
    assert_eq!(word(&next(&history, &large)), "split complexity_gate");
    // What cannot be split is tried all the same.
    let whole = |replies| History {
        split: Some(SplitEnd::Failed("one test".to_owned())),
        ..after(K::TestFailure, replies)
    };
    for (replies, expected) in [
        (vec![], "ask 1 for 300"),
        (vec![attempt(1, S::TestsFailed)], "ask 2 for 300"),
        (
            vec![attempt(1, S::AgentTimeout)],
            "stop failed agent_timeout",
        ),
    ] {
        assert_eq!(word(&next(&whole(replies), &large)), expected);
    }
    let fits = with(|it| it.estimated_turns = Some(20));
    assert_eq!(word(&next(&history, &fits)), "ask 1 for 300");
}

#[test]
fn every_budget_ends_the_run() {
    let history = after(K::TsError, vec![attempt(1, S::TestsFailed)]);
    let exhausted = "stop failed budget_exhausted";
    let one = with(|it| it.max_attempts = 1);
    assert_eq!(word(&next(&history, &one)), exhausted);
    let bytes = with(|it| it.max_packet_bytes = 10);
    assert_eq!(word(&next(&history, &bytes)), exhausted);
    let late = History {
        seconds: 1800.0,
        ..history.clone()
    };
    assert_eq!(word(&next(&late, &policy())), exhausted);
    let soon = History {
        seconds: 1700.0,
        ..history
    };
    assert_eq!(word(&next(&soon, &policy())), "ask 2 for 100");
    // The commands run with what it sends.
    for (took, expected) in [(10.0, "ask 2 for 70"), (90.0, "ask 2 for 50")] {
        let mut soon = soon.clone();
        soon.baseline.as_mut().unwrap().test_result.duration_seconds = took;
        assert_eq!(word(&next(&soon, &policy())), expected);
    }
    // Nor are they run once more when their time is up.
    let failed_once = History {
        baseline: Some(observed(K::TestFailure)),
        seconds: 1800.0,
        ..History::default()
    };
    assert_eq!(word(&next(&failed_once, &policy())), exhausted);
}

#[test]
fn the_same_patch_twice_is_no_progress() {
    let sent = |level| AttemptResult {
        patch_digest: Some("d".to_owned()),
        ..attempt(level, S::TestsFailed)
    };
    let history = after(K::TsError, vec![sent(1), sent(2)]);
    assert_eq!(word(&next(&history, &policy())), "stop failed no_progress");
    // Who sees more may send more.
    let below = after(K::TsError, vec![sent(0), sent(1)]);
    assert_eq!(word(&next(&below, &policy())), "ask 2 for 300");
}

#[test]
fn names_that_stay_undefined_block() {
    let mut history = after(
        K::ImportError,
        vec![attempt(1, S::TestsFailed), attempt(2, S::TestsFailed)],
    );
    history.baseline.as_mut().unwrap().undefined_names = vec!["a".to_owned(), "b".to_owned()];
    let two = with(|it| it.max_attempts = 2);
    let Step::Stop(end) = next(&history, &two) else {
        panic!("it goes on");
    };
    assert_eq!(end.status, RunStatus::Blocked);
    assert_eq!(end.message, "Import errors after 2 attempts. Missing: a, b");
}

#[test]
fn requests_add_up() {
    let requests = |path: &str| AttemptResult {
        requested_files: vec![path.to_owned(), "x".to_owned()],
        ..attempt(2, S::RequestedFiles)
    };
    let history = after(K::TsError, vec![requests("a"), requests("b")]);
    let Step::Ask { requested, .. } = next(&history, &policy()) else {
        panic!("it stops");
    };
    assert_eq!(requested, ["a", "x", "b"]);
}

#[test]
fn a_level_that_is_not_allowed_is_not_reached() {
    let low = with(|it| it.max_level = Level::OneHop);
    let history = after(K::TsError, vec![attempt(1, S::PatchInvalid)]);
    assert_eq!(word(&next(&history, &low)), "ask 1 for 300");
    let history = after(K::TsError, vec![attempt(1, S::RequestedFiles)]);
    assert_eq!(word(&next(&history, &low)), "stop failed requested_files");
}

#[test]
fn the_first_packet_has_the_lowest_level_at_least() {
    // Kind, lowest, highest: the first level.
    let rows = [
        (K::SyntaxError, Level::Targets, Level::Requested, 0),
        (K::SyntaxError, Level::TwoHops, Level::Requested, 2),
        (K::TestFailure, Level::Targets, Level::Requested, 1),
        (K::TestFailure, Level::TwoHops, Level::Requested, 2),
        (K::TestFailure, Level::TwoHops, Level::Targets, 0),
    ];
    for (kind, min_level, max_level, first) in rows {
        let policy = Policy {
            min_level,
            max_level,
            ..policy()
        };
        let step = next(&after(kind, Vec::new()), &policy);
        assert_eq!(word(&step), format!("ask {first} for 300"), "{kind}");
    }
}
