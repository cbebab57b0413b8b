use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::HashMap;

use super::confidence;
use super::facts::LogFacts;
use super::failures::failures;
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
// More lines than one tool prints about one failure.
const LONG: usize = 400;
// Lines around an error in which its stack begins.
const FRAMES: usize = 20;
const MOST_EVIDENCE: usize = 20;

/// Decides what a log says: the step that failed; in it the runner's own reports, then the line
/// nearest to the root cause; then what ended the machine's work further up.
pub(super) fn decide<'r>(
    lines: &[Line<'_>],
    job: &Job,
    cases: &[Case],
    findings: &[Finding<'r>],
    facts: &LogFacts,
) -> Verdict<'r> {
    let failed: Vec<Step> = job.failed().collect();
    let scope = Scope::of(job);
    let run_failed = facts.timed_out || facts.exit_code.is_some_and(|code| code != 0);
    let denied = job
        .passed_at
        .is_some_and(|at| denies_success(lines, at + 1));
    if job.passed == Some(true) && !run_failed && !denied {
        return passed(
            job.passed_at.or_else(|| summary_of_success(lines)),
            scope,
            confidence::SERVICE,
        );
    }
    let code = code(&failed, facts);
    let reported: Vec<&Case> = cases.iter().filter(|case| scope.holds(case.at)).collect();
    let by_line: HashMap<usize, &Finding<'r>> = findings
        .iter()
        .map(|finding| (finding.at, finding))
        .collect();
    let mut rows = rows(lines, &scope, findings, &failed);
    if facts.timed_out {
        // What hung was asked where it was, and died of that.
        for row in rows.iter_mut().filter(|row| row.kind == Kind::Crash) {
            row.kind = Kind::Timeout;
        }
    }
    for (kind, weight) in from_facts(facts, code) {
        rows.push(WeighedFinding {
            kind,
            weight,
            at: usize::MAX,
            finding: None,
        });
    }
    let long = lines.len() > LONG;
    let ends_all = rows
        .iter()
        .any(|row| row.weight >= ENDS_ALL && !inside_a_report(row.at, &reported, lines));
    let votes = if ends_all {
        Vec::new()
    } else {
        votes(&reported, &scope, &by_line, lines)
    };
    let mut verdict = if !votes.is_empty() && !facts.timed_out {
        by_tests(&votes, &rows)
    } else if !rows.is_empty() {
        by_weight(&rows, facts, &failed, long)
    } else if !run_failed && failed.is_empty() && job.passed.is_none() && is_success(lines) {
        return passed(summary_of_success(lines), scope, confidence::RUNNER);
    } else {
        Verdict::of(Kind::Unknown)
    };
    let at = verdict.evidence.first().copied();
    if verdict.kind == Kind::RuntimeError && votes.is_empty() && !has_frames(lines, at) {
        verdict.confidence = verdict.confidence.min(confidence::UNFRAMED);
    }
    verdict.failures = failures(&verdict, &rows, &failed, findings, cases, &by_line, lines);
    verdict.scope = scope;
    verdict.failed = failed;
    verdict
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

fn code(failed: &[Step], facts: &LogFacts) -> Option<i32> {
    let exit = failed.first().and_then(|step| match step.end {
        End::Failed(code) => code,
        _ => None,
    });
    exit.or(facts.exit_code)
}

fn passed<'r>(at: Option<usize>, scope: Scope, confidence: f64) -> Verdict<'r> {
    let mut verdict = Verdict::of(Kind::None);
    verdict.confidence = confidence;
    verdict.scope = scope;
    verdict.evidence = at.into_iter().collect();
    verdict
}

fn rows<'f, 'r>(
    lines: &[Line<'_>],
    scope: &Scope,
    findings: &'f [Finding<'r>],
    failed: &[Step],
) -> Vec<WeighedFinding<'f, 'r>> {
    let end = scope.end().unwrap_or(lines.len());
    let filled = LazyCell::new(|| {
        let is_filled = |at: &usize| !lines[*at].text.trim().is_empty();
        (0..end).filter(is_filled).collect::<Vec<usize>>()
    });
    let last_strong = findings
        .iter()
        .filter(|it| it.at < end && it.weight >= 50 && !it.is_of_shell())
        .map(|it| it.at)
        .max();
    findings
        .iter()
        .filter(|finding| scope.holds(finding.at))
        .map(|finding| {
            let mut weight = finding.weight;
            if finding.is_of_shell() && weight >= 25 {
                let below = filled.len() - filled.partition_point(|at| *at <= finding.at);
                if (below > WENT_ON && (!failed.is_empty() || below > 4 * WENT_ON))
                    || (below > WENT_ON / 4 && last_strong > Some(finding.at))
                {
                    weight = 16;
                }
            }
            WeighedFinding {
                kind: finding.kind,
                weight,
                at: finding.at,
                finding: Some(finding),
            }
        })
        .collect()
}

// A report runs until the next one, or until an empty stretch after the last.
fn inside_a_report(at: usize, cases: &[&Case], lines: &[Line<'_>]) -> bool {
    const LONGEST: usize = 400;
    lines.get(at).is_some_and(|line| line.captured)
        || cases
            .iter()
            .any(|case| case.at <= at && at < case.at + LONGEST)
}

// Tests that could not begin decide first; then what most tests died of; of equals an expectation,
// then the first.
fn by_tests<'r>(votes: &[Vote<'_, 'r>], rows: &[WeighedFinding<'_, 'r>]) -> Verdict<'r> {
    let began = |vote: &&Vote<'_, 'r>| {
        !(vote.before && vote.finding.is_some_and(|finding| finding.weight >= 60))
    };
    let cannot_begin = votes.iter().any(|vote| !began(&vote));
    let mut kinds: Vec<(Kind, usize, usize)> = Vec::new();
    for vote in votes.iter().filter(|vote| !cannot_begin || !began(vote)) {
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
    let mut verdict = Verdict::of(kind);
    let total: usize = kinds.iter().map(|row| row.1).sum();
    let expectation = matches!(kind, Kind::TestFailure | Kind::SnapshotMismatch);
    verdict.confidence = confidence::of_tests(count, total, expectation, finding.is_some());
    verdict.subkind = finding.and_then(|finding| finding.subkind.clone());
    verdict.rule = finding.map(|finding| finding.rule);
    verdict.tool = own.first().map(|vote| vote.runner);
    verdict.evidence = own.iter().map(|vote| vote.at).take(MOST_EVIDENCE).collect();
    verdict.evidence.dedup();
    let mut others: Vec<Kind> = kinds.iter().skip(1).map(|row| row.0).collect();
    others.extend(votes.iter().map(|vote| vote.kind));
    if kind != Kind::TestFailure {
        others.push(Kind::TestFailure);
    }
    others.extend(
        rows.iter()
            .filter(|row| row.weight >= 65)
            .map(|row| row.kind),
    );
    verdict.alternatives = alternatives(kind, &others, verdict.confidence);
    verdict
}

fn alternatives(kind: Kind, others: &[Kind], confidence: f64) -> Vec<Alternative> {
    let mut listed: Vec<Alternative> = Vec::new();
    for &other in others {
        if other == kind || listed.iter().any(|row| row.kind == other) || listed.len() >= 4 {
            continue;
        }
        let share = 0.5 / f64::from(u8::try_from(listed.len() + 1).unwrap_or(5));
        listed.push(Alternative {
            kind: other,
            confidence: confidence::steps(confidence * share),
        });
    }
    listed
}

// The nearest to the root cause wins; of equals the kind named most, then the first.
fn by_weight<'r>(
    rows: &[WeighedFinding<'_, 'r>],
    facts: &LogFacts,
    failed: &[Step],
    long: bool,
) -> Verdict<'r> {
    let mut kinds: Vec<(Kind, u8, usize, usize)> = Vec::new();
    for row in rows {
        let mentions = usize::from(row.finding.is_some());
        match kinds.iter_mut().find(|entry| entry.0 == row.kind) {
            Some(entry) => {
                if row.weight > entry.1 {
                    entry.3 = row.at;
                }
                entry.1 = entry.1.max(row.weight);
                entry.2 += mentions;
            }
            None => kinds.push((row.kind, row.weight, mentions, row.at)),
        }
    }
    kinds.sort_by_key(|&(_, weight, count, first)| (Reverse(weight), Reverse(count), first));
    let Some(&(kind, weight, count, _)) = kinds.first() else {
        return Verdict::of(Kind::Unknown);
    };
    let own = || {
        rows.iter()
            .filter(|row| row.kind == kind)
            .filter_map(|row| Some((row.weight, row.finding?)))
    };
    let best = own()
        .filter(|row| row.0 == weight)
        .min_by_key(|row| row.1.at)
        .map(|row| row.1);
    let floor = weight.saturating_sub(20);
    let mut verdict = Verdict::of(kind);
    verdict.evidence = own()
        .filter(|row| row.0 >= floor)
        .map(|row| row.1.at)
        .take(MOST_EVIDENCE)
        .collect();
    verdict.evidence.dedup();
    let rivals = kinds
        .iter()
        .skip(1)
        .filter(|row| row.1 + 3 >= weight)
        .count();
    verdict.confidence = confidence::Lines {
        weight,
        rivals,
        in_log: count > 0,
        step: !failed.is_empty(),
        long,
        passed: facts.exit_code == Some(0),
    }
    .confidence();
    let others: Vec<Kind> = kinds
        .iter()
        .skip(1)
        .filter(|row| row.1 >= SAYS_SOMETHING)
        .map(|row| row.0)
        .collect();
    verdict.alternatives = alternatives(kind, &others, verdict.confidence);
    verdict.subkind = best
        .and_then(|it| it.subkind.clone())
        .or_else(|| match kind {
            Kind::Timeout if facts.timed_out => Some(Subkind::Command),
            Kind::TestSetupError if code(failed, facts) == Some(5) => Some(Subkind::NoTests),
            Kind::Crash if matches!(code(failed, facts), Some(137 | -9)) => Some(Subkind::Killed),
            _ => None,
        });
    verdict.tool = best.map(|finding| finding.tool);
    verdict.rule = best.map(|finding| finding.rule);
    verdict
}

// What the way a process ended says when its log does not. Source: the shell's exit codes.
fn from_facts(facts: &LogFacts, code: Option<i32>) -> Vec<(Kind, u8)> {
    let mut rows = Vec::new();
    if facts.timed_out {
        rows.push((Kind::Timeout, 71));
    }
    match code {
        Some(124) if !facts.timed_out => rows.push((Kind::Timeout, 39)),
        Some(126) => rows.push((Kind::PermissionDenied, 21)),
        Some(127) => rows.push((Kind::CommandNotFound, 39)),
        Some(137 | -9) => rows.push((Kind::Crash, 21)),
        Some(134 | 135 | 136 | 139 | -4 | -6 | -7 | -8 | -11) => rows.push((Kind::Crash, 71)),
        Some(5)
            if facts
                .command
                .as_deref()
                .is_some_and(|line| line.contains("pytest")) =>
        {
            rows.push((Kind::TestSetupError, 21));
        }
        _ => {}
    }
    rows
}
