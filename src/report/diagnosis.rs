use super::page::{Mood, Page};
use crate::model::{Diagnosis, FailedTest, Failure, FailureKind, JobFailure, LeftOut};

/// Formats a diagnosis: kind, evidence, files, what to do.
#[must_use]
pub fn diagnosis_text(diagnosis: &Diagnosis, color: bool) -> String {
    page(diagnosis).text(color)
}

/// Formats the failures of several jobs, each with the jobs that show it.
#[must_use]
pub fn jobs_text(failures: &[JobFailure], color: bool) -> String {
    let block = |failure: &JobFailure| {
        let base = match failure.is_new {
            Some(true) => " (new: not on the base)",
            Some(false) => " (also on the base)",
            None => "",
        };
        let text = diagnosis_text(&failure.diagnosis, color);
        format!("in {}{base}\n{text}", failure.jobs.join(", "))
    };
    failures.iter().map(block).collect::<Vec<_>>().join("\n")
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
        Mood::Good
    } else {
        Mood::Bad
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
    page.section("Files:", files(diagnosis));
    if let Some(left_out) = &diagnosis.left_out {
        page.heading(format!("Left out: {}", left_out_words(left_out)));
    }
    let person = if diagnosis.requires_user_action {
        " (action required)"
    } else {
        ""
    };
    page.heading(format!("What to do{person}: {}", diagnosis.suggested_fix));
    let others = diagnosis.alternatives.iter();
    let others = others.map(|other| format!("{} {:.2}", other.kind, other.confidence));
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        page.line(format!("Also possible: {}", others.join(", ")));
    }
    page
}

// `path:line:column`; a file without a line only if no row has its line.
fn files(diagnosis: &Diagnosis) -> impl Iterator<Item = String> {
    let has_line = |path: &str| {
        let mut files = diagnosis.files.iter();
        files.any(|file| file.path == path && file.line.is_some())
    };
    let files = diagnosis.files.iter();
    let files = files.filter(move |file| file.line.is_some() || !has_line(&file.path));
    files.map(|file| {
        let numbers = [file.line, file.column].into_iter().flatten();
        let numbers: String = numbers.map(|number| format!(":{number}")).collect();
        let known = if file.in_repository {
            ""
        } else {
            "  (not found in the repository)"
        };
        format!("{}{numbers}{known}", file.path)
    })
}

fn left_out_words(left_out: &LeftOut) -> String {
    let parts = [
        (left_out.bytes, "bytes without a known word"),
        (left_out.lines, "lines among them"),
        (left_out.telling, "lines with one, beyond what is weighed"),
        (left_out.tests, "failing tests beyond those listed"),
    ];
    let parts = parts.iter().filter(|part| part.0 > 0);
    let parts: Vec<String> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    parts.join(", ")
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
