use std::collections::HashMap;

use super::decide::Inputs;
use super::locate::Locator;
use super::mention;
use super::steps::Step;
use super::verdict::{Finding, Verdict, WeighedFinding};
use crate::model::{Failure, FailureKind as Kind};

const MAX_FAILURES: usize = 50;
// A line that weighs less only passes a failure on.
const STANDS_ALONE: u8 = 25;
// A finding of a later step that is worth a row.
const WORTH_A_ROW: u8 = 50;

/// How many failures of other checkers are shown with their lines, and how far from the line their file stands.
const MAX_BESIDE: usize = 5;
const NEAR: usize = 4;

// Whether a program that only reads code reports such a failure.
fn is_of_checker(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::LintError | Kind::StaticTypeError | Kind::TsError | Kind::SyntaxError
    )
}

/// Returns the lines, as indices, of what other checkers found, and names the file beside each.
pub(super) fn place_other_checkers(
    failures: &mut [Failure],
    inputs: &Inputs<'_, '_>,
    locator: &Locator<'_>,
) -> Vec<usize> {
    let tool = failures.first().and_then(|first| first.tool.clone());
    let line_of = |failure: &Failure| {
        let mut lines = inputs.lines.iter();
        lines.position(|line| line.number == failure.line)
    };
    let is_other = |failure: &Failure| {
        // A file that does not parse is why a test failed, where some did.
        let is_alone = inputs.cases.is_empty() || failure.kind != Kind::SyntaxError;
        is_alone && !failure.follows && is_of_checker(failure.kind) && failure.tool != tool
    };
    let others = failures
        .iter_mut()
        .skip(1)
        .filter(|failure| is_other(failure));
    let others = others.filter_map(|failure| Some((line_of(failure)?, failure)));
    let mut others: Vec<(usize, &mut Failure)> = others.take(MAX_BESIDE).collect();
    let found: Vec<usize> = others.iter().map(|(at, _)| *at).collect();
    let files = mention::files(inputs.lines, &found, &[], locator);
    for (at, failure) in &mut others {
        let near = files
            .iter()
            .filter(|(line, file)| file.in_repository && line.abs_diff(*at) <= NEAR);
        if let Some((_, file)) = near.min_by_key(|(line, _)| (*line < *at, line.abs_diff(*at))) {
            (failure.path, failure.path_line) = (Some(file.path.clone()), file.line);
        }
    }
    found
}

/// Returns the failures of a log, the cause first: what the verdict names, other kinds of the failing
/// step, then the steps that failed after it.
pub(super) fn failures(
    verdict: &Verdict<'_>,
    rows: &[WeighedFinding<'_, '_>],
    failed: &[Step],
    inputs: &Inputs<'_, '_>,
) -> Vec<Failure> {
    let Some(&first) = verdict.evidence.first() else {
        return Vec::new();
    };
    let number = |at: usize| inputs.lines.get(at).map_or(0, |line| line.number);
    let same_kind = rows.iter().filter(|row| row.kind == verdict.kind).count();
    let mut failures = vec![Failure {
        kind: verdict.kind,
        subkind: verdict.subkind.clone(),
        tool: verdict.tool.map(str::to_owned),
        rule: verdict.rule.map(str::to_owned),
        line: number(first),
        path: None,
        path_line: None,
        count: same_kind.max(1) as u64,
        follows: false,
    }];
    let mut add = |kind: Kind, finding: &Finding<'_>, tool: &str, follows: bool| {
        let line = number(finding.at);
        let is_same = |earlier: &&mut Failure| {
            let same = earlier.line == line || earlier.tool.as_deref() == Some(tool);
            earlier.kind == kind && same
        };
        if let Some(earlier) = failures.iter_mut().find(is_same) {
            earlier.count += u64::from(earlier.line != line);
        } else if failures.len() < MAX_FAILURES {
            failures.push(Failure {
                kind,
                subkind: finding.subkind.clone(),
                tool: Some(tool.to_owned()),
                rule: Some(finding.rule.to_owned()).filter(|rule| !rule.is_empty()),
                line,
                path: None,
                path_line: None,
                count: 1,
                follows,
            });
        }
    };
    let causes = inputs
        .cases
        .iter()
        .filter_map(|case| Some((case.cause?, case.runner)));
    let runners: HashMap<usize, &str> = causes.collect();
    let by_tests = inputs
        .cases
        .iter()
        .any(|case| Some(case.runner) == verdict.tool);
    for row in rows {
        let Some(finding) = row.finding else { continue };
        let is_other = Some(finding.tool) != verdict.tool && !by_tests;
        // What a runner says of a failing test beside its cause is that test.
        let is_of_tests = matches!(finding.kind, Kind::TestFailure | Kind::TestSetupError)
            && verdict.tool == Some(finding.tool)
            && !runners.is_empty()
            && !runners.contains_key(&finding.at);
        if !is_of_tests && (row.kind != verdict.kind || is_checker(row.kind) && is_other) {
            let tool = runners.get(&row.at).copied().unwrap_or(finding.tool);
            add(row.kind, finding, tool, row.weight < STANDS_ALONE);
        }
    }
    let is_later = |at: usize| {
        let holds = |step: &Step| step.from <= at && at < step.to;
        failed.iter().skip(1).any(holds)
    };
    for case in inputs.cases.iter().filter(|case| is_later(case.at)) {
        let at = case.cause.unwrap_or(case.at);
        let unknown = Finding {
            at,
            kind: Kind::TestFailure,
            ..Finding::default()
        };
        let finding = inputs.by_line.get(&at).copied().unwrap_or(&unknown);
        add(finding.kind, finding, case.runner, false);
    }
    let strong = inputs
        .findings
        .iter()
        .filter(|finding| finding.weight >= WORTH_A_ROW);
    for finding in strong.filter(|finding| is_later(finding.at)) {
        add(finding.kind, finding, finding.tool, true);
    }
    failures
}

// Whether a program that only looks at code says such a thing.
fn is_checker(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::LintError | Kind::StaticTypeError | Kind::TsError | Kind::SyntaxError
    )
}
