use super::history::{
    History, PartsRun, SplitEnd, all_refused, failing, in_a_row, malformed, of, repeats_itself,
    requested, shows_the_same, standing,
};
use super::limits::Spent;
use crate::context::{LevelChoice, Retry, choose_level};
use crate::model::{
    AttemptResult, FailureKind as Kind, Level, Observed, Origin, RunStatus, StopReason, Subkind,
    TroubleKind,
};
use crate::remedies::MAX_TRIES;

/// What the loop may spend and do. One pool: children of a split share what is left of it.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Policy {
    /// Whether there is an agent to ask.
    pub agent: bool,
    /// Whether what needs no model is healed first.
    pub heal: bool,
    /// Whether an import that is missing may be what is healed.
    pub heal_imports: bool,
    /// Whether a task is split when the agent runs out of time.
    pub auto_split: bool,
    /// The rung to begin on where the failure calls for a lower one.
    pub min_level: Level,
    /// The highest rung.
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
    /// Whether the agent is asked about failures that look like a person's to mend, too.
    pub treat_as_code: bool,
    /// Whether commands that only their time limit ended count as failing: true where the limit
    /// belongs to the failure, as in a fixture.
    pub limit_is_failure: bool,
    /// Whether formerly failing tests are tried with other expectations before they prove anything.
    pub counter_proof: bool,
    /// Whether a change that holds the failing test's own values proves nothing.
    pub strict: bool,
    /// Whether failing tests run once more under a trace before an agent is asked.
    pub trace: bool,
}

/// How deep splits go.
pub const MAX_SPLIT_DEPTH: u32 = 2;
/// Turns above which a task is split before it is tried.
pub const MAX_ESTIMATED_TURNS: u32 = 20;
/// Requests for files that are answered.
pub const MAX_REQUESTS: usize = 2;
/// Changes without a model that are tried in one run.
pub const MAX_HEALS: usize = 8;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Run the commands on the state as it is.
    RunBaseline,
    /// Run them once more: the failure could be flaky.
    RepeatBaseline,
    /// Look for changes that need no model.
    LookForHeals,
    /// Try the next of them.
    TryHeal,
    /// Ask the agent.
    Ask {
        /// The rung of the ladder.
        level: Level,
        /// Every path it has asked for so far.
        requested: Vec<String>,
        /// Seconds it gets.
        timeout: f64,
        /// Seconds to wait before, since its service turned it away for now.
        pause: f64,
    },
    /// Split the task and run the parts.
    Split {
        /// Why, for the event.
        reason: &'static str,
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
            let message = format!("the commands pass after {ran} parts");
            return stop(RunStatus::Fixed, StopReason::Fixed, &message);
        }
        let mut message = match reason {
            StopReason::AgentTimeout => {
                format!("the agent ran out of time, also in each of {ran} parts")
            }
            _ => format!("the commands still fail after {ran} parts"),
        };
        if let Some((count, why)) = left {
            message.push_str(&format!("; not begun: {count} more ({why})"));
        }
        stop(RunStatus::Split, *reason, &message)
    }
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// How it stands.
    pub status: RunStatus,
    /// How it ended.
    pub reason: StopReason,
    /// One sentence.
    pub message: String,
}

/// The next step, from what happened and what is allowed. Pure: the same history gives the same
/// step, which is what lets an interrupted run go on.
#[must_use]
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
        let last = history.last.as_ref();
        return last.map_or(Step::RunBaseline, |last| of_last(last, history, policy));
    };
    if let Some(end) = nothing_to_do(baseline, history, policy) {
        return end;
    }
    if history.repeated.as_ref().is_some_and(|it| it.passed) {
        let message = "the commands failed once and passed once without a change";
        return stop(RunStatus::Failed, StopReason::Flaky, message);
    }
    if let Some(fixed) = history
        .attempts
        .iter()
        .find(|it| it.stop_reason == StopReason::Fixed)
    {
        return stop(RunStatus::Fixed, StopReason::Fixed, &fixed.message);
    }
    if let Some(SplitEnd::Ran(parts)) = &history.split {
        return parts.end();
    }
    if let Some(message) = Spent::of(&history.attempts, history.seconds).used_up(policy) {
        return give_up(history, StopReason::BudgetExhausted, &message);
    }
    if history.repeated.is_none() && could_be_flaky(baseline) && history.reported.is_none() {
        return Step::RepeatBaseline;
    }
    if policy.heal {
        let heals = || of(history, Origin::Heal);
        let in_vain = heals().filter(|it| !it.kept).count();
        let may_try = in_vain < MAX_TRIES && heals().count() < MAX_HEALS;
        match history.heals {
            None => return Step::LookForHeals,
            Some(left) if left > 0 && may_try => return Step::TryHeal,
            Some(_) => {}
        }
    }
    let failure = standing(history).unwrap_or(baseline);
    if let Some(end) = nobody_to_ask(failure, history, policy) {
        return end;
    }
    // What cannot be cut is tried whole.
    let may_split = policy.auto_split && policy.depth < MAX_SPLIT_DEPTH && history.split.is_none();
    let Some(last) = of(history, Origin::Agent).last() else {
        if may_split
            && policy
                .estimated_turns
                .is_some_and(|it| it > MAX_ESTIMATED_TURNS)
        {
            return Step::Split {
                reason: "complexity_gate",
            };
        }
        return ask(
            history,
            policy,
            first_level(failure, policy),
            policy.agent_timeout,
        );
    };
    after(last, failure, history, policy, may_split)
}

// Without anyone to ask nothing is run before there is something to try.
fn of_last(last: &Observed, history: &History, policy: &Policy) -> Step {
    match history.heals {
        None if policy.heal => return Step::LookForHeals,
        Some(left) if left > 0 => return Step::RunBaseline,
        _ => {}
    }
    nobody_to_ask(last, history, policy).unwrap_or(Step::RunBaseline)
}

fn nobody_to_ask(failure: &Observed, history: &History, policy: &Policy) -> Option<Step> {
    if !policy.treat_as_code && (failure.requires_user_action || environment(failure.kind)) {
        let message = format!(
            "{}. If it is a mistake in the code all the same, `--treat-as-code` asks the agent",
            in_full(failure)
        );
        let reason = StopReason::UserActionRequired;
        return Some(stop(RunStatus::UserActionRequired, reason, &message));
    }
    let message = "nothing more can be done without an agent";
    (!policy.agent).then(|| give_up(history, StopReason::TestsFailed, message))
}

// What the first run says when no repair is to follow.
fn nothing_to_do(baseline: &Observed, history: &History, policy: &Policy) -> Option<Step> {
    let person = |message: &str| {
        let reason = StopReason::UserActionRequired;
        Some(stop(RunStatus::UserActionRequired, reason, message))
    };
    if let Some(message) = history.hidden.as_ref().filter(|_| baseline.passed) {
        return person(&format!(
            "{message}: something hides the exit code of the tests, such as a pipe or `|| true`. Name the \
             command without it"
        ));
    }
    match &history.reported {
        Some(reported) if baseline.passed => {
            let message = format!(
                "the commands pass here, and the log that was given fails ({}: {})",
                reported.kind, reported.message
            );
            let status = RunStatus::UserActionRequired;
            return Some(stop(status, StopReason::NothingToRepair, &message));
        }
        Some(reported) if !shows_the_same(reported, baseline) => {
            return person(&format!(
                "another failure than that of the log that was given: here {} ({}), there {} ({}). \
                 Without `--log` the one that shows here is repaired",
                baseline.kind,
                what(baseline),
                reported.kind,
                what(reported)
            ));
        }
        _ => {}
    }
    if let Some(what) = history.failed_before.as_ref().filter(|_| baseline.passed) {
        let message = format!(
            "{what} failed in the last run and passes now, and no file changed in between; nothing \
             was repaired"
        );
        return Some(stop(RunStatus::Failed, StopReason::Flaky, &message));
    }
    if baseline.passed {
        return Some(stop(
            RunStatus::Fixed,
            StopReason::NothingToRepair,
            "the commands pass; nothing was repaired",
        ));
    }
    let judged = policy.limit_is_failure || policy.treat_as_code;
    // Where it hung says as much as a test that failed.
    let hung = baseline.errors.iter().any(|it| it.path.is_some());
    let shows_nothing =
        !hung && baseline.failing_tests.is_empty() && baseline.undefined_names.is_empty();
    if baseline.test_result.timed_out && shows_nothing && !judged {
        let seconds = baseline.test_result.duration_seconds;
        let longer = longer(seconds);
        let budget = match policy.max_seconds {
            Some(all) if all <= longer * 2.0 => {
                format!(" with `--budget-seconds {:.0}`", longer * 5.0)
            }
            _ => String::new(),
        };
        let why = format!(
            "the commands did not end within {seconds:.0} s, and nothing had failed until then: \
             `--test-timeout {longer:.0}`{budget} gives them longer; if they never end, \
             `--treat-as-code` asks the agent why"
        );
        return Some(stop(RunStatus::Failed, StopReason::CommandTimeout, &why));
    }
    None
}

// What its kind means, and the line that names what is missing.
fn in_full(failure: &Observed) -> String {
    let message = failure.message.trim_end_matches('.');
    match failure.errors.iter().find(|it| !it.error.is_empty()) {
        Some(line) => format!("{message}: {}", line.error),
        None => message.to_owned(),
    }
}

/// Seconds for commands that did not end within these.
pub(super) fn longer(seconds: f64) -> f64 {
    (seconds * 3.0).max(60.0)
}

fn what(observed: &Observed) -> String {
    match observed.failing_tests.as_slice() {
        [] => observed.message.clone(),
        [test] => test.clone(),
        [test, rest @ ..] => format!("{test} and {} more", rest.len()),
    }
}

// What follows a reply, by how it ended.
fn after(
    last: &AttemptResult,
    failure: &Observed,
    history: &History,
    policy: &Policy,
    may_split: bool,
) -> Step {
    let replies = || of(history, Origin::Agent);
    let longest = replies().map(|it| it.agent_timeout_seconds);
    let longest = longest.fold(policy.agent_timeout, f64::max);
    // Once it ran out of time over work that it had begun, it gets twice as much, once.
    let doubled = longest > policy.agent_timeout;
    let may_double = !doubled && replies().any(|it| it.timed_out_agent && it.progress);
    let timeout = if may_double {
        policy.agent_timeout * 2.0
    } else {
        longest
    };
    match last.stop_reason {
        StopReason::InvalidTask => stop(RunStatus::InvalidTask, last.stop_reason, &last.message),
        StopReason::UserActionRequired | StopReason::WorkplaceUnused => stop(
            RunStatus::UserActionRequired,
            last.stop_reason,
            &last.message,
        ),
        StopReason::Interrupted => stop(RunStatus::Failed, last.stop_reason, &last.message),
        StopReason::BudgetExhausted => give_up(history, last.stop_reason, &last.message),
        StopReason::AgentTimeout => {
            if last.progress && !doubled {
                ask(history, policy, last.level, timeout)
            } else if may_split && history.replies() < policy.max_attempts {
                Step::Split {
                    reason: "timeout_auto_split",
                }
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
            let failed = in_a_row(history, StopReason::AgentError);
            match trouble.map(|it| it.kind) {
                Some(kind) if kind.needs_person() => {
                    let status = RunStatus::UserActionRequired;
                    stop(status, last.stop_reason, &last.message)
                }
                Some(TroubleKind::RateLimit) if failed <= MAX_PAUSES => {
                    after_a_pause(last, history, policy, timeout, failed)
                }
                Some(TroubleKind::RateLimit) => {
                    stop(RunStatus::Failed, last.stop_reason, &last.message)
                }
                _ if failed > 1 => stop(RunStatus::Failed, last.stop_reason, &last.message),
                _ => ask(history, policy, last.level, timeout),
            }
        }
        StopReason::RequestedFiles => {
            let requests = of(history, Origin::Agent)
                .filter(|it| it.stop_reason == StopReason::RequestedFiles)
                .count();
            if policy.max_level < Level::Requested {
                let message = "the agent asks for files, and level 3 is not allowed";
                give_up(history, last.stop_reason, message)
            } else if requests > MAX_REQUESTS {
                let message = "the agent asked for files more than twice";
                give_up(history, StopReason::NoProgress, message)
            } else {
                ask(history, policy, Level::Requested, timeout)
            }
        }
        _ => climb(last, failure, history, policy, timeout),
    }
}

// A rate limit passes: as soon as its service says, else in half a minute, then in twice as long.
fn after_a_pause(
    last: &AttemptResult,
    history: &History,
    policy: &Policy,
    timeout: f64,
    failed: usize,
) -> Step {
    let named = last.agent_trouble.as_ref();
    let named = named.and_then(|it| it.retry_after_seconds);
    let wait = named.unwrap_or(if failed > 1 { PAUSE * 2.0 } else { PAUSE });
    if let Some(all) = policy.max_seconds
        && history.seconds + wait >= all
    {
        let left = (all - history.seconds).max(0.0);
        let message = format!(
            "{}. Waiting {wait:.0} s for it would take longer than the {left:.0} s that are left",
            last.message
        );
        return stop(RunStatus::Failed, last.stop_reason, &message);
    }
    match ask(history, policy, last.level, timeout) {
        Step::Ask {
            level,
            requested,
            timeout,
            ..
        } => Step::Ask {
            level,
            requested,
            timeout: policy
                .max_seconds
                .map_or(timeout, |all| timeout.min(all - history.seconds - wait)),
            pause: wait,
        },
        step => step,
    }
}

/// Seconds to wait for a service that does not say how long it turns an agent away.
const PAUSE: f64 = 30.0;
/// Waits for it in a row.
const MAX_PAUSES: usize = 2;

// Up the ladder, and at its top on to the last attempt: each reply is told what came of the one
// before. Only a reply that was given before ends it, and only where there is no more to show.
fn climb(
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
    let requested = requested(history);
    let chosen = choose_level(
        LevelChoice::Auto,
        Some(failure.kind),
        retry,
        requested.len(),
        false,
    );
    let level = chosen.map_or(last.level, |(level, _)| level.min(policy.max_level));
    if level <= last.level && !last.kept {
        let same = |it: &&AttemptResult| it.patch_digest == last.patch_digest;
        if last.patch_digest.is_some() && of(history, Origin::Agent).filter(same).count() > 1 {
            let message = "the agent sent the same patch twice";
            return give_up(history, StopReason::NoProgress, message);
        }
        if repeats_itself(history) {
            return give_up(history, last.stop_reason, &last.message);
        }
    }
    ask(history, policy, level.max(last.level), timeout)
}

fn ask(history: &History, policy: &Policy, level: Level, timeout: f64) -> Step {
    let calls = of(history, Origin::Agent).count();
    if calls >= policy.max_attempts as usize {
        let last = of(history, Origin::Agent).last();
        // Its own trouble says more than that nothing is left.
        if let Some(last) = last.filter(|it| own_trouble(it.stop_reason)) {
            return stop(RunStatus::Failed, last.stop_reason, &last.message);
        }
        let message = format!("attempts used up: {calls}{}", malformed(history));
        return give_up(history, StopReason::BudgetExhausted, &message);
    }
    // What is left is for the commands with its change, too.
    let run = history
        .baseline
        .as_ref()
        .map(|it| it.test_result.duration_seconds);
    let for_runs = run.unwrap_or_default() * RUNS_AFTER_A_REPLY;
    let left = policy.max_seconds.map(|limit| limit - history.seconds);
    Step::Ask {
        level,
        requested: requested(history),
        timeout: left.map_or(timeout, |left| timeout.min(left - for_runs.min(left / 2.0))),
        pause: 0.0,
    }
}

/// Runs of the commands that a reply may need: with it, and to see that they prove anything.
const RUNS_AFTER_A_REPLY: f64 = 3.0;

fn own_trouble(reason: StopReason) -> bool {
    matches!(reason, StopReason::AgentError | StopReason::AgentTimeout)
}

// Names that stay undefined make a run blocked rather than failed.
fn give_up(history: &History, reason: StopReason, message: &str) -> Step {
    if let Some(last) = all_refused(history) {
        return stop(RunStatus::Failed, last.stop_reason, &last.message);
    }
    let failure = failing(history);
    let unproven = |it: &&AttemptResult| it.stop_reason == StopReason::Unproven;
    if let Some(last) = history.attempts.iter().rev().find(unproven) {
        let message = match reason {
            StopReason::Unproven => last.message.clone(),
            _ => format!("{message}; {}", last.message),
        };
        let is_last = history.attempts.last().is_some_and(|it| unproven(&it));
        let reason = if is_last {
            StopReason::Unproven
        } else {
            reason
        };
        return stop(RunStatus::Unproven, reason, &message);
    }
    if let Some(failure) = failure
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

fn first_level(failure: &Observed, policy: &Policy) -> Level {
    let retry = Retry::default();
    choose_level(LevelChoice::Auto, Some(failure.kind), retry, 0, false)
        .map_or(Level::Targets, |(level, _)| level)
        .max(policy.min_level)
        .min(policy.max_level)
}

/// What reads its input, waits or races may fail once and pass once; what parses does not.
pub(super) fn could_be_flaky(observed: &Observed) -> bool {
    let measured = observed.subkind == Some(Subkind::Coverage);
    !observed.test_result.timed_out && !measured && may_pass_again(observed.kind)
}

/// Whether a failure of this kind may come and go without a change.
#[must_use]
pub fn may_pass_again(kind: Kind) -> bool {
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

// Nothing that a patch could mend: the first row of "One flow" that stops.
fn environment(kind: Kind) -> bool {
    kind.is_around_code() || kind == Kind::TransportMismatch
}
