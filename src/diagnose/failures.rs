//! Lists the failures of the failing step, the cause first.

use std::collections::HashMap;

use super::decide::{Inputs, Verdict};
use super::locate::Locator;
use super::mention;
use crate::model::{Failure, FailureKind as Kind, MentionedFile};

/// Returns the failures of the failing step, the cause first; what a checker found beside it has its file.
pub(super) fn list_failures(
    verdict: &Verdict<'_>,
    inputs: &Inputs<'_>,
    locator: &Locator<'_>,
) -> Vec<Failure> {
    let Some(&first) = verdict.evidence.first().filter(|_| verdict.kind != Kind::None) else {
        return Vec::new();
    };
    let number = |at: usize| inputs.lines.get(at).map_or(0, |line| line.number);
    let same_kind = verdict.rows.iter().filter(|row| row.kind == verdict.kind);
    let mut failures = vec![Failure {
        kind: verdict.kind,
        subkind: verdict.subkind.clone(),
        tool: verdict.tool.map(str::to_owned),
        rule: verdict.rule.map(str::to_owned),
        line: number(first),
        path: None,
        path_line: None,
        count: same_kind.count().max(1) as u64,
        follows: false,
    }];
    let causes = inputs.cases.iter().filter_map(|case| Some((case.cause?, case.runner)));
    let runners: HashMap<usize, &str> = causes.collect();
    let by_tests = inputs.cases.iter().any(|case| Some(case.runner) == verdict.tool);
    // A line that weighs less only passes a failure on.
    let stands_alone = 25;
    for row in &verdict.rows {
        let Some(finding) = row.finding else { continue };
        // A finding of another checker is a failure of its own.
        let is_other = is_checker(row.kind) && Some(finding.tool) != verdict.tool && !by_tests;
        // What a runner says about a failing test beside its cause belongs to that test.
        let is_of_tests = matches!(finding.kind, Kind::TestFailure | Kind::TestSetupError)
            && verdict.tool == Some(finding.tool)
            && !runners.is_empty()
            && !runners.contains_key(&finding.at);
        if is_of_tests || row.kind == verdict.kind && !is_other {
            continue;
        }
        let tool = runners.get(&row.at).copied().unwrap_or(finding.tool);
        let line = number(finding.at);
        if let Some(earlier) = failures.iter_mut().find(|earlier| {
            let same = earlier.line == line || earlier.tool.as_deref() == Some(tool);
            earlier.kind == row.kind && same
        }) {
            earlier.count += u64::from(earlier.line != line);
        } else if failures.len() < 50 {
            // A file that does not parse is why a test failed, where some did.
            let is_alone = inputs.cases.is_empty() || row.kind != Kind::SyntaxError;
            let is_placed = is_alone && is_checker(row.kind) && row.weight >= stands_alone;
            let place = is_placed.then(|| place_near(finding.at, inputs, locator)).flatten();
            failures.push(Failure {
                kind: row.kind,
                subkind: finding.subkind.clone(),
                tool: Some(tool.to_owned()),
                rule: Some(finding.rule.to_owned()),
                line,
                path: place.as_ref().map(|place| place.path.clone()),
                path_line: place.and_then(|place| place.line),
                count: 1,
                follows: row.weight < stands_alone,
            });
        }
    }
    failures
}

// The file of the repository that is named in a line or near it.
fn place_near(at: usize, inputs: &Inputs<'_>, locator: &Locator<'_>) -> Option<MentionedFile> {
    const NEAR: usize = 4;
    let from = at.saturating_sub(NEAR);
    let near = inputs.lines.get(from..inputs.lines.len().min(at + NEAR + 1))?;
    let files = mention::mentioned_files(near, &[at - from], &[], locator);
    files.into_iter().find(|file| file.in_repository)
}

// Whether a program that only looks at code says such a thing.
fn is_checker(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::LintError | Kind::StaticTypeError | Kind::TsError | Kind::SyntaxError
    )
}
