use super::page::Page;
use crate::model::{Diagnosis, FailedTest, Failure, FailureKind, MentionedFile};

/// Formats a diagnosis: kind, evidence, files, what to do.
pub fn diagnosis_text(diagnosis: &Diagnosis, color: bool) -> String {
    page(diagnosis).text(color)
}

fn page(diagnosis: &Diagnosis) -> Page {
    let mut page = Page::default();
    let mut title = format!(
        "{}, confidence {:.2}",
        diagnosis.kind_words(),
        diagnosis.confidence
    );
    for (word, name) in [("from", &diagnosis.tool), ("by", &diagnosis.rule)] {
        title.extend(name.iter().map(|name| format!(", {word} {name}")));
    }
    let mood = if diagnosis.kind == FailureKind::None {
        "good"
    } else {
        "bad"
    };
    page.title(title, mood);
    page.line(&diagnosis.explanation);
    for (title, names) in [
        ("Undefined names:", &diagnosis.undefined_names),
        ("Missing modules:", &diagnosis.missing_modules),
        ("Missing exports:", &diagnosis.missing_exports),
    ] {
        page.section(title, names.iter().cloned());
    }
    page.section("Failing tests:", diagnosis.tests.iter().map(test));
    page.section(
        "Other failures:",
        diagnosis.failures.iter().skip(1).map(failure),
    );
    let evidence = diagnosis.evidence.iter();
    let evidence = evidence.map(|line| format!("{:>6} | {}", line.line, line.text));
    let title = match diagnosis.kind {
        FailureKind::Unknown => "The log's last lines:",
        _ => "Evidence:",
    };
    page.section(title, evidence);
    page.section("Files:", diagnosis.files.iter().map(file));
    let person = if diagnosis.requires_user_action {
        " (action required)"
    } else {
        ""
    };
    page.heading(format!("What to do{person}: {}", diagnosis.suggested_fix));
    page
}

fn file(file: &MentionedFile) -> String {
    let numbers = [file.line, file.column].into_iter().flatten();
    let numbers: String = numbers.map(|number| format!(":{number}")).collect();
    let known = if file.in_repository {
        ""
    } else {
        "  (not found in the repository)"
    };
    format!("{}{numbers}{known}", file.path)
}

fn test(test: &FailedTest) -> String {
    match (&test.path, test.line) {
        (Some(path), Some(line)) => format!("{} ({path}:{line})", test.id),
        (Some(path), None) if !test.id.contains(path.as_str()) => format!("{} ({path})", test.id),
        _ => test.id.clone(),
    }
}

fn failure(failure: &Failure) -> String {
    let tool = failure.tool.as_ref().map(|tool| format!(", from {tool}"));
    let follows = if failure.follows {
        ", follows from the first"
    } else {
        ""
    };
    let tool = tool.unwrap_or_default();
    format!("{} at line {}{tool}{follows}", failure.kind, failure.line)
}
