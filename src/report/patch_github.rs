use std::fmt::Write as _;

use crate::model::{PatchVerdict, Severity};

/// A verdict as GitHub workflow commands, one for each problem.
#[must_use]
pub fn patch_github(verdict: &PatchVerdict, name: &str) -> String {
    let mut text = String::new();
    for problem in &verdict.problems {
        let word = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let path = problem
            .path
            .as_deref()
            .map(|path| format!("{path}: "))
            .unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "::{word} file={},line={},title={}::{}",
            property(name),
            problem.patch_line.max(1),
            problem.code,
            data(&format!("{path}{}", problem.message)),
        );
    }
    for after in verdict
        .new_syntax_errors
        .iter()
        .chain(&verdict.new_unresolved_imports)
    {
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
