//! Merges `JUnit` reports into a diagnosis.

use std::collections::{HashMap, HashSet};

use super::derive;
use super::document::build_answer;
use super::locate::{Locator, Scene};
use super::log::{LogFacts, View};
use super::normalise;
use super::runners;
use crate::junit::{Report, TestCase};
use crate::model::{Diagnosis, FailedTest, FailureKind as Kind};

/// Merges what reports say of the failing tests into a diagnosis: places and messages of those that the
/// log names, the others beside them, and where the log says nothing of its own, what they died of.
pub(super) fn add_reports(
    diagnosis: &mut Diagnosis,
    reports: &[Report],
    facts: &LogFacts,
    scene: Scene<'_>,
) {
    let failed: Vec<&TestCase> = reports.iter().flat_map(Report::failed).collect();
    if failed.is_empty() {
        return;
    }
    let locator = Locator::at(scene);
    let mut left: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, test) in diagnosis.tests.iter().enumerate().rev() {
        left.entry(only_letters(&test.id)).or_default().push(at);
    }
    let mut seen: HashSet<&str> = HashSet::new();
    let max_tests = 500;
    for case in &failed {
        let (path, line) = case_place(case, &locator).unzip();
        let line = line.flatten();
        let same = case_spellings(case).iter().find_map(|name| left.get_mut(name)?.pop());
        let is_new = seen.insert(&case.id);
        if let Some(test) = same.and_then(|at| diagnosis.tests.get_mut(at)) {
            test.message = message(case).or(test.message.take());
            if path.is_some() && (test.path.is_none() || test.line.is_none()) {
                (test.path, test.line) = (path, line.or(test.line));
            }
        } else if is_new && diagnosis.tests.len() >= max_tests {
            diagnosis.left_out.get_or_insert_default().tests += 1;
        } else if is_new {
            diagnosis.tests.push(FailedTest {
                id: case.id.replace(['\n', '\r'], " "),
                runner: case.runner.unwrap_or("junit").to_owned(),
                path,
                line,
                message: message(case),
                ..FailedTest::default()
            });
        }
    }
    diagnosis.failing_tests = diagnosis.tests.iter().map(|test| test.id.clone()).collect();
    // Failures whose words are asked for a kind.
    let max_asked = 20;
    // An answer below this says no more than that something failed.
    if matches!(diagnosis.kind, Kind::Unknown | Kind::None) || diagnosis.confidence < 0.5 {
        let text: String = failed
            .iter()
            .take(max_asked)
            .map(|case| format!("{}\n{}\n", message(case).unwrap_or_default(), case.detail))
            .collect();
        let found = build_answer(View::whole(&text), facts, Locator::default()).diagnosis;
        let kind = match found.kind {
            Kind::Unknown | Kind::None => Kind::TestFailure,
            Kind::RuntimeError if text.contains("Assertion") => Kind::TestFailure,
            kind => kind,
        };
        derive::set_kind(diagnosis, kind, None);
        // The confidence of a kind that is read from the words of a report.
        diagnosis.confidence = 0.8;
        diagnosis.alternatives.clear();
        diagnosis.tool = diagnosis.tests.first().map(|test| test.runner.clone());
        diagnosis.rule = None;
    }
}

// Runners put other signs between the parts of a name than their reports do.
fn only_letters(text: &str) -> String {
    text.replace(".py", "").chars().filter(|c| c.is_alphanumeric()).collect()
}

// What a runner may call the test of a report; the surest first.
fn case_spellings(case: &TestCase) -> Vec<String> {
    let (name, class) = (only_letters(&case.name), only_letters(&case.class));
    let mut found = vec![only_letters(&case.id)];
    if !name.is_empty() {
        found.extend([format!("{class}{name}"), format!("{name}{class}"), name]);
    }
    found
}

// In one line.
fn message(case: &TestCase) -> Option<String> {
    let text = case.message.as_deref().unwrap_or(&case.detail);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let end = first.floor_char_boundary(first.len().min(500));
    first.get(..end).map(str::to_owned)
}

// The test's file and line: what its stack says of it, else what the report does.
fn case_place(case: &TestCase, locator: &Locator<'_>) -> Option<(String, Option<u32>)> {
    let shown = |path: &str| locator.shown(path, 0);
    let lines = normalise::lines_of(View::whole(&case.detail)).all;
    // Lines of a stack that are looked at for the test's own.
    let frame = runners::first_script_frame(&lines, 0..60);
    let frame = frame.or_else(|| runners::first_python_frame(&lines));
    let frame = frame.map(|(path, line)| (shown(&path), line));
    let class = locator.find(&case.class, 0).map(|_| case.class.as_str());
    let Some(own) = case.file.as_deref().or(class).map(shown) else {
        return frame;
    };
    match frame {
        Some((path, line)) if own == path => Some((own, case.line.or(line))),
        Some(frame) if case.line.is_none() => Some(frame),
        _ => Some((own, case.line)),
    }
}
