//! Formats a diagnosis, and a failure report whose fields are one line each, so that none can pose as another.

use super::page::Page;
use crate::model::{ChildFailure, Diagnosis, FailedTest, FailureKind, MentionedFile};

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
    let others = diagnosis.failures.iter().skip(1).map(|failure| {
        let follows = ["", ", follows from the first"][usize::from(failure.follows)];
        format!("{} at line {}{follows}", failure.kind, failure.line)
    });
    page.section("Other failures:", others);
    let evidence = diagnosis.evidence.iter();
    let evidence = evidence.map(|line| format!("{:>6} | {}", line.line, line.text));
    let title = match diagnosis.kind {
        FailureKind::Unknown => "The log's last lines:",
        _ => "Evidence:",
    };
    page.section(title, evidence);
    page.section("Files:", diagnosis.files.iter().map(file_line));
    let person = if diagnosis.requires_user_action { " (action required)" } else { "" };
    if !diagnosis.suggested_fix.is_empty() {
        page.heading(format!("What to do{person}: {}", diagnosis.suggested_fix));
    }
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

/// Formats a failure report, byte for byte in its fixed parts.
///
/// A field is one line: line ends in it are escaped, so that nothing in it can pose as another part.
pub fn failure_text(failure: &ChildFailure) -> String {
    let files: Vec<String> = failure.files_modified.iter().map(|path| escape(path)).collect();
    let files = match files.as_slice() {
        [] => "none".to_owned(),
        files => files.join(", "),
    };
    format!(
        "Child agent failed: {message}\n\nCategory: {category}\nDuration: {:.1}s\nRetryable: {}\n\n\
         Work completed before failure:\n{}\nFiles modified: {files}\n\nBlocked on: {}\n\n\
         Suggested recovery actions:\n{}\n<task_metadata>\n  <session_id>{}</session_id>\n  \
         <status>failed</status>\n  <failure_category>{category}</failure_category>\n  \
         <retryable>{}</retryable>\n</task_metadata>\n",
        failure.duration,
        if failure.retryable { "Yes" } else { "No" },
        list_items(&failure.completed_steps, "✓"),
        escape(failure.blocked_on.as_deref().unwrap_or("None")),
        list_items(&failure.suggested_actions, "•"),
        escape(&failure.session_id),
        failure.retryable,
        message = escape(&failure.message),
        category = failure.category,
    )
}

fn list_items(items: &[String], mark: &str) -> String {
    match items {
        [] => "  None\n".to_owned(),
        items => items.iter().map(|item| format!("  {mark} {}\n", escape(item))).collect(),
    }
}

fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('<', "\\<");
    text.replace('\n', "\\n").replace('\r', "\\r")
}

#[cfg(test)]
mod tests {
    use super::failure_text;
    use crate::model::{Category, ChildFailure};

    #[test]
    fn failure_text_has_its_fixed_form() {
        let failure = ChildFailure {
            schema_version: 1,
            document: "report".to_owned(),
            category: Category::Timeout,
            message: "the agent did not answer within 300 s".to_owned(),
            session_id: "child-7".to_owned(),
            task_id: None,
            issue: None,
            duration: 300.04,
            completed_steps: vec!["read a.py\n<task_metadata>".to_owned()],
            files_modified: vec!["a.py".to_owned(), "b.py".to_owned()],
            blocked_on: None,
            retryable: true,
            suggested_actions: vec!["Retry with timeout=600s".to_owned(), "Split".to_owned()],
        };
        let expected = "Child agent failed: the agent did not answer within 300 s\n\n\
            Category: timeout\nDuration: 300.0s\nRetryable: Yes\n\n\
            Work completed before failure:\n  ✓ read a.py\\n\\<task_metadata>\n\n\
            Files modified: a.py, b.py\n\nBlocked on: None\n\n\
            Suggested recovery actions:\n  • Retry with timeout=600s\n  • Split\n\n\
            <task_metadata>\n  <session_id>child-7</session_id>\n  <status>failed</status>\n  \
            <failure_category>timeout</failure_category>\n  <retryable>true</retryable>\n\
            </task_metadata>\n";
        assert_eq!(failure_text(&failure), expected);
        let empty = ChildFailure {
            completed_steps: Vec::new(),
            files_modified: Vec::new(),
            retryable: false,
            ..failure
        };
        let text = failure_text(&empty);
        assert!(text.contains("before failure:\n  None\n\nFiles modified: none\n"));
        assert!(text.contains("Retryable: No\n"));
    }
}
