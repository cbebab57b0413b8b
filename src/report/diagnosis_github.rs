use super::diagnosis_message::diagnosis_message;
use crate::model::{Diagnosis, FailureKind};

/// A diagnosis as one workflow command (a notice when nothing failed), at the first file of the repository that the log names.
#[must_use]
pub fn diagnosis_github(diagnosis: &Diagnosis) -> String {
    let mut properties = Vec::new();
    if let Some(file) = diagnosis.files.iter().find(|file| file.in_repository) {
        properties.push(format!("file={}", escape_property(&file.path)));
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
    format!(
        "::{level} {}::{}\n",
        properties.join(","),
        escape_message(&message)
    )
}

// The runner reads `%`, line ends and, in properties, `:` and `,` as its own.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}
