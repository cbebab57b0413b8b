use std::cmp::Reverse;
use std::collections::HashMap;

use super::facts::LogFacts;
use super::line::{Line, above, below};
use super::runners::Case;
use super::steps::{End, Job, Step};
use super::success::{denies_success, is_success, summary_of_success};
use super::verdict::{Finding, Scope, Verdict, WeighedFinding};
use super::votes::{Vote, votes};
use crate::model::{Alternative, FailureKind as Kind, Subkind};
use crate::runners::pattern;

// What counts as resources of the machine: nothing in the project causes them, and messages that
// come after them only follow.
const ENDS_ALL: u8 = 90;
// From here on a finding says more than that something failed.
const SAYS_SOMETHING: u8 = 20;
// A line of a shell with this much output below it did not stop its script.
const WENT_ON: usize = 40;
// What such a line weighs: less than any line that states a failure.
const PASSED_BY: u8 = 16;
// More lines than one tool prints about one failure.
const LONG: usize = 400;
// Lines around an error in which its stack begins.
const FRAMES: usize = 20;
const MAX_EVIDENCE: usize = 20;
const MAX_ALTERNATIVES: usize = 4;

/// What is known of a log before it is decided.
pub(super) struct Inputs<'i, 'r> {
    pub(super) lines: &'i [Line<'i>],
    pub(super) job: &'i Job,
    pub(super) cases: &'i [Case],
    pub(super) findings: &'i [Finding<'r>],
    pub(super) by_line: HashMap<usize, &'i Finding<'r>>,
    pub(super) facts: &'i LogFacts,
}

/// Decides what a log says: the step that failed; in it the runner's own reports, then the line
/// nearest to the root cause; then what ended the machine's work further up.
pub(super) fn decide<'r>(inputs: &Inputs<'_, 'r>) -> Verdict<'r> {
    let (lines, job, facts) = (inputs.lines, inputs.job, inputs.facts);
    let failed: Vec<Step> = job.failed().collect();
    let scope = Scope::from_job(job);
    let run_failed = facts.timed_out || facts.exit_code.is_some_and(|code| code != 0);
    let is_denied = |at| denies_success(lines, at + 1);
    if job.passed == Some(true) && !run_failed && !job.passed_at.is_some_and(is_denied) {
        let at = job.passed_at.or_else(|| summary_of_success(lines));
        return passed(at, scope, PASSED_BY_SERVICE);
    }
    let reported: Vec<&Case> = inputs
        .cases
        .iter()
        .filter(|case| scope.holds(case.at))
        .collect();
    let rows = weigh(inputs, &scope, &failed);
    let is_outside = |at: usize| {
        let inside = |case: &&Case| case.at <= at && at < case.block.end.max(case.at + LONG);
        !lines.get(at).is_some_and(|line| line.captured) && !reported.iter().any(inside)
    };
    let ends_all = |row: &WeighedFinding<'_, '_>| row.weight >= ENDS_ALL && is_outside(row.at);
    let votes = if rows.iter().any(ends_all) {
        Vec::new()
    } else {
        votes(&reported, &scope, inputs)
    };
    let mut verdict = if !votes.is_empty() && !facts.timed_out {
        by_tests(&votes, &rows)
    } else if !rows.is_empty() {
        by_weight(&rows, facts, &failed, lines.len() > LONG)
    } else if !run_failed && failed.is_empty() && job.passed.is_none() && is_success(lines) {
        return passed(summary_of_success(lines), scope, PASSED_BY_RUNNER);
    } else {
        Verdict::from_kind(Kind::Unknown)
    };
    let at = verdict.evidence.first().copied();
    if verdict.kind == Kind::RuntimeError && votes.is_empty() && !has_frames(lines, at) {
        verdict.confidence = verdict.confidence.min(UNFRAMED);
    }
    verdict.failures = super::failures::failures(&verdict, &rows, &failed, inputs);
    verdict.scope = scope;
    verdict.failed = failed;
    verdict
}

fn passed<'r>(at: Option<usize>, scope: Scope, confidence: f64) -> Verdict<'r> {
    Verdict {
        confidence,
        scope,
        evidence: at.into_iter().collect(),
        ..Verdict::from_kind(Kind::None)
    }
}

// Whether a stack stands around a line: without one it may be of any tool that was run.
fn has_frames(lines: &[Line<'_>], at: Option<usize>) -> bool {
    pattern!(
        FRAME,
        r#"^\s*(?:at |❯ |File "|Traceback |[^\s:]+:\d+: )|^E "#
    );
    let near = |at| above(lines, at, FRAMES).chain(below(lines, at, FRAMES));
    at.is_some_and(|at| near(at).any(|text| FRAME.is_match(text)))
}

fn exit_code(failed: &[Step], facts: &LogFacts) -> Option<i32> {
    let exit = failed.first().and_then(|step| match step.end {
        End::Failed(code) => code,
        _ => None,
    });
    exit.or(facts.exit_code)
}

// The findings of the failing step, and what the way the process ended says.
fn weigh<'i, 'r>(
    inputs: &Inputs<'i, 'r>,
    scope: &Scope,
    failed: &[Step],
) -> Vec<WeighedFinding<'i, 'r>> {
    let end = scope.end().unwrap_or(inputs.lines.len());
    let filled: Vec<usize> = (0..end)
        .filter(|at| !inputs.lines[*at].text.trim().is_empty())
        .collect();
    let strong =
        |finding: &&Finding<'r>| finding.at < end && finding.weight >= 50 && !finding.is_of_shell();
    let last_strong = inputs
        .findings
        .iter()
        .filter(strong)
        .map(|finding| finding.at)
        .max();
    let went_on = |finding: &Finding<'r>| {
        let below = filled.len() - filled.partition_point(|at| *at <= finding.at);
        below > WENT_ON && (!failed.is_empty() || below > 4 * WENT_ON)
            || below > WENT_ON / 4 && last_strong > Some(finding.at)
    };
    let own = inputs
        .findings
        .iter()
        .filter(|finding| scope.holds(finding.at));
    let mut rows: Vec<WeighedFinding<'i, 'r>> = own
        .map(|finding| {
            let is_passed = finding.is_of_shell() && finding.weight >= 25 && went_on(finding);
            // A process that hung was asked where it was, and died of that.
            let is_ours = inputs.facts.timed_out && finding.kind == Kind::Crash;
            WeighedFinding {
                kind: if is_ours { Kind::Timeout } else { finding.kind },
                weight: if is_passed { PASSED_BY } else { finding.weight },
                at: finding.at,
                finding: Some(finding),
            }
        })
        .collect();
    let ended = ending(inputs.facts, exit_code(failed, inputs.facts));
    rows.extend(ended.into_iter().map(|(kind, weight)| WeighedFinding {
        kind,
        weight,
        at: usize::MAX,
        finding: None,
    }));
    rows
}

// What the way a process ended says when its log does not. Source: the shell's exit codes.
fn ending(facts: &LogFacts, code: Option<i32>) -> Vec<(Kind, u8)> {
    let mut rows = Vec::new();
    if facts.timed_out {
        rows.push((Kind::Timeout, 71));
    }
    let is_pytest = || {
        facts
            .command
            .as_deref()
            .is_some_and(|line| line.contains("pytest"))
    };
    rows.extend(match code {
        Some(124) if !facts.timed_out => Some((Kind::Timeout, 39)),
        Some(126) => Some((Kind::PermissionDenied, 21)),
        Some(127) => Some((Kind::CommandNotFound, 39)),
        Some(137 | -9) => Some((Kind::Crash, 21)),
        Some(134 | 135 | 136 | 139 | -4 | -6 | -7 | -8 | -11) => Some((Kind::Crash, 71)),
        Some(5) if is_pytest() => Some((Kind::TestSetupError, 21)),
        _ => None,
    });
    rows
}

// Tests that could not begin decide first; then what most tests died of; of equals an expectation,
// then the first.
fn by_tests<'r>(votes: &[Vote<'_, 'r>], rows: &[WeighedFinding<'_, 'r>]) -> Verdict<'r> {
    let cannot_begin = votes.iter().any(Vote::prevents_tests);
    let deciding = votes
        .iter()
        .filter(|vote| !cannot_begin || vote.prevents_tests());
    let mut kinds: Vec<(Kind, usize, usize)> = Vec::new();
    for vote in deciding {
        match kinds.iter_mut().find(|row| row.0 == vote.kind) {
            Some(row) => row.1 += 1,
            None => kinds.push((vote.kind, 1, vote.at)),
        }
    }
    kinds.sort_by_key(|&(kind, count, first)| (Reverse(count), kind != Kind::TestFailure, first));
    let (kind, count, _) = kinds[0];
    let own: Vec<&Vote<'_, 'r>> = votes.iter().filter(|vote| vote.kind == kind).collect();
    let best = own
        .iter()
        .find(|vote| vote.finding.is_some())
        .or(own.first());
    let finding = best.and_then(|vote| vote.finding);
    let total: usize = kinds.iter().map(|row| row.1).sum();
    let is_expectation = matches!(kind, Kind::TestFailure | Kind::SnapshotMismatch);
    let confidence = confidence_of_tests(count, total, is_expectation, finding.is_some());
    let strong = rows.iter().filter(|row| row.weight >= 65);
    let others = kinds.iter().skip(1).map(|row| row.0);
    let others = others.chain(votes.iter().map(|vote| vote.kind));
    let others = others
        .chain([Kind::TestFailure])
        .chain(strong.map(|row| row.kind));
    let mut evidence: Vec<usize> = own.iter().map(|vote| vote.at).take(MAX_EVIDENCE).collect();
    evidence.dedup();
    Verdict {
        confidence,
        subkind: finding.and_then(|finding| finding.subkind.clone()),
        rule: finding.map(|finding| finding.rule),
        tool: own.first().map(|vote| vote.runner),
        alternatives: alternatives(kind, others, confidence),
        evidence,
        ..Verdict::from_kind(kind)
    }
}

fn alternatives(
    kind: Kind,
    others: impl Iterator<Item = Kind>,
    confidence: f64,
) -> Vec<Alternative> {
    let mut listed: Vec<Alternative> = Vec::new();
    for other in others {
        let is_listed = listed.iter().any(|row| row.kind == other);
        if other == kind || is_listed || listed.len() >= MAX_ALTERNATIVES {
            continue;
        }
        let share = 0.5 / f64::from(u8::try_from(listed.len() + 1).unwrap_or(5));
        listed.push(Alternative {
            kind: other,
            confidence: in_steps(confidence * share),
        });
    }
    listed
}

// The nearest to the root cause wins; of equals the kind named most, then the first.
fn by_weight<'r>(
    rows: &[WeighedFinding<'_, 'r>],
    facts: &LogFacts,
    failed: &[Step],
    is_long: bool,
) -> Verdict<'r> {
    let mut kinds: Vec<(Kind, u8, usize, usize)> = Vec::new();
    for row in rows {
        let mentions = usize::from(row.finding.is_some());
        match kinds.iter_mut().find(|entry| entry.0 == row.kind) {
            Some(entry) => {
                if row.weight > entry.1 {
                    (entry.1, entry.3) = (row.weight, row.at);
                }
                entry.2 += mentions;
            }
            None => kinds.push((row.kind, row.weight, mentions, row.at)),
        }
    }
    kinds.sort_by_key(|&(_, weight, count, first)| (Reverse(weight), Reverse(count), first));
    let Some(&(kind, weight, count, _)) = kinds.first() else {
        return Verdict::from_kind(Kind::Unknown);
    };
    let own = || rows.iter().filter(|row| row.kind == kind);
    let best = own()
        .filter(|row| row.weight == weight)
        .filter_map(|row| row.finding);
    let best = best.min_by_key(|finding| finding.at);
    let rivals = kinds
        .iter()
        .skip(1)
        .filter(|row| row.1 + 3 >= weight)
        .count();
    let confidence = Signs {
        weight,
        rivals,
        in_log: count > 0,
        has_step: !failed.is_empty(),
        is_long,
        passed: facts.exit_code == Some(0),
    }
    .confidence();
    let others = kinds.iter().skip(1).filter(|row| row.1 >= SAYS_SOMETHING);
    let usual = || match (kind, exit_code(failed, facts)) {
        (Kind::Timeout, _) if facts.timed_out => Some(Subkind::Command),
        (Kind::TestSetupError, Some(5)) => Some(Subkind::NoTests),
        (Kind::Crash, Some(137 | -9)) => Some(Subkind::Killed),
        _ => None,
    };
    let near = own().filter(|row| row.finding.is_some() && row.weight >= weight.saturating_sub(20));
    let mut evidence: Vec<usize> = near.map(|row| row.at).take(MAX_EVIDENCE).collect();
    evidence.dedup();
    Verdict {
        confidence,
        subkind: best
            .and_then(|finding| finding.subkind.clone())
            .or_else(usual),
        tool: best.map(|finding| finding.tool),
        rule: best.map(|finding| finding.rule),
        alternatives: alternatives(kind, others.map(|row| row.0), confidence),
        evidence,
        ..Verdict::from_kind(kind)
    }
}

// The confidence of a verdict is the share of answers like it that were right, measured on labelled
// logs of public jobs; the table stands in docs.
const PASSED_BY_SERVICE: f64 = 0.95;
const PASSED_BY_RUNNER: f64 = 0.85;
// An error of no known kind that no stack shows to be of the program under test.
const UNFRAMED: f64 = 0.6;

// Of reports of failing tests, `most` of `all` of which died of the same: an expectation that did not
// hold, or what a rule recognizes.
fn confidence_of_tests(most: usize, all: usize, is_expectation: bool, is_recognized: bool) -> f64 {
    let base = match (is_expectation, is_recognized) {
        (true, _) => 0.95,
        (false, true) => 0.9,
        (false, false) => 0.8,
    };
    let split = match most {
        most if most == all => 0.0,
        most if most * 2 > all => 0.15,
        _ => 0.3,
    };
    in_steps(base - split)
}

// What raises or lowers the confidence in lines that rules know.
#[expect(clippy::struct_excessive_bools, reason = "each lowers it by itself")]
struct Signs {
    weight: u8,
    // Other kinds about as near to the root cause.
    rivals: usize,
    // Whether a line says it, not only the exit code.
    in_log: bool,
    // Whether the service says which step failed.
    has_step: bool,
    is_long: bool,
    // Whether the command is known to have passed.
    passed: bool,
}

impl Signs {
    fn confidence(&self) -> f64 {
        let base: f64 = match self.weight {
            65.. => 0.95,
            40..=64 => 0.85,
            25..=39 => 0.9,
            20..=24 => 0.7,
            _ => 0.4,
        };
        // In a long log that no service cut into steps a line may be of something else.
        let is_unsure = self.is_long && !self.has_step;
        let base = if is_unsure { base.min(0.85) } else { base };
        let rivals = 0.15 * f64::from(u8::try_from(self.rivals.min(3)).unwrap_or(3));
        let unsaid = if self.in_log { 0.0 } else { 0.25 };
        let passed = if self.passed { 0.4 } else { 0.0 };
        in_steps((base - rivals - unsaid - passed).clamp(0.05, 0.95))
    }
}

// Rounds to steps of 0.05.
fn in_steps(value: f64) -> f64 {
    (value * 20.0).round() / 20.0
}
