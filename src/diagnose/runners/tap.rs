use std::borrow::Cow;
use std::cell::LazyCell;

use super::place;
use super::read::{Case, Cases, first_from, headings};
use crate::diagnose::line::Line;
use crate::runners::pattern;

pattern!(POINT, r"^(\s*)not ok \d+ (?:- )?(.+?)(?: # .*)?$");
pattern!(
    PLACE,
    r#"^\s*(?:location: '|at: "?(?:.*\()?)(?:file://)?([^'"()]+?):(\d+):\d+"#
);
pattern!(
    STACK,
    r"^(?:.*\()?(?:file://)?((?:[A-Za-z]:)?[\\/][^():]+\.[cm]?[jt]sx?):(\d+):\d+\)?$"
);
pattern!(AVA, r"^\s*(?:✘|✖) \[fail\]: (.+?)(?: \([\d.]+m?s\))?$");
pattern!(AVA_AT, r"^\s*(\S+\.[cm]?[jt]s):(\d+)$");
pattern!(
    THROWN,
    r"^\s+(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: "
);
pattern!(NAMED, r"^name: '([A-Z]\w*(?:Error|Exception))'$");
pattern!(UNBOUND, r"^error: '[\w$]+ is not defined'$");
pattern!(
    PRINTED,
    r"^# (?:error|Uncaught|[A-Z]\w*(?:Error|Exception)\b)"
);

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

/// Failed points of TAP; a parent that fails only by its children does not count.
pub(super) fn points(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        // vitest opens a brace after a file or suite: its points follow.
        let is_suite = text.ends_with('{') && text.contains(" # ");
        if line.captured || line.quiet || is_suite || !text.trim_start().starts_with("not ok ") {
            continue;
        }
        let Some(found) = POINT.captures(text) else {
            continue;
        };
        let mut cause = None;
        let (mut at_place, mut frame) = (None, None);
        let (mut parent, mut exited) = (false, None);
        for (index, line) in lines.iter().enumerate().skip(at + 1).take(60) {
            let text = line.text.trim();
            if text == "..." || text.starts_with("not ok ") || text.starts_with("ok ") {
                break;
            }
            parent |= text.contains("subtestsFailed");
            let code = text.strip_prefix("exitCode: ");
            let code = code.or_else(|| text.strip_prefix("signal: "));
            exited = exited.or(code.filter(|it| *it != "~" && *it != "0").and(Some(index)));
            if at_place.is_none() && (text.starts_with("location: ") || text.starts_with("at: ")) {
                at_place = PLACE
                    .captures(text)
                    .map(|found| (found[1].to_owned(), found[2].parse().ok()));
            }
            if cause.is_none()
                && ["error: ", "message: ", "operator: ", "code: "]
                    .iter()
                    .any(|start| text.starts_with(start))
            {
                // Several lines of text stand below their mark.
                let block = text.ends_with(": |-") || text.ends_with(": >-");
                let filled = |line: &Line<'_>| !line.text.trim().is_empty();
                let below = lines.iter().skip(index + 1).take(4).position(filled);
                cause = below
                    .filter(|_| block)
                    .map(|it| index + 1 + it)
                    .or(Some(index));
            }
            if frame.is_none() && text.contains('.') {
                let found = STACK.captures(text);
                let found = found.filter(|it| !place::is_installed(&it[1]));
                frame = found.map(|it| (it[1].to_owned(), it[2].parse().ok()));
            }
        }
        if !parent {
            let name = place::relative(&found[2]);
            // Of a file whose process ended the runner says no more than its exit code.
            let whole = cause.is_some_and(|at| lines[at].text.contains("'test failed'"));
            let exited = exited.filter(|_| whole);
            let cause = exited
                .map(|code| printed(lines, at).unwrap_or(code))
                .or(cause);
            let mut case = Case::new("tap", name, at)
                .cause(cause.or(Some(at)))
                .place(at_place)
                .raised_at(frame);
            case.exited = exited.is_some();
            cases.push(case);
        }
    }
    cases
}

// Of what a file wrote before its process ended, the line that says why: an error, else the first.
fn printed(lines: &[Line<'_>], point: usize) -> Option<usize> {
    const FAR: usize = 80;
    let from = point.saturating_sub(FAR);
    let is_point = |line: &Line<'_>| {
        ["ok ", "not ok ", "  ..."]
            .iter()
            .any(|it| line.text.starts_with(it))
    };
    let before = lines[from..point].iter().rposition(is_point);
    let from = before.map_or(from, |at| from + at + 1);
    let is_own = |at: &usize| {
        let said = lines[*at].text.strip_prefix("# ");
        said.is_some_and(|it| !it.starts_with("Subtest: ") && !it.trim().is_empty())
    };
    let own: Vec<usize> = (from..point).filter(is_own).collect();
    let says = |at: &&usize| PRINTED.is_match(&lines[**at].text);
    own.iter().find(says).or(own.first()).copied()
}

/// What ava marks test by test.
pub(super) fn ava(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases = Cases::default();
    let headed = LazyCell::new(|| headings(lines, |text| Some(text.trim())));
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        let marked = text.trim_start().starts_with(['✘', '✖']);
        let Some(found) = marked.then(|| AVA.captures(text)).flatten() else {
            continue;
        };
        // After the name it says why, when the test had no assertion to show.
        let title = &found[1];
        let name = title
            .split_once(" Rejected promise")
            .or(title.split_once(" Error thrown"))
            .or(title.split_once(" Test finished without "))
            .map_or(title, |(name, _)| name)
            .trim();
        if !cases.knows(name) {
            let (cause, place) = report(lines, first_from(&headed, name, at + 1), at);
            cases.add(Case::new("ava", name, at).cause(cause).place(place));
        }
    }
    cases.all()
}

type Report = (Option<usize>, Option<(String, Option<u32>)>);

// ava repeats the name as a heading over the report.
fn report(lines: &[Line<'_>], heading: Option<usize>, at: usize) -> Report {
    let Some(heading) = heading else {
        return (Some(at), None);
    };
    // Three empty lines stand between two reports.
    let ends = |at: &usize| {
        let next = lines.get(*at..*at + 3);
        next.is_some_and(|next| next.iter().all(|line| line.text.trim().is_empty()))
            || lines[*at].text.trim() == "─"
    };
    let end = (heading + 1..lines.len().min(heading + 40)).find(ends);
    let end = end.unwrap_or(lines.len().min(heading + 40));
    let below = &lines[heading + 1..end];
    let place = below.iter().find_map(|line| {
        let found = AVA_AT.captures(&line.text)?;
        Some((found[1].to_owned(), found[2].parse().ok()))
    });
    let place = place.or_else(|| place::of_stack(&lines[..end], heading + 1, |_| false));
    // An exception is shown as an object first and as it was thrown further down.
    let thrown = below.iter().position(|line| THROWN.is_match(&line.text));
    let cause = thrown
        .or_else(|| {
            below.iter().position(|line| {
                let source = line
                    .text
                    .trim_start()
                    .starts_with(|c: char| c.is_ascii_digit());
                line.text.trim_end().ends_with(':') && line.text.starts_with("  ") && !source
                    || line.text.contains("Error")
            })
        })
        .map(|offset| heading + 1 + offset);
    (cause.or(Some(heading)), place)
}
