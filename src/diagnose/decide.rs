//! Weighs the findings of a log and decides on the kind. Lines near the root cause win, because
//! wrappers repeat an error below it.

use super::findings::Finding;
use super::line::Line;
use super::log::LogFacts;
use super::runners::{Case, is_installed, python_frame};
use super::steps::{End, Job, Step};
use super::success::{denies_success, is_success, summary_of_success};
use super::votes::{Vote, votes};
use crate::model::{Alternative, FailureKind as Kind, Subkind};
use std::cmp::Reverse;
use std::collections::HashSet;

// From here on a finding says more than that something failed.
const SAYS_SOMETHING: u8 = 20;
// A shell error with this much output below it is no cause, since it did not stop its script.
const WENT_ON: usize = 40;
// More lines than one tool prints about one failure.
const LONG: usize = 400;
/// Lines of evidence of a diagnosis.
pub const MAX_EVIDENCE: usize = 20;

/// The facts of a log before the decision.
pub(super) struct Inputs<'i> {
    pub(super) lines: &'i [Line<'i>],
    pub(super) job: &'i Job,
    pub(super) cases: &'i [Case],
    /// In log order, one a line.
    pub(super) findings: &'i [Finding],
    pub(super) facts: &'i LogFacts,
    /// Whether the log holds all lines.
    pub(super) is_whole: bool,
}

impl<'i> Inputs<'i> {
    /// Returns what the rules find in a line.
    pub(super) fn finding_at(&self, at: usize) -> Option<&'i Finding> {
        let found = self.findings.binary_search_by_key(&at, |own| own.at);
        self.findings.get(found.ok()?)
    }

    /// Whether the run is known to have failed.
    pub(super) fn run_failed(&self) -> bool {
        self.facts.timed_out || self.facts.exit_code.is_some_and(|code| code != 0)
    }

    fn exit_code(&self) -> Option<i32> {
        let exit = self.job.failed().next().and_then(|step| match step.end {
            End::Failed(code) => code,
            _ => None,
        });
        exit.or(self.facts.exit_code)
    }
}

/// The decision about a log, before names and files are gathered.
#[derive(Default)]
pub(super) struct Verdict<'f> {
    pub(super) kind: Kind,
    pub(super) subkind: Option<Subkind>,
    pub(super) alternatives: Vec<Alternative>,
    pub(super) confidence: f64,
    /// Indices of lines, the most telling first of its kind, in log order.
    pub(super) evidence: Vec<usize>,
    pub(super) tool: Option<&'static str>,
    pub(super) rule: Option<&'static str>,
    /// Whether the failing tests decided.
    pub(super) is_by_tests: bool,
    /// The findings of the step, weighed.
    pub(super) rows: Vec<Row<'f>>,
    pub(super) scope: Scope,
}

impl Verdict<'_> {
    /// Whether no row of a tool says what failed; at most one says that something did.
    pub(super) fn is_open(&self) -> bool {
        let says_nothing = self.rows.iter().all(|row| row.weight < SAYS_SOMETHING);
        self.kind != Kind::None && !self.is_by_tests && says_nothing
    }
}

/// The steps of a job whose lines can say why it failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope(Vec<Step>);

impl Scope {
    /// Whether the line belongs to it.
    pub(super) fn holds(&self, at: usize) -> bool {
        self.0.iter().any(|step| step.from <= at && at < step.to)
    }

    /// Where its last line ends.
    pub(super) fn end(&self) -> Option<usize> {
        self.0.last().map(|step| step.to)
    }

    // The first step that failed is the cause of the others; without one what the service does not call
    // passed.
    fn from_job(job: &Job) -> Self {
        let open = job.steps.iter().filter(|step| step.end == End::Open);
        let first = job.failed().next();
        Self(first.map_or_else(|| open.copied().collect(), |step| vec![step]))
    }
}

/// A finding as the verdict weighs it; without a finding, what the end of the process says.
#[derive(Clone, Copy)]
pub(super) struct Row<'f> {
    pub(super) kind: Kind,
    pub(super) weight: u8,
    pub(super) at: usize,
    pub(super) finding: Option<&'f Finding>,
}

/// Decides what a log says: the step that failed; in it the runner's own reports, then the line
/// nearest to the root cause; then what ended the machine's work further up.
pub(super) fn decide_verdict<'i>(inputs: &Inputs<'i>) -> Verdict<'i> {
    let (lines, job) = (inputs.lines, inputs.job);
    let scope = Scope::from_job(job);
    let is_passed =
        job.passed == Some(true) && !job.passed_at.is_some_and(|at| denies_success(lines, at + 1));
    // The confidence of a verdict is the share of answers like it that were right, measured on labelled logs of public
    // jobs; the table is in docs.
    let [passed_by_service, passed_by_runner] = [0.95, 0.85];
    if is_passed && !inputs.run_failed() {
        let at = job.passed_at.or_else(|| summary_of_success(lines));
        return passed_verdict(at, scope, passed_by_service);
    }
    let reported = inputs.cases.iter().filter(|case| scope.holds(case.at));
    let reported: Vec<&Case> = reported.collect();
    let rows = weigh_rows(inputs, &scope);
    let ends_all = rows.iter().any(|row| {
        let is_captured = lines.get(row.at).is_some_and(|line| line.captured);
        let is_inside = reported
            .iter()
            .any(|case| case.at <= row.at && row.at < case.block.end.max(case.at + LONG));
        // Weights from 90 on are resources of the machine: nothing in the project causes them, and later messages
        // only follow from them.
        row.weight >= 90 && !is_captured && !is_inside
    });
    let votes = if inputs.facts.timed_out || ends_all {
        Vec::new()
    } else {
        votes(&reported, &scope, inputs)
    };
    let verdict = if !votes.is_empty() {
        by_tests(&votes, &rows)
    } else if !rows.is_empty() {
        by_weight(&rows, inputs)
    } else if inputs.is_whole && !inputs.run_failed() && job.passed.is_none() && is_success(lines) {
        return passed_verdict(summary_of_success(lines), scope, passed_by_runner);
    } else {
        Verdict::default()
    };
    let hung = inputs.facts.timed_out.then(|| hung_at(lines)).flatten();
    Verdict {
        rows,
        scope,
        evidence: hung.map_or(verdict.evidence, |at| vec![at]),
        ..verdict
    }
}

// Where a process that was asked for its stack waited: its innermost own frame.
fn hung_at(lines: &[Line<'_>]) -> Option<usize> {
    let mut frames = lines.iter().map(|line| python_frame(&line.text));
    frames.position(|frame| frame.is_some_and(|frame| !is_installed(&frame.0)))
}

fn passed_verdict<'f>(at: Option<usize>, scope: Scope, confidence: f64) -> Verdict<'f> {
    Verdict {
        kind: Kind::None,
        confidence,
        scope,
        evidence: at.into_iter().collect(),
        ..Verdict::default()
    }
}

// The findings of the failing step, and what the way the process ended says.
fn weigh_rows<'i>(inputs: &Inputs<'i>, scope: &Scope) -> Vec<Row<'i>> {
    let end = scope.end().unwrap_or(inputs.lines.len());
    let filled: Vec<usize> =
        (0..end).filter(|at| !inputs.lines[*at].text.trim().is_empty()).collect();
    let findings = inputs.findings.iter().filter(|own| own.at < end && own.weight >= 50);
    let last_strong = findings.rev().find(|own| !own.is_of_shell());
    let last_strong = last_strong.map(|finding| finding.at);
    let has_step = inputs.job.failed().next().is_some();
    let own = inputs.findings.iter().filter(|own| scope.holds(own.at));
    let own = own.map(|finding| {
        let below = filled.len() - filled.partition_point(|at| *at <= finding.at);
        let went_on = below > WENT_ON && (has_step || below > 4 * WENT_ON)
            || below > WENT_ON / 4 && last_strong > Some(finding.at);
        let is_passed = finding.is_of_shell() && finding.weight >= 25 && went_on;
        // A process that hung was asked where it was, and died of that.
        let is_ours = inputs.facts.timed_out && finding.kind == Kind::Crash;
        Row {
            kind: if is_ours { Kind::Timeout } else { finding.kind },
            // The weight of such a line is less than that of any line that states a failure.
            weight: if is_passed { 16 } else { finding.weight },
            at: finding.at,
            finding: (!is_ours).then_some(finding),
        }
    });
    let ended = run_ending(inputs).into_iter().map(|(kind, weight)| Row {
        kind,
        weight,
        at: usize::MAX,
        finding: None,
    });
    own.chain(ended).collect()
}

// The kind that the exit code shows when the log shows none. Source: the shell's exit codes.
fn run_ending(inputs: &Inputs<'_>) -> Option<(Kind, u8)> {
    if inputs.facts.timed_out {
        return Some((Kind::Timeout, 71));
    }
    let command = inputs.facts.command.as_deref().unwrap_or_default();
    match inputs.exit_code()? {
        124 => Some((Kind::Timeout, 39)),
        126 => Some((Kind::PermissionDenied, 21)),
        127 => Some((Kind::CommandNotFound, 39)),
        137 | -9 => Some((Kind::Crash, 21)),
        134 | 135 | 136 | 139 | -4 | -6 | -7 | -8 | -11 => Some((Kind::Crash, 71)),
        5 if command.contains("pytest") => Some((Kind::TestSetupError, 21)),
        _ => None,
    }
}

// Tests that could not begin decide first; then what most tests died of; of equals an expectation,
// then the first.
fn by_tests<'f>(votes: &[Vote<'f>], rows: &[Row<'_>]) -> Verdict<'f> {
    let cannot_begin = votes.iter().any(Vote::prevents_tests);
    let deciding = votes.iter().filter(|vote| !cannot_begin || vote.prevents_tests());
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    for vote in deciding {
        match kinds.iter_mut().find(|row| row.0 == vote.kind) {
            Some(row) => row.1 += 1,
            None => kinds.push((vote.kind, 1)),
        }
    }
    // The sort is stable: of equals the first.
    kinds.sort_by_key(|&(kind, count)| (Reverse(count), kind != Kind::TestFailure));
    let (kind, count) = kinds.first().copied().unwrap_or_default();
    let own: Vec<&Vote<'f>> = votes.iter().filter(|vote| vote.kind == kind).collect();
    let finding = own.iter().find_map(|vote| vote.finding);
    let total: usize = kinds.iter().map(|row| row.1).sum();
    let base = match (kind, finding) {
        (Kind::TestFailure | Kind::SnapshotMismatch, _) => 0.95,
        (_, Some(_)) => 0.9,
        (_, None) => 0.8,
    };
    let split = match count {
        count if count == total => 0.0,
        count if count * 2 > total => 0.15,
        _ => 0.3,
    };
    let confidence = in_steps(base - split);
    let strong = rows.iter().filter(|row| row.weight >= 65);
    let others = kinds.iter().skip(1).map(|row| row.0);
    let others = others.chain(votes.iter().map(|vote| vote.kind));
    let others = others.chain([Kind::TestFailure]);
    let others = others.chain(strong.map(|row| row.kind));
    let mut evidence: Vec<usize> = own.iter().map(|vote| vote.at).take(MAX_EVIDENCE).collect();
    evidence.dedup();
    Verdict {
        kind,
        confidence,
        subkind: finding.and_then(|finding| finding.subkind.clone()),
        rule: finding.map(|finding| finding.rule),
        tool: own.first().map(|vote| vote.runner),
        is_by_tests: true,
        alternatives: list_alternatives(kind, others, confidence),
        evidence,
        ..Verdict::default()
    }
}

fn list_alternatives(
    kind: Kind,
    others: impl Iterator<Item = Kind>,
    confidence: f64,
) -> Vec<Alternative> {
    let mut seen = HashSet::from([kind]);
    let listed = others.filter(|other| seen.insert(*other));
    let listed = listed.take(4).zip(1_u8..);
    let alternatives = listed.map(|(kind, place)| Alternative {
        kind,
        confidence: in_steps(confidence * 0.5 / f64::from(place)),
    });
    alternatives.collect()
}

/// The lines of one kind taken together.
#[derive(Default)]
struct Sum {
    kind: Kind,
    weight: u8,
    mentions: usize,
    first: usize,
}

// The nearest to the root cause wins; of equals the kind named most, then the first.
fn by_weight<'f>(rows: &[Row<'f>], inputs: &Inputs<'_>) -> Verdict<'f> {
    let mut sums: Vec<Sum> = Vec::new();
    for row in rows {
        let at = sums.iter().position(|sum| sum.kind == row.kind).unwrap_or(sums.len());
        sums.resize_with(sums.len().max(at + 1), Sum::default);
        let sum = &mut sums[at];
        if row.weight > sum.weight {
            (sum.weight, sum.first) = (row.weight, row.at);
        }
        sum.kind = row.kind;
        sum.mentions += usize::from(row.finding.is_some());
    }
    sums.sort_by_key(|sum| (Reverse(sum.weight), Reverse(sum.mentions), sum.first));
    let Some((best, others)) = sums.split_first() else {
        return Verdict::default();
    };
    let (kind, weight) = (best.kind, best.weight);
    let own = rows.iter().filter(|row| row.kind == kind && row.finding.is_some());
    let first = own.clone().find(|row| row.weight == weight);
    let finding = first.and_then(|row| row.finding);
    let rivals = others.iter().filter(|sum| sum.weight + 3 >= weight).count();
    let confidence = confidence_of_line(best, rivals, inputs);
    let usual = match (kind, inputs.exit_code()) {
        (Kind::Timeout, _) if inputs.facts.timed_out => Some(Subkind::Command),
        (Kind::TestSetupError, Some(5)) => Some(Subkind::NoTests),
        (Kind::Crash, Some(137 | -9)) => Some(Subkind::Killed),
        _ => None,
    };
    let near = own.filter(|row| row.weight >= weight.saturating_sub(20));
    let others = others.iter().filter(|sum| sum.weight >= SAYS_SOMETHING);
    Verdict {
        kind,
        confidence,
        subkind: finding.and_then(|finding| finding.subkind.clone()).or(usual),
        tool: finding.map(|finding| finding.tool),
        rule: finding.map(|finding| finding.rule),
        alternatives: list_alternatives(kind, others.map(|sum| sum.kind), confidence),
        evidence: near.map(|row| row.at).take(MAX_EVIDENCE).collect(),
        ..Verdict::default()
    }
}

// `rivals` are other kinds about as near to the root cause.
fn confidence_of_line(sum: &Sum, rivals: usize, inputs: &Inputs<'_>) -> f64 {
    let base: f64 = match sum.weight {
        65.. => 0.95,
        40..=64 => 0.85,
        25..=39 => 0.9,
        20..=24 => 0.7,
        _ => 0.4,
    };
    // In a long log that no service cut into steps a line may be of something else.
    let is_unsure = inputs.lines.len() > LONG && inputs.job.failed().next().is_none();
    let base = if is_unsure { base.min(0.85) } else { base };
    let rivals = 0.15 * f64::from(u8::try_from(rivals.min(3)).unwrap_or(3));
    let is_said = sum.mentions > 0 || inputs.facts.timed_out;
    let unsaid = if is_said { 0.0 } else { 0.25 };
    let passed = if inputs.facts.exit_code == Some(0) { 0.4 } else { 0.0 };
    in_steps((base - rivals - unsaid - passed).clamp(0.05, 0.95))
}

// Rounds to steps of 0.05.
fn in_steps(value: f64) -> f64 {
    (value * 20.0).round() / 20.0
}
