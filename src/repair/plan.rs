//! Chooses the next step from the history. A pure function, so that its tests are tables.

use super::history::{
    History, PartsRun, SplitEnd, all_refused, attempts_of, last_failing, repeats_itself,
    requested_files,
};
use super::limits::Spent;
use crate::context::{LevelChoice, Retry, choose_level};
use crate::fixes::MAX_TRIES;
use crate::model::{
    AttemptResult, FailureKind as Kind, Level, Observed, Origin, RunStatus, StopReason, Subkind,
};

/// What the loop may spend and do. One pool: children of a split share what is left of it.
#[derive(Default, Debug, Clone, PartialEq)]
pub struct Policy {
    /// Whether there is an agent to ask.
    pub agent: bool,
    /// Whether fixes that need no LLM are tried first.
    pub heal: bool,
    /// Whether a task is split when the agent runs out of time.
    pub auto_split: bool,
    /// The highest level.
    pub max_level: Level,
    /// Replies to try.
    pub max_attempts: u32,
    /// Seconds for everything; `None` is no limit.
    pub max_seconds: Option<f64>,
    /// Bytes of all packets together.
    pub max_packet_bytes: u64,
    /// Dollars, as agents report them; `None` is no limit.
    pub max_cost_usd: Option<f64>,
    /// Seconds for one call of the agent.
    pub agent_timeout: f64,
    /// Splits above this run; at [`MAX_SPLIT_DEPTH`] it is not split again.
    pub depth: u32,
    /// The estimate for the task in turns, when a task was given.
    pub estimated_turns: Option<u32>,
    /// Whether the agent is also asked about failures that usually need a person.
    pub treat_as_code: bool,
    /// Whether commands that only their time limit ended count as failing: true where the limit
    /// belongs to the failure, as in a fixture.
    pub limit_is_failure: bool,
    /// Whether formerly failing tests are tried with other expectations before they prove anything.
    pub counter_proof: bool,
    /// Whether failing tests run once more under a trace before an agent is asked.
    pub trace: bool,
}

/// How deep splits go.
pub const MAX_SPLIT_DEPTH: u32 = 1;
/// Requests for files that are answered.
pub const MAX_REQUESTS: usize = 2;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Run the commands on the state as it is.
    RunBaseline,
    /// Run them once more because the failure could be flaky.
    RepeatBaseline,
    /// Look for changes that need no LLM.
    LookForHeals,
    /// Try the next of them.
    TryHeal,
    /// Ask the agent.
    Ask {
        /// The level.
        level: Level,
        /// Every path it has asked for so far.
        requested: Vec<String>,
        /// Seconds it gets.
        timeout: f64,
    },
    /// Split the task and run the parts.
    Split {
        /// Whether the agent ran out of time, rather than that the task is large.
        timed_out: bool,
    },
    /// Stop.
    Stop(RunEnd),
}

impl PartsRun {
    fn end(&self) -> Step {
        let Self {
            passed,
            ran,
            reason,
            left,
        } = self;
        if *passed {
            let message = format!("the test command passes after {ran} parts");
            return stop(RunStatus::Fixed, StopReason::Fixed, &message);
        }
        let mut message = match reason {
            StopReason::AgentTimeout => {
                format!("the agent ran out of time, also in each of {ran} parts")
            }
            _ => format!("the test command still fails after {ran} parts"),
        };
        if let Some((count, why)) = left {
            message.push_str(&format!("; {count} more not started ({why})"));
        }
        stop(RunStatus::Split, *reason, &message)
    }
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// Its state.
    pub status: RunStatus,
    /// How it ended.
    pub reason: StopReason,
    /// One sentence.
    pub message: String,
}

/// The next step, from what happened and what is allowed. Pure: the same history gives the same
/// step, which is what lets an interrupted run go on.
pub fn next(history: &History, policy: &Policy) -> Step {
    if history.interrupted {
        return stop(
            RunStatus::Failed,
            StopReason::Interrupted,
            "it was interrupted",
        );
    }
    if let Some(message) = &history.moved {
        return stop(RunStatus::Failed, StopReason::WorktreeChanged, message);
    }
    let Some(baseline) = &history.baseline else {
        return Step::RunBaseline;
    };
    if let Some(end) = nothing_to_do(baseline, history, policy) {
        return end;
    }
    if history.repeated.as_ref().is_some_and(|r| r.passed) {
        let message = "the test command failed once and passed once without a change";
        return stop(RunStatus::Failed, StopReason::Flaky, message);
    }
    let mut attempts = history.attempts.iter();
    if let Some(fixed) = attempts.find(|attempt| attempt.stop_reason == StopReason::Fixed) {
        return stop_with(RunStatus::Fixed, fixed);
    }
    if let Some(SplitEnd::Ran(parts)) = &history.split {
        return parts.end();
    }
    if let Some(message) = Spent::add_up(&history.attempts, history.seconds).used_up(policy) {
        return give_up(history, StopReason::BudgetExhausted, &message);
    }
    if history.repeated.is_none() && could_be_flaky(baseline) {
        return Step::RepeatBaseline;
    }
    if policy.heal {
        let heals = attempts_of(history, Origin::Heal);
        let in_vain = heals.clone().filter(|attempt| !attempt.kept).count();
        // Changes without an LLM that are tried in one run.
        let may_try = in_vain < MAX_TRIES && heals.count() < 8;
        match history.heals {
            None => return Step::LookForHeals,
            Some(left) if left > 0 && may_try => return Step::TryHeal,
            Some(_) => {}
        }
    }
    let failure = last_failing(history).unwrap_or(baseline);
    if let Some(end) = nobody_to_ask(failure, history, policy) {
        return end;
    }
    // What cannot be cut is tried whole.
    let may_split = policy.auto_split && policy.depth < MAX_SPLIT_DEPTH && history.split.is_none();
    let Some(last) = attempts_of(history, Origin::Agent).last() else {
        // Turns above which a task is split before it is tried.
        if may_split && policy.estimated_turns > Some(20) {
            return Step::Split { timed_out: false };
        }
        let (retry, kind) = (Retry::default(), Some(failure.kind));
        let first = choose_level(LevelChoice::Auto, kind, retry, 0, false);
        let level = first.map_or(Level::Targets, |(level, _)| level).min(policy.max_level);
        return ask_agent(history, policy, level, policy.agent_timeout);
    };
    step_after_reply(last, failure, history, policy, may_split)
}

fn nobody_to_ask(failure: &Observed, history: &History, policy: &Policy) -> Option<Step> {
    let is_around = failure.kind.is_around_code() || failure.kind == Kind::TransportMismatch;
    if !policy.treat_as_code && (failure.requires_user_action || is_around) {
        let message = format!(
            "{} If the code is at fault, `mendit fix --agent NAME --treat-as-code` asks an agent",
            in_full(failure)
        );
        let reason = StopReason::UserActionRequired;
        return Some(stop(RunStatus::UserActionRequired, reason, &message));
    }
    let message = "no fix was found without an agent";
    (!policy.agent).then(|| give_up(history, StopReason::StillFailing, message))
}

// What the first run says when no repair is to follow.
fn nothing_to_do(baseline: &Observed, history: &History, policy: &Policy) -> Option<Step> {
    if let Some(message) = history.hidden.as_ref().filter(|_| baseline.passed) {
        let reason = StopReason::UserActionRequired;
        let message = format!(
            "{message}: something hides the exit code of the tests, such as a pipe or `|| true`. Pass the \
             command without it"
        );
        return Some(stop(RunStatus::UserActionRequired, reason, &message));
    }
    if baseline.passed {
        return Some(stop(
            RunStatus::Fixed,
            StopReason::NothingToRepair,
            "the test command passes",
        ));
    }
    let judged = policy.limit_is_failure || policy.treat_as_code;
    // Where it hung says as much as a test that failed.
    let hung = baseline.errors.iter().any(|error| error.path.is_some());
    let shows_nothing =
        !hung && baseline.failing_tests.is_empty() && baseline.undefined_names.is_empty();
    if baseline.test_result.timed_out && shows_nothing && !judged {
        let seconds = baseline.test_result.duration_seconds;
        let longer = longer_timeout(seconds);
        let why = format!(
            "the test command did not finish within {seconds:.0} s, and no test had failed by then: \
             allow more time with `--test-timeout {longer:.0} --budget-seconds {:.0}`; if they hang, `--treat-as-code` asks the agent why",
            longer * 5.0
        );
        return Some(stop(RunStatus::Failed, StopReason::CommandTimeout, &why));
    }
    None
}

// What its kind means, and the line that names what is missing.
fn in_full(failure: &Observed) -> String {
    let message = failure.message.trim_end_matches('.');
    match failure.errors.iter().find(|error| !error.error.is_empty()) {
        Some(line) => format!("{message}: {}.", line.error.trim_end_matches('.')),
        None if message.ends_with('?') => message.to_owned(),
        None => format!("{message}."),
    }
}

/// Seconds for commands that did not end within these.
pub(super) fn longer_timeout(seconds: f64) -> f64 {
    (seconds * 3.0).max(60.0)
}

// What follows a reply, by how it ended.
fn step_after_reply(
    last: &AttemptResult,
    failure: &Observed,
    history: &History,
    policy: &Policy,
    may_split: bool,
) -> Step {
    let replies = attempts_of(history, Origin::Agent);
    let longest = replies.clone().map(|reply| reply.agent_timeout_seconds);
    let longest = longest.fold(policy.agent_timeout, f64::max);
    // Once it ran out of time over work that it had begun, it gets twice as much, once.
    let doubled = longest > policy.agent_timeout;
    let may_double =
        !doubled && replies.clone().any(|reply| reply.timed_out_agent && reply.agent_reacted);
    let timeout = if may_double { policy.agent_timeout * 2.0 } else { longest };
    match last.stop_reason {
        StopReason::InvalidTask => stop_with(RunStatus::InvalidTask, last),
        StopReason::UserActionRequired | StopReason::WorkplaceUnused => {
            stop_with(RunStatus::UserActionRequired, last)
        }
        StopReason::Interrupted => stop_with(RunStatus::Failed, last),
        StopReason::BudgetExhausted => give_up(history, last.stop_reason, &last.message),
        StopReason::AgentTimeout => {
            if last.agent_reacted && !doubled {
                ask_agent(history, policy, last.level, timeout)
            } else if may_split && history.replies() < policy.max_attempts {
                Step::Split { timed_out: true }
            } else {
                let message = match &history.split {
                    Some(SplitEnd::Failed(why)) => format!(
                        "Issue timed out and auto-split failed: {why}. Manual intervention required."
                    ),
                    _ => "the agent ran out of time".to_owned(),
                };
                stop(RunStatus::Failed, last.stop_reason, &message)
            }
        }
        StopReason::AgentError => {
            let trouble = last.agent_trouble.as_ref();
            let failed = replies.rev();
            let failed = failed.take_while(|attempt| attempt.stop_reason == StopReason::AgentError);
            if trouble.is_some_and(|trouble| trouble.kind.needs_person()) {
                stop_with(RunStatus::UserActionRequired, last)
            } else if failed.count() > 1 {
                stop_with(RunStatus::Failed, last)
            } else {
                ask_agent(history, policy, last.level, timeout)
            }
        }
        StopReason::RequestedFiles => {
            let requests = replies.filter(|r| r.stop_reason == StopReason::RequestedFiles);
            if policy.max_level < Level::Requested {
                let message = "the agent asked for files, but level 3 is not allowed";
                give_up(history, last.stop_reason, message)
            } else if requests.count() > MAX_REQUESTS {
                let message = "the agent asked for files more than twice";
                give_up(history, StopReason::NoProgress, message)
            } else {
                ask_agent(history, policy, Level::Requested, timeout)
            }
        }
        _ => climb_level(last, failure, history, policy, timeout),
    }
}

// Raises the level; at the top, asks again until attempts run out, because each prompt reports how the last reply
// failed. A reply that repeats an earlier one at the top ends the run.
fn climb_level(
    last: &AttemptResult,
    failure: &Observed,
    history: &History,
    policy: &Policy,
    timeout: f64,
) -> Step {
    let retry = Retry {
        stop_reason: Some(last.stop_reason),
        level: Some(last.level),
    };
    let requested = requested_files(history);
    let chosen = choose_level(
        LevelChoice::Auto,
        Some(failure.kind),
        retry,
        requested.len(),
        false,
    );
    let level = chosen.map_or(last.level, |(level, _)| level.min(policy.max_level));
    if level <= last.level && !last.kept {
        let replies = attempts_of(history, Origin::Agent);
        let same = replies.filter(|reply| reply.patch_digest == last.patch_digest);
        if last.patch_digest.is_some() && same.count() > 1 {
            let message = "the agent sent the same patch twice";
            return give_up(history, StopReason::NoProgress, message);
        }
        if repeats_itself(history) {
            return give_up(history, last.stop_reason, &last.message);
        }
    }
    ask_agent(history, policy, level.max(last.level), timeout)
}

fn ask_agent(history: &History, policy: &Policy, level: Level, timeout: f64) -> Step {
    let calls = attempts_of(history, Origin::Agent).count();
    if calls >= policy.max_attempts as usize {
        let last = attempts_of(history, Origin::Agent).last();
        // Its own trouble says more than that nothing is left.
        let own = [StopReason::AgentError, StopReason::AgentTimeout];
        if let Some(last) = last.filter(|last| own.contains(&last.stop_reason)) {
            return stop_with(RunStatus::Failed, last);
        }
        let message = format!("attempts used up: {calls}");
        return give_up(history, StopReason::BudgetExhausted, &message);
    }
    // What is left is for the commands with its change, too.
    let baseline = history.baseline.as_ref();
    let run = baseline.map(|baseline| baseline.test_result.duration_seconds);
    // A reply needs up to three runs: one with its patch and two for the proof.
    let for_runs = run.unwrap_or_default() * 3.0;
    let left = policy.max_seconds.map(|limit| limit - history.seconds);
    Step::Ask {
        level,
        requested: requested_files(history),
        timeout: left.map_or(timeout, |left| timeout.min(left - for_runs.min(left / 2.0))),
    }
}

// Names that stay undefined make a run blocked rather than failed.
fn give_up(history: &History, reason: StopReason, message: &str) -> Step {
    if let Some(last) = all_refused(history) {
        return stop_with(RunStatus::Failed, last);
    }
    let mut attempts = history.attempts.iter().rev();
    if let Some(unproven) = attempts.find(|attempt| attempt.stop_reason == StopReason::Unproven) {
        let message = match reason {
            StopReason::Unproven => message.to_owned(),
            _ => format!("{message}; {}", unproven.message),
        };
        let reason = if history.attempts.last() == Some(unproven) {
            StopReason::Unproven
        } else {
            reason
        };
        return stop(RunStatus::Unproven, reason, &message);
    }
    if let Some(failure) = last_failing(history)
        && failure.kind == Kind::ImportError
        && !failure.undefined_names.is_empty()
        && !history.attempts.is_empty()
    {
        let message = format!(
            "Import errors after {} attempts. Missing: {}",
            history.attempts.len(),
            failure.undefined_names.join(", ")
        );
        return stop(RunStatus::Blocked, reason, &message);
    }
    stop(RunStatus::Failed, reason, message)
}

fn stop(status: RunStatus, reason: StopReason, message: &str) -> Step {
    Step::Stop(RunEnd {
        status,
        reason,
        message: message.to_owned(),
    })
}

fn stop_with(status: RunStatus, last: &AttemptResult) -> Step {
    stop(status, last.stop_reason, &last.message)
}

/// What reads its input, waits or races may fail once and pass once; what parses does not.
pub(super) fn could_be_flaky(observed: &Observed) -> bool {
    let measured = observed.subkind == Some(Subkind::Coverage);
    !observed.test_result.timed_out && !measured && may_pass_again(observed.kind)
}

// Whether a failure of this kind may come and go without a change.
fn may_pass_again(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::TestFailure
            | Kind::RuntimeError
            | Kind::ConnectionRefused
            | Kind::NetworkError
            | Kind::PortInUse
            | Kind::Timeout
            | Kind::Crash
            | Kind::DbError
            | Kind::Unknown
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::history::{History, PartsRun, SplitEnd};
    use super::{Policy, RunEnd, Step, longer_timeout, next};
    use crate::model::{
        AgentTrouble, AttemptResult, FailureKind as K, Level, Observed, Origin, RunFailure,
        RunStatus, StopReason as S, TestResult, TroubleKind,
    };

    pub(in crate::repair) fn policy() -> Policy {
        Policy {
            agent: true,
            heal: false,
            auto_split: true,
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
            trace: false,
        }
    }

    // That policy with one thing otherwise.
    fn with(change: impl FnOnce(&mut Policy)) -> Policy {
        let mut policy = policy();
        change(&mut policy);
        policy
    }

    fn observed(kind: K) -> Observed {
        Observed {
            kind,
            message: "it fails".to_owned(),
            signature: "s".to_owned(),
            ..Observed::default()
        }
    }

    fn attempt(level: u8, stop_reason: S) -> AttemptResult {
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

    fn history_of(kind: K, attempts: Vec<AttemptResult>) -> History {
        History {
            baseline: Some(observed(kind)),
            repeated: Some(observed(kind)),
            attempts,
            ..History::default()
        }
    }

    fn word(step: &Step) -> String {
        match step {
            Step::RunBaseline => "baseline".to_owned(),
            Step::RepeatBaseline => "repeat".to_owned(),
            Step::LookForHeals => "look".to_owned(),
            Step::TryHeal => "heal".to_owned(),
            Step::Ask { level, timeout, .. } => format!("ask {level} for {timeout}"),
            Step::Split { timed_out: true } => "split timed_out".to_owned(),
            Step::Split { timed_out: false } => "split large".to_owned(),
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
    ts_error | 1 tests_failed, 2 agent_error, 2 agent_error | stop failed agent_error | an agent error is retried once;
    ts_error | 1 agent_error, 1 agent_error, 1 tests_failed, 2 agent_error | ask 2 for 300 | an agent error is retried once;
    ts_error | 1 workplace_unused | stop user_action_required workplace_unused | action required;
    ts_error | 1 agent_timeout | split timed_out | a time limit splits the task;
    ts_error | 1 invalid_task | stop invalid_task invalid_task | no retry helps;
    ts_error | 1 interrupted | stop failed interrupted | no retry helps;
    ts_error | 1 fixed | stop fixed fixed | done;
    command_not_found | | stop user_action_required user_action_required | no retry helps;
    missing_env_var | | stop user_action_required user_action_required | action required;
    config_error | | ask 1 for 300 | failed tests start at the code under test; any failed reply climbs;
";

    #[test]
    fn next_step_follows_reply_table() {
        for row in LADDER.trim().trim_end_matches(';').split(";\n") {
            let [kind, replies, expected, rule] =
                row.split('|').map(str::trim).collect::<Vec<_>>()[..]
            else {
                panic!("{row}");
            };
            let attempts = replies.split_terminator(',').map(|reply| {
                let (level, end) = reply.trim().split_once(' ').unwrap();
                attempt(level.parse().unwrap(), end.parse().unwrap())
            });
            let history = history_of(kind.parse().unwrap(), attempts.collect());
            assert_eq!(word(&next(&history, &policy())), expected, "{rule}: {row}");
        }
    }

    #[test]
    fn first_runs_decide_next_step() {
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
        history.moved = Some("a.py changed".to_owned());
        assert_eq!(
            word(&next(&history, &policy())),
            "stop failed worktree_changed"
        );
        history.interrupted = true;
        assert_eq!(word(&next(&history, &policy())), "stop failed interrupted");
    }

    #[test]
    fn hidden_failure_of_passing_run_requires_user() {
        let mut history = History {
            hidden: Some("pytest reports 1 failed".to_owned()),
            baseline: Some(observed(K::SyntaxError)),
            ..History::default()
        };
        assert_eq!(word(&next(&history, &policy())), "ask 0 for 300");
        history.baseline.as_mut().unwrap().passed = true;
        assert_eq!(
            word(&next(&history, &policy())),
            "stop user_action_required user_action_required"
        );
    }

    #[test]
    fn repeats_first_run_of_flaky_kinds() {
        let step = |kind, timed_out| {
            let mut baseline = observed(kind);
            baseline.test_result.timed_out = timed_out;
            baseline.failing_tests = vec!["t".to_owned()];
            let history = History {
                baseline: Some(baseline),
                ..History::default()
            };
            next(&history, &policy())
        };
        for kind in [
            K::TestFailure,
            K::RuntimeError,
            K::ConnectionRefused,
            K::NetworkError,
            K::PortInUse,
            K::Timeout,
            K::Crash,
            K::DbError,
            K::Unknown,
        ] {
            assert_eq!(step(kind, false), Step::RepeatBaseline, "{kind}");
            assert_ne!(step(kind, true), Step::RepeatBaseline, "{kind}");
        }
        for kind in [K::SyntaxError, K::ImportError, K::TsError, K::LintError] {
            assert_ne!(step(kind, false), Step::RepeatBaseline, "{kind}");
        }
    }

    #[test]
    fn tries_fixes_before_agent_and_person() {
        let policy = with(|policy| policy.heal = true);
        let mut history = history_of(K::PermissionDenied, Vec::new());
        assert_eq!(word(&next(&history, &policy)), "look");
        history.heals = Some(1);
        assert_eq!(word(&next(&history, &policy)), "heal");
        history.heals = Some(0);
        let gate = "stop user_action_required user_action_required";
        assert_eq!(word(&next(&history, &policy)), gate);
        // Three that did not help, or eight in all, are enough.
        for (kept, in_vain, expected) in [
            (0, 2, "heal"),
            (0, 3, gate),
            (5, 2, "heal"),
            (7, 0, "heal"),
            (8, 0, gate),
        ] {
            let tried = |kept| AttemptResult {
                kept,
                ..AttemptResult::new(1, Origin::Heal, Level::Targets)
            };
            history.heals = Some(1);
            history.attempts = [vec![tried(true); kept], vec![tried(false); in_vain]].concat();
            assert_eq!(word(&next(&history, &policy)), expected, "{kept} {in_vain}");
        }
    }

    #[test]
    fn doubles_timeout_once_then_splits() {
        let timed_out = |seconds: f64| AttemptResult {
            agent_reacted: true,
            agent_timeout_seconds: seconds,
            ..attempt(0, S::AgentTimeout)
        };
        let kind = K::TestFailure;
        let step = next(&history_of(kind, vec![timed_out(300.0)]), &policy());
        assert_eq!(word(&step), "ask 0 for 600");
        // Also when what it did until then was kept.
        let kept = |seconds: f64| AttemptResult {
            stop_reason: S::TestsChanged,
            kept: true,
            ..timed_out(seconds)
        };
        let step = next(&history_of(kind, vec![kept(300.0)]), &policy());
        assert_eq!(word(&step), "ask 1 for 600");
        let again = history_of(kind, vec![kept(300.0), kept(600.0)]);
        assert_eq!(word(&next(&again, &policy())), "ask 1 for 600");
        let then = history_of(kind, vec![kept(300.0), timed_out(600.0)]);
        assert_eq!(word(&next(&then, &policy())), "split timed_out");
        let twice = history_of(kind, vec![timed_out(300.0), timed_out(600.0)]);
        assert_eq!(word(&next(&twice, &policy())), "split timed_out");
        let never = with(|policy| policy.auto_split = false);
        assert_eq!(word(&next(&twice, &never)), "stop failed agent_timeout");
        let deep = with(|policy| policy.depth = 1);
        assert_eq!(word(&next(&twice, &deep)), "stop failed agent_timeout");
        // Only a call that timed out after it had begun to work doubles the time.
        let idle = AttemptResult {
            agent_reacted: false,
            ..kept(300.0)
        };
        let idle = AttemptResult {
            timed_out_agent: true,
            ..idle
        };
        let step = next(&history_of(kind, vec![idle]), &policy());
        assert_eq!(word(&step), "ask 1 for 300");
        let slow = AttemptResult {
            timed_out_agent: true,
            ..kept(300.0)
        };
        let later = vec![slow, attempt(1, S::StillFailing)];
        assert_eq!(
            word(&next(&history_of(kind, later), &policy())),
            "ask 2 for 600"
        );
        // Nothing is left for a part.
        let none = with(|policy| policy.max_attempts = 2);
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
            // Its result counts, however late.
            seconds: 1800.0,
            ..twice.clone()
        };
        assert_eq!(word(&next(&ran, &policy())), "stop fixed fixed");
        for reason in [S::AgentTimeout, S::StillFailing] {
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
    fn splits_large_task_first() {
        let large = with(|policy| policy.estimated_turns = Some(21));
        let history = history_of(K::TestFailure, Vec::new());
        assert_eq!(word(&next(&history, &large)), "split large");
        // What cannot be split is tried all the same.
        let whole = |replies| History {
            split: Some(SplitEnd::Failed("one test".to_owned())),
            ..history_of(K::TestFailure, replies)
        };
        for (replies, expected) in [
            (vec![], "ask 1 for 300"),
            (vec![attempt(1, S::StillFailing)], "ask 2 for 300"),
            (
                vec![attempt(1, S::AgentTimeout)],
                "stop failed agent_timeout",
            ),
        ] {
            assert_eq!(word(&next(&whole(replies), &large)), expected);
        }
        let fits = with(|policy| policy.estimated_turns = Some(20));
        assert_eq!(word(&next(&history, &fits)), "ask 1 for 300");
    }

    #[test]
    fn stops_at_every_budget() {
        let history = history_of(K::TsError, vec![attempt(1, S::StillFailing)]);
        let exhausted = "stop failed budget_exhausted";
        let one = with(|policy| policy.max_attempts = 1);
        assert_eq!(word(&next(&history, &one)), exhausted);
        let bytes = with(|policy| policy.max_packet_bytes = 10);
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
    fn repeated_patch_is_no_progress() {
        let sent = |level| AttemptResult {
            patch_digest: Some("d".to_owned()),
            ..attempt(level, S::StillFailing)
        };
        let history = history_of(K::TsError, vec![sent(1), sent(2)]);
        assert_eq!(word(&next(&history, &policy())), "stop failed no_progress");
        let once = history_of(K::TsError, vec![sent(2)]);
        assert_eq!(word(&next(&once, &policy())), "ask 2 for 300");
        // Who sees more may send more.
        let below = history_of(K::TsError, vec![sent(0), sent(1)]);
        assert_eq!(word(&next(&below, &policy())), "ask 2 for 300");
    }

    #[test]
    fn names_that_stay_undefined_block() {
        let mut history = history_of(
            K::ImportError,
            vec![attempt(1, S::StillFailing), attempt(2, S::StillFailing)],
        );
        history.baseline.as_mut().unwrap().undefined_names = vec!["a".to_owned(), "b".to_owned()];
        let two = with(|policy| policy.max_attempts = 2);
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
        let history = history_of(K::TsError, vec![requests("a"), requests("b")]);
        let Step::Ask { requested, .. } = next(&history, &policy()) else {
            panic!("it stops");
        };
        assert_eq!(requested, ["a", "x", "b"]);
    }

    #[test]
    fn never_exceeds_max_level() {
        let low = with(|policy| policy.max_level = Level::OneHop);
        let history = history_of(K::TsError, vec![attempt(1, S::PatchInvalid)]);
        assert_eq!(word(&next(&history, &low)), "ask 1 for 300");
        let history = history_of(K::TsError, vec![attempt(1, S::RequestedFiles)]);
        assert_eq!(word(&next(&history, &low)), "stop failed requested_files");
    }

    #[test]
    fn reports_agent_trouble_first() {
        let troubled = |kind: TroubleKind| AttemptResult {
            message: "the agent's login failed".to_owned(),
            agent_trouble: Some(AgentTrouble {
                kind,
                end: "exit code 1".to_owned(),
                last_lines: Vec::new(),
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
            (TroubleKind::RateLimit, 1, "ask 1 for 300"),
            (TroubleKind::RateLimit, 2, "stop failed agent_error"),
            (TroubleKind::Crash, 1, "ask 1 for 300"),
            (TroubleKind::Crash, 2, "stop failed agent_error"),
        ] {
            let mut history = history_of(K::ImportError, vec![troubled(kind); times]);
            // Missing names would be reported, but they are not what is in the way.
            history.baseline.as_mut().unwrap().undefined_names = vec!["a".to_owned()];
            let step = next(&history, &policy());
            assert_eq!(word(&step), expected, "{kind:?} {times}");
            if let Step::Stop(end) = step {
                assert_eq!(end.message, "the agent's login failed");
            }
        }
        // Nor is it that the attempts are used up.
        let once = with(|policy| policy.max_attempts = 1);
        let history = history_of(K::TsError, vec![troubled(TroubleKind::Crash)]);
        assert_eq!(word(&next(&history, &once)), "stop failed agent_error");
        let twice = with(|policy| policy.max_attempts = 2);
        let crashed = troubled(TroubleKind::Crash);
        let last = history_of(K::TsError, vec![attempt(1, S::NoPatch), crashed.clone()]);
        assert_eq!(word(&next(&last, &twice)), "stop failed agent_error");
        let first = history_of(K::TsError, vec![crashed, attempt(1, S::NoPatch)]);
        assert_eq!(word(&next(&first, &twice)), "stop failed budget_exhausted");
    }

    #[test]
    fn stops_at_repeated_reply() {
        let reply = |level, digest: &str| AttemptResult {
            reply_digest: Some(digest.to_owned()),
            ..attempt(level, S::NoPatch)
        };
        let history = |replies| history_of(K::TsError, replies);
        let climbs = history(vec![reply(1, "x")]);
        assert_eq!(word(&next(&climbs, &policy())), "ask 2 for 300");
        let again = history(vec![reply(1, "x"), reply(2, "x")]);
        assert_eq!(word(&next(&again, &policy())), "stop failed no_patch");
        let other = history(vec![reply(1, "x"), reply(2, "y")]);
        assert_eq!(word(&next(&other, &policy())), "ask 2 for 300");
        let earlier = history(vec![reply(1, "x"), reply(2, "y"), reply(2, "x")]);
        assert_eq!(word(&next(&earlier, &policy())), "ask 2 for 300");
        let last = history(vec![reply(1, "x"), reply(2, "y"), reply(2, "y")]);
        assert_eq!(word(&next(&last, &policy())), "stop failed no_patch");
    }

    #[test]
    fn reports_run_refused_by_policy() {
        let replies = vec![
            attempt(0, S::PolicyRejected),
            attempt(1, S::PolicyRejected),
            attempt(2, S::NoPatch),
        ];
        let three = with(|policy| policy.max_attempts = 3);
        let mut history = history_of(K::TestFailure, replies);
        history.attempts[1].message = "the last refusal".to_owned();
        let Step::Stop(end) = next(&history, &three) else {
            panic!("it goes on");
        };
        assert_eq!(end.reason, S::PolicyRejected);
        assert_eq!(end.message, "the last refusal");
    }

    #[test]
    fn later_steps_follow_last_kept_attempt() {
        let kept = |kind| AttemptResult {
            kept: true,
            observed: Some(observed(kind)),
            ..attempt(1, S::TestsChanged)
        };
        for (kinds, expected) in [
            ([K::CommandNotFound, K::TsError], "ask 2 for 300"),
            (
                [K::TsError, K::CommandNotFound],
                "stop user_action_required user_action_required",
            ),
        ] {
            let history = history_of(K::TsError, kinds.map(kept).to_vec());
            assert_eq!(word(&next(&history, &policy())), expected, "{kinds:?}");
        }
    }

    #[test]
    fn unproven_run_quotes_last_unproven_attempt() {
        let unproven = |message: &str| AttemptResult {
            message: message.to_owned(),
            ..attempt(2, S::Unproven)
        };
        let replies = vec![
            unproven("first"),
            unproven("second"),
            attempt(2, S::NoPatch),
        ];
        let three = with(|policy| policy.max_attempts = 3);
        let Step::Stop(end) = next(&history_of(K::TsError, replies), &three) else {
            panic!("it goes on");
        };
        assert_eq!(end.status, RunStatus::Unproven);
        assert_eq!(end.reason, S::BudgetExhausted);
        assert_eq!(end.message, "attempts used up: 3; second");
    }

    #[test]
    fn required_action_names_first_error_with_text() {
        let row = |error: &str| RunFailure {
            error: error.to_owned(),
            ..RunFailure::default()
        };
        let mut history = history_of(K::CommandNotFound, Vec::new());
        history.baseline.as_mut().unwrap().errors =
            vec![row(""), row("sh: x: not found."), row("other")];
        let Step::Stop(end) = next(&history, &policy()) else {
            panic!("it goes on");
        };
        let expected = "it fails: sh: x: not found. If the code";
        assert!(end.message.starts_with(expected), "{}", end.message);
    }

    #[test]
    fn treat_as_code_asks_agent() {
        let code = with(|policy| policy.treat_as_code = true);
        let gate = "stop user_action_required user_action_required";
        for kind in [
            K::PermissionDenied,
            K::DependencyError,
            K::CommandNotFound,
            K::MissingEnvVar,
        ] {
            let history = history_of(kind, Vec::new());
            assert_eq!(word(&next(&history, &policy())), gate);
            assert_eq!(word(&next(&history, &code)), "ask 1 for 300");
        }
        let mut package = history_of(K::ImportError, Vec::new());
        package.baseline.as_mut().unwrap().requires_user_action = true;
        assert_eq!(word(&next(&package, &policy())), gate);
        assert_eq!(word(&next(&package, &code)), "ask 1 for 300");
    }

    #[test]
    fn slow_commands_stop_without_agent() {
        let slow = |tests: &[&str]| History {
            baseline: Some(Observed {
                failing_tests: tests.iter().map(|test| (*test).to_owned()).collect(),
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
        assert_eq!(
            (end.status, end.reason),
            (RunStatus::Failed, S::CommandTimeout)
        );
        let advice = "`--test-timeout 2700 --budget-seconds 13500`";
        assert!(end.message.contains(advice), "{}", end.message);
        assert!((longer_timeout(10.0) - 60.0).abs() < 1e-9);
        let mut hung = slow(&[]);
        hung.baseline.as_mut().unwrap().errors = vec![RunFailure {
            path: Some("a.py".to_owned()),
            ..RunFailure::default()
        }];
        assert_eq!(word(&next(&hung, &policy())), "ask 1 for 300");
        assert_eq!(word(&next(&slow(&["t"]), &policy())), "ask 1 for 300");
        for policy in [
            with(|policy| policy.treat_as_code = true),
            with(|policy| policy.limit_is_failure = true),
        ] {
            assert_eq!(word(&next(&slow(&[]), &policy)), "ask 1 for 300");
        }
    }
}
