use super::line::Line;
use super::locate::Locator;
use super::mention;
use super::runners::Case;
use super::steps::Step;
use super::verdict::{Finding, Verdict, WeighedFinding};
use crate::model::{Failure, FailureKind as Kind};
use std::collections::HashMap;

const MOST_FAILURES: usize = 50;
// Of what fails beside the cause, so many are shown with their lines.
const MOST_BESIDE: usize = 5;

/// Whether a program that only looks at code says such a thing.
fn is_of_checker(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::LintError | Kind::StaticTypeError | Kind::TsError | Kind::SyntaxError
    )
}

/// The lines, as indices, of other programs' failures that do not follow from the cause, each of which
/// gets the file that is named there.
pub(super) fn beside(
    failures: &mut [Failure],
    cases: &[Case],
    lines: &[Line<'_>],
    locator: &Locator<'_>,
) -> Vec<usize> {
    const NEAR: usize = 4;
    let tool = failures.first().and_then(|it| it.tool.clone());
    // What does not parse is what a test died of, where some did.
    let stands = |failure: &&mut Failure| {
        let alone = cases.is_empty() || failure.kind != Kind::SyntaxError;
        alone && !failure.follows && is_of_checker(failure.kind) && failure.tool != tool
    };
    let others = failures.iter_mut().skip(1).filter(stands);
    let at = |it: &Failure| lines.iter().position(|line| line.number == it.line);
    let others = others.filter_map(|it| Some((at(it)?, it)));
    let mut others: Vec<(usize, &mut Failure)> = others.take(MOST_BESIDE).collect();
    let found: Vec<usize> = others.iter().map(|it| it.0).collect();
    if !found.is_empty() {
        let files = mention::files(lines, &found, &[], locator);
        for (at, failure) in &mut others {
            let near = files
                .iter()
                .filter(|it| it.1.in_repository && it.0.abs_diff(*at) <= NEAR);
            if let Some((_, file)) = near.min_by_key(|it| (it.0 < *at, it.0.abs_diff(*at))) {
                (failure.path, failure.path_line) = (Some(file.path.clone()), file.line);
            }
        }
    }
    found
}

/// The failures of a log, the cause first: what the verdict names, other kinds of the failing step,
/// then the steps that failed after it.
pub(super) fn failures(
    verdict: &Verdict<'_>,
    rows: &[WeighedFinding<'_, '_>],
    failed: &[Step],
    findings: &[Finding<'_>],
    cases: &[Case],
    by_line: &HashMap<usize, &Finding<'_>>,
    lines: &[Line<'_>],
) -> Vec<Failure> {
    let mut failures: Vec<Failure> = Vec::new();
    let Some(&first) = verdict.evidence.first() else {
        return failures;
    };
    let number = |at: usize| lines.get(at).map_or(0, |line| line.number);
    let count = rows.iter().filter(|row| row.kind == verdict.kind).count();
    let new = |kind: Kind, finding: Option<&Finding<'_>>, at: usize, tool: Option<&str>| Failure {
        kind,
        subkind: finding.and_then(|it| it.subkind.clone()),
        tool: tool.map(str::to_owned),
        rule: finding.map(|it| it.rule.to_owned()),
        line: number(at),
        path: None,
        path_line: None,
        count: 1,
        follows: false,
    };
    failures.push(Failure {
        subkind: verdict.subkind.clone(),
        rule: verdict.rule.map(str::to_owned),
        count: count.max(1) as u64,
        ..new(verdict.kind, None, first, verdict.tool)
    });
    let mut add =
        |kind: Kind, finding: Option<&Finding<'_>>, at: usize, tool: &str, follows: bool| {
            let earlier = failures.iter_mut().find(|earlier| {
                let same = earlier.line == number(at) || earlier.tool.as_deref() == Some(tool);
                earlier.kind == kind && same
            });
            if let Some(earlier) = earlier {
                earlier.count += u64::from(earlier.line != number(at));
            } else if failures.len() < MOST_FAILURES {
                failures.push(Failure {
                    follows,
                    ..new(kind, finding, at, Some(tool))
                });
            }
        };
    let later = |at: usize| {
        failed
            .iter()
            .skip(1)
            .any(|step| step.from <= at && at < step.to)
    };
    // What a runner says of a failing test beside its cause is that test.
    let runners: HashMap<usize, &str> = cases
        .iter()
        .filter_map(|case| Some((case.cause?, case.runner)))
        .collect();
    let of_tests = |finding: &Finding<'_>| {
        matches!(finding.kind, Kind::TestFailure | Kind::TestSetupError)
            && verdict.tool == Some(finding.tool)
            && !runners.is_empty()
            && !runners.contains_key(&finding.at)
    };
    let is_other = |row: &&WeighedFinding<'_, '_>| {
        let tool = row.finding.map(|it| it.tool);
        let by_tests = cases.iter().any(|it| Some(it.runner) == verdict.tool);
        row.kind != verdict.kind || is_of_checker(row.kind) && tool != verdict.tool && !by_tests
    };
    for row in rows.iter().filter(is_other) {
        if let Some(finding) = row.finding.filter(|it| !of_tests(it)) {
            // A wrapper passes a failure on; another kind of its own weight stands beside it.
            let follows = row.weight < 25;
            let tool = runners.get(&row.at).copied().unwrap_or(finding.tool);
            add(row.kind, Some(finding), row.at, tool, follows);
        }
    }
    for case in cases.iter().filter(|case| later(case.at)) {
        let at = case.cause.unwrap_or(case.at);
        let finding = by_line.get(&at).copied();
        let kind = finding.map_or(Kind::TestFailure, |finding| finding.kind);
        add(kind, finding, at, case.runner, false);
    }
    for finding in findings
        .iter()
        .filter(|finding| later(finding.at) && finding.weight >= 50)
    {
        add(finding.kind, Some(finding), finding.at, finding.tool, true);
    }
    failures
}
