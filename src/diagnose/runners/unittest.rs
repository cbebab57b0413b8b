use std::collections::HashSet;

use super::place;
use super::read::Case;
use crate::diagnose::line::{Line, above, below};
use crate::runners::pattern;

pattern!(METHOD, r"^(\w+) \(([\w.]+)\)");
pattern!(RAISED, r"^(?:[a-z_]\w*\.)*[A-Z]\w*(?:: |$)");
pattern!(DOCTEST, r#"^File "([^"]+)", line (\d+), in (\S+)$"#);

/// What unittest, nose, Django's runner and doctest report.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut doctests = HashSet::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if line.captured || line.quiet {
            continue;
        }
        if let Some(title) = title(lines, at) {
            cases.push(read(name(title), at, lines));
        } else if text.starts_with("Failed example:")
            && let Some(found) = at
                .checked_sub(1)
                .and_then(|before| DOCTEST.captures(&lines[before].text))
            && ruled(lines, at - 1, '*')
        {
            let name = found[3].to_owned();
            if doctests.insert(name.clone()) {
                cases.push(Case {
                    cause: Some(at),
                    place: Some((found[1].to_owned(), found[2].parse().ok())),
                    ..Case::new("doctest", name, at)
                });
            }
        }
    }
    cases
}

// What a heading names.
fn title<'l>(lines: &'l [Line<'_>], at: usize) -> Option<&'l str> {
    let text = lines.get(at)?.text.as_ref();
    let title = ["FAIL: ", "ERROR: "]
        .iter()
        .find_map(|it| text.strip_prefix(it))?;
    let is_method = || METHOD.is_match(title) && !title.contains(": ");
    (!title.is_empty() && (ruled(lines, at, '=') || is_method())).then_some(title)
}

fn ruled(lines: &[Line<'_>], at: usize, rule: char) -> bool {
    above(lines, at, 2).any(|text| text.len() > 20 && text.chars().all(|c| c == rule))
}

fn name(title: &str) -> String {
    if let Some(found) = METHOD.captures(title) {
        let (method, owner) = (&found[1], &found[2]);
        if owner.contains("loader._FailedTest") || owner.contains("loader.ModuleImportFailure") {
            return method.to_owned();
        }
        return if owner.rsplit('.').next() == Some(method) {
            owner.to_owned()
        } else {
            format!("{method} ({owner})")
        };
    }
    // nose names what it could not import by the error.
    title.trim().to_owned()
}

fn read(name: String, at: usize, lines: &[Line<'_>]) -> Case {
    let mut case = Case::new("unittest", name, at);
    let is_rule = |text: &str, rule| text.len() > 40 && text.chars().all(|each| each == rule);
    let head = below(lines, at, 8).position(|text| is_rule(text, '-'));
    let above = head.unwrap_or(0);
    for (index, line) in lines.iter().enumerate().skip(at + above + 1).take(2000) {
        let text = line.text.as_ref();
        if is_rule(text, '=')
            || is_rule(text, '-')
            || text.starts_with("---------- Captured")
            || text.contains(">> begin captured")
            || title(lines, index).is_some()
        {
            break;
        }
        if let Some(frame) = place::python_frame(text) {
            case.add_frame(frame, true);
        }
        if RAISED.is_match(text) && !text.starts_with("Traceback") {
            case.cause = Some(index);
        }
    }
    case
}
