use std::borrow::Cow;

use crate::diagnose::line::Line;
use crate::runners::pattern;

pattern!(NAMED, r"^name: '([A-Z]\w*(?:Error|Exception))'$");
pattern!(UNBOUND, r"^error: '[\w$]+ is not defined'$");

/// Writes an error as every other runner does, name before message: node's runner has the two on
/// lines of their own in TAP, and `ReferenceError [Error]: ...` in its list for people.
pub(in crate::diagnose) fn name_errors(lines: &mut [Line<'_>]) {
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
            let unbound = || UNBOUND.is_match(lines[error].text.trim());
            match name.filter(|it| it != "AssertionError") {
                Some(name) => put_name(lines, error, &name),
                None if unbound() => put_name(lines, error, "ReferenceError"),
                None => {}
            }
        } else if text.contains("Error [Error]: ") {
            lines[at].text = Cow::Owned(lines[at].text.replacen("Error [Error]: ", "Error: ", 1));
        }
    }
}

fn put_name(lines: &mut [Line<'_>], error: usize, name: &str) {
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
