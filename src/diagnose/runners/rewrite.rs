use std::borrow::Cow;

use crate::diagnose::line::Line;
use crate::runners::pattern;

pattern!(NAMED, r"^name: '([A-Z]\w*(?:Error|Exception))'$");
pattern!(UNBOUND, r"^error: '[\w$]+ is not defined'$");

/// Writes errors of node's runner as other runners do, name before message: its TAP form has the two
/// on lines of their own, its list for people prints `ReferenceError [Error]: ...`.
pub(in crate::diagnose) fn join_error_names(lines: &mut [Line<'_>]) {
    let mut block: Option<Option<usize>> = None;
    for at in 0..lines.len() {
        let text = lines[at].text.trim();
        if text == "---" {
            block = Some(None);
        } else if text.starts_with("error: ") && block == Some(None) {
            block = Some(Some(at));
        } else if text.starts_with("name: ") || text == "..." {
            let name = NAMED.captures(text).map(|found| found[1].to_owned());
            let Some(error) = block.take().flatten() else {
                continue;
            };
            let is_unbound = UNBOUND.is_match(lines[error].text.trim());
            let unbound = || is_unbound.then(|| "ReferenceError".to_owned());
            let name = name.filter(|name| name != "AssertionError");
            if let Some(name) = name.or_else(unbound) {
                insert_name(lines, error, &name);
            }
        } else if text.contains("Error [Error]: ") {
            lines[at].text = Cow::Owned(lines[at].text.replacen("Error [Error]: ", "Error: ", 1));
        }
    }
}

fn insert_name(lines: &mut [Line<'_>], error: usize, name: &str) {
    let text = lines[error].text.as_ref();
    let from = text.find("error: ").map_or(0, |at| at + "error: ".len());
    let is_block = text[from..].starts_with(['|', '>']);
    let (at, from) = if is_block {
        (error + 1, 0)
    } else {
        (error, from)
    };
    let Some(line) = lines.get_mut(at) else {
        return;
    };
    let rest = &line.text[from..];
    let message = from + rest.len() - rest.trim_start_matches([' ', '\'', '"']).len();
    if !line.text[message..].starts_with(name) {
        line.text.to_mut().insert_str(message, &format!("{name}: "));
    }
}
