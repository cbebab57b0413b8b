use std::fmt::Write as _;

use super::diagnosis_text::diagnosis_message;
use crate::model::{Diagnosis, FailureKind, PatchVerdict};

/// A verdict as GitHub workflow commands, one for each problem.
#[must_use]
pub fn patch_github(verdict: &PatchVerdict, name: &str) -> String {
    let mut text = String::new();
    for problem in &verdict.problems {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "::{} file={},line={},title={}::{}",
            problem.severity.as_str(),
            property(name),
            problem.patch_line.max(1),
            problem.code,
            data(&problem.text()),
        );
    }
    for after in verdict.broken() {
        let _ = writeln!(
            text,
            "::warning file={},line={},title={}::{}",
            property(&after.path),
            after.line,
            after.code,
            data(&after.message),
        );
    }
    text
}

// GitHub's own escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A diagnosis as one workflow command (a notice when nothing failed), at the first file of the repository that the log names.
#[must_use]
pub fn diagnosis_github(diagnosis: &Diagnosis) -> String {
    let mut properties = Vec::new();
    if let Some(file) = diagnosis.files.iter().find(|file| file.in_repository) {
        properties.push(format!("file={}", property(&file.path)));
        properties.extend(file.line.map(|line| format!("line={line}")));
        properties.extend(file.column.map(|column| format!("col={column}")));
    }
    properties.push(format!("title={}", diagnosis.kind));
    let mut message = diagnosis_message(diagnosis);
    for line in diagnosis.evidence.iter().skip(1).take(2) {
        message.push('\n');
        message.push_str(&line.text);
    }
    let level = if diagnosis.kind == FailureKind::None {
        "notice"
    } else {
        "error"
    };
    format!("::{level} {}::{}\n", properties.join(","), data(&message))
}
