use std::fmt::Write as _;

use crate::model::PatchVerdict;

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
