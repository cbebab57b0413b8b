//! Joins error name and message of Node's runner, so that its errors read like those of other runners.

use std::borrow::Cow;

use crate::diagnose::line::Line;
use crate::runners::pattern;

/// Writes errors of node's runner as other runners do, name before message: its TAP form has the two
/// on lines of their own, its list for people prints `ReferenceError [Error]: ...`.
pub(in crate::diagnose) fn join_error_names(lines: &mut [Line<'_>]) {
    pattern!(NAMED, r"^name: '([A-Z]\w*(?:Error|Exception))'$");
    for at in 0..lines.len() {
        let text = lines[at].text.trim();
        if text.contains("Error [Error]: ") {
            lines[at].text = Cow::Owned(lines[at].text.replacen("Error [Error]: ", "Error: ", 1));
            continue;
        }
        let found = text.starts_with("name: '").then(|| NAMED.captures(text));
        let Some(name) = found.flatten().map(|found| found[1].to_owned()) else {
            continue;
        };
        // Lines of a message above its name.
        let error = (at.saturating_sub(12)..at)
            .rev()
            .find(|at: &usize| lines[*at].text.trim_start().starts_with("error: "));
        let Some(error) = error.filter(|_| name != "AssertionError") else {
            continue;
        };
        // The text of a YAML block is below its mark.
        let is_block = lines[error].text.ends_with('-');
        let line = &mut lines[error + usize::from(is_block)];
        let start = if is_block { "" } else { "error: " };
        let skip = line.text.find(start).unwrap_or(0) + start.len();
        let rest = line.text.get(skip..).unwrap_or_default();
        let from = skip + rest.len() - rest.trim_start_matches([' ', '\'', '"']).len();
        if !line.text[from..].starts_with(&name) {
            line.text.to_mut().insert_str(from, &format!("{name}: "));
        }
    }
}
