//! Formats a diagnosis.

use super::page::Page;
use crate::model::{Diagnosis, FailedTest, Failure, FailureKind, MentionedFile};

/// Formats a diagnosis: kind, evidence, files, what to do.
pub fn diagnosis_text(diagnosis: &Diagnosis, color: bool) -> String {
    page(diagnosis).text(color)
}

fn page(diagnosis: &Diagnosis) -> Page {
    let mut page = Page::default();
    let mood = match diagnosis.kind {
        FailureKind::None => "good",
        _ => "bad",
    };
    let (kind, confidence) = (diagnosis.kind_words(), diagnosis.confidence);
    page.title(format!("{kind}, confidence {confidence:.2}"), mood);
    page.line(&diagnosis.explanation);
    let facts = "tool rule undefinedNames missingModules missingExports";
    page.fields(diagnosis, facts);
    page.section("Failing tests:", diagnosis.tests.iter().map(test));
    page.section(
        "Other failures:",
        diagnosis.failures.iter().skip(1).map(failure_line),
    );
    let evidence = diagnosis.evidence.iter();
    let evidence = evidence.map(|line| format!("{:>6} | {}", line.line, line.text));
    let title = match diagnosis.kind {
        FailureKind::Unknown => "The log's last lines:",
        _ => "Evidence:",
    };
    page.section(title, evidence);
    page.section("Files:", diagnosis.files.iter().map(file_line));
    let person = if diagnosis.requires_user_action {
        " (action required)"
    } else {
        ""
    };
    page.heading(format!("What to do{person}: {}", diagnosis.suggested_fix));
    page
}

fn file_line(file: &MentionedFile) -> String {
    let line = file.line.map_or(String::new(), |line| format!(":{line}"));
    let known = ["  (not found in the repository)", ""][usize::from(file.in_repository)];
    format!("{}{line}{known}", file.path)
}

fn test(test: &FailedTest) -> String {
    match (&test.path, test.line) {
        (Some(path), Some(line)) => format!("{} ({path}:{line})", test.id),
        (Some(path), None) if !test.id.contains(path.as_str()) => format!("{} ({path})", test.id),
        _ => test.id.clone(),
    }
}

fn failure_line(failure: &Failure) -> String {
    let follows = ["", ", follows from the first"][usize::from(failure.follows)];
    format!("{} at line {}{follows}", failure.kind, failure.line)
}
