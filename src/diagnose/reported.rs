use std::collections::{HashMap, HashSet};

use super::derive;
use super::document::answer;
use super::facts::LogFacts;
use super::line::Line;
use super::locate::{Locator, Scene};
use super::log::View;
use super::normalise;
use super::runners;
use crate::junit::{Case, Report};
use crate::model::{Alternative, Diagnosis, FailedTest, FailureKind as Kind};

// Failures whose words are asked for a kind.
const MOST_ASKED: usize = 50;
const MOST_TESTS: usize = 500;
const LONGEST_MESSAGE: usize = 500;
// An answer below this says no more than that something failed.
const SURE: f64 = 0.5;

/// Adds what reports of the tests say: places and messages of those that the log names, the others
/// beside them, and where the log says nothing of its own, what most of them died of.
pub(super) fn add_reports(
    diagnosis: &mut Diagnosis,
    reports: &[Report],
    facts: &LogFacts,
    scene: Scene<'_>,
) {
    let failed: Vec<&Case> = reports.iter().flat_map(Report::failed).collect();
    if failed.is_empty() {
        return;
    }
    let locator = Locator::at(scene);
    let mut left: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, test) in diagnosis.tests.iter().enumerate().rev() {
        left.entry(bare(&test.id)).or_default().push(at);
    }
    let mut seen: HashSet<String> = HashSet::new();
    for case in &failed {
        let place = place(case, &locator);
        let message = message(case);
        let same = spellings(case)
            .iter()
            .find_map(|name| left.get_mut(name)?.pop());
        if let Some(at) = same {
            let test = &mut diagnosis.tests[at];
            seen.insert(case.id.clone());
            test.message = message.or(test.message.take());
            if let Some((path, line)) = place
                && (test.path.is_none() || test.line.is_none())
            {
                test.path = Some(path);
                test.line = line.or(test.line);
            }
        } else if seen.insert(case.id.clone()) {
            let (path, line) = place.map_or((None, None), |(path, line)| (Some(path), line));
            diagnosis.tests.push(FailedTest {
                id: case.id.replace(['\n', '\r'], " "),
                runner: case.runner.unwrap_or("junit").to_owned(),
                path,
                line,
                crash_path: None,
                crash_line: None,
                log_line: None,
                message,
            });
        }
    }
    let over = diagnosis.tests.len().saturating_sub(MOST_TESTS);
    if over > 0 {
        diagnosis.left_out.get_or_insert_default().tests += over as u64;
        diagnosis.tests.truncate(MOST_TESTS);
    }
    diagnosis.failing_tests = diagnosis.tests.iter().map(|it| it.id.clone()).collect();
    if matches!(diagnosis.kind, Kind::Unknown | Kind::None) || diagnosis.confidence < SURE {
        decide(diagnosis, &failed, facts);
    }
}

// What most of the tests died of, an expectation before others.
fn decide(diagnosis: &mut Diagnosis, failed: &[&Case], facts: &LogFacts) {
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    for case in failed.iter().take(MOST_ASKED) {
        let text = format!(
            "{}\n{}",
            case.message.as_deref().unwrap_or_default(),
            case.detail
        );
        let alone = answer(View::whole(&text), facts, Locator::default()).diagnosis;
        let expected = text.contains("AssertionError") || text.contains("AssertionFailedError");
        let kind = match alone.kind {
            Kind::RuntimeError if expected => Kind::TestFailure,
            Kind::Unknown | Kind::None => Kind::TestFailure,
            kind => kind,
        };
        match kinds.iter_mut().find(|row| row.0 == kind) {
            Some(row) => row.1 += 1,
            None => kinds.push((kind, 1)),
        }
    }
    kinds.sort_by_key(|&(kind, count)| (std::cmp::Reverse(count), kind != Kind::TestFailure));
    let Some(&(kind, _)) = kinds.first() else {
        return;
    };
    derive::say(diagnosis, kind, None);
    diagnosis.confidence = if kinds.len() == 1 { 0.9 } else { 0.75 };
    diagnosis.alternatives = kinds
        .iter()
        .skip(1)
        .take(4)
        .map(|&(kind, _)| Alternative {
            kind,
            confidence: 0.25,
        })
        .collect();
    diagnosis.tool = diagnosis.tests.first().map(|test| test.runner.clone());
    diagnosis.rule = None;
}

// Runners put other signs between the parts of a name than their reports do.
fn bare(text: &str) -> String {
    let text = text.replace(".py", "");
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

// What a runner may call the test of a report, bare; the surest first.
fn spellings(case: &Case) -> Vec<String> {
    let (name, class) = (bare(&case.name), bare(&case.class));
    let mut found = vec![bare(&case.id)];
    if !name.is_empty() {
        found.extend([format!("{class}{name}"), format!("{name}{class}"), name]);
    }
    found
}

// In one line.
fn message(case: &Case) -> Option<String> {
    let text = case.message.as_deref().unwrap_or(&case.detail);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let end = first.floor_char_boundary(LONGEST_MESSAGE.min(first.len()));
    first.get(..end).map(str::to_owned)
}

// The test's file and line: what its stack says of it, else what the report does.
fn place(case: &Case, locator: &Locator<'_>) -> Option<(String, Option<u32>)> {
    let lines: Vec<Line<'_>> = normalise::lines_of(View::whole(&case.detail)).all;
    let shown = |path: &str| {
        let found = locator.find(path, 0).map(str::to_owned);
        found.unwrap_or_else(|| runners::relative(path))
    };
    let frame = runners::of_stack(&lines, 0, |_| false).or_else(|| runners::of_python(&lines));
    let own = case.file.as_deref().map(shown);
    let of_class = || {
        let last = case.class.rsplit(['/', ':']).next().unwrap_or_default();
        (last.contains('.') && locator.find(&case.class, 0).is_some()).then(|| shown(&case.class))
    };
    match (
        own.or_else(of_class),
        frame.map(|(path, line)| (shown(&path), line)),
    ) {
        (Some(own), Some((path, line))) if own == path => Some((own, case.line.or(line))),
        (Some(own), frame) if case.line.is_some() || frame.is_none() => Some((own, case.line)),
        (_, frame) => frame,
    }
}
