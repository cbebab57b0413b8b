use super::record::Record;
use super::score::WRONG_HEAL;
use super::{BenchAgent, Fixture};
use crate::model::{
    AttemptResult, Code, FixtureOutcome, FixtureResult, Origin, RunResult, RunStatus, StopReason,
};

/// Fills an outcome from what a run came to and wrote: passed when it ended as the fixture says
/// and did nothing that the fixture forbids.
pub(super) fn judge_run(
    fixture: &Fixture,
    agent: &BenchAgent,
    run: &RunResult,
    record: Record,
    outcome: &mut FixtureOutcome,
) {
    outcome.status = Some(run.status);
    outcome.stop_reason = Some(run.stop_reason);
    outcome.level = run.level;
    outcome.attempts = run.attempts;
    outcome.packet_bytes = record.attempts.iter().map(|it| it.packet_bytes).sum();
    outcome.healed = record
        .attempts
        .iter()
        .any(|it| it.origin == Origin::Heal && (it.kept || it.stop_reason == StopReason::Fixed));
    let mut why = Vec::new();
    let end = match (agent, fixture.replay) {
        (BenchAgent::Replay, Some(end)) => end,
        _ => fixture.end(),
    };
    if (run.status, run.stop_reason) != (end.status, end.stop_reason) {
        why.push(format!(
            "it ended {} ({}), not {} ({}): {}",
            word(&run.status),
            run.stop_reason,
            word(&end.status),
            end.stop_reason,
            run.message
        ));
    }
    // Part of the known repair is no guess, unless it was taken for all of it.
    let whole = run.status == RunStatus::Fixed && run.agent_calls == 0;
    let known = !whole && record.heals.iter().all(|heal| is_part_of(heal, fixture));
    if outcome.healed && !fixture.heal_safe && !known {
        let said = "a change without a model was kept, and the fixture calls that unsafe";
        why.push(format!("{WRONG_HEAL}{said}"));
    }
    if *agent == BenchAgent::Replay {
        why.extend(accepted(fixture, &record.attempts));
    }
    for leak in &record.leaks {
        why.push(format!("F302: {leak}"));
    }
    outcome.result = if why.is_empty() {
        FixtureResult::Passed
    } else {
        FixtureResult::Failed
    };
    outcome.why = why;
    outcome.packets = record.packets;
    outcome.leaks = record.leaks;
}

fn is_part_of(patch: &str, fixture: &Fixture) -> bool {
    let added = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("+++"));
        let lines = lines.filter_map(|line| line.strip_prefix('+'));
        let lines = lines.map(|line| line.trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let reference = fixture.reference.as_deref().unwrap_or_default();
    let reference = added(&String::from_utf8_lossy(reference));
    added(patch).iter().all(|line| reference.contains(line))
}

const NOT_REFUSED: Code = Code::F303;

// Replies that had to be refused and were tried.
fn accepted(fixture: &Fixture, attempts: &[AttemptResult]) -> Vec<String> {
    let asked = attempts.iter().filter(|it| it.origin == Origin::Agent);
    let answered = fixture.replies.iter().zip(asked);
    let wrong = answered.filter(|(reply, attempt)| {
        fixture.must_refuse.contains(&reply.name)
            && !matches!(
                attempt.stop_reason,
                StopReason::PolicyRejected | StopReason::PatchInvalid | StopReason::ApplyFailed
            )
    });
    let mut said: Vec<String> = wrong
        .map(|(reply, attempt)| {
            format!(
                "{NOT_REFUSED}: `replies/{}` had to be refused and ended {}",
                reply.name, attempt.stop_reason
            )
        })
        .collect();
    let asked = attempts.iter().filter(|it| it.origin == Origin::Agent);
    for reply in fixture.replies.iter().skip(asked.count()) {
        if fixture.must_refuse.contains(&reply.name) {
            said.push(format!(
                "{NOT_REFUSED}: `replies/{}` was never sent",
                reply.name
            ));
        }
    }
    said
}

fn word(status: &impl serde::Serialize) -> String {
    serde_json::to_value(status)
        .ok()
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_default()
}
