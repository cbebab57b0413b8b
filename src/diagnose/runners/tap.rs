use std::borrow::Cow;
use std::cell::LazyCell;

use super::place;
use super::read::{Case, Cases, first_from, headings};
use crate::diagnose::line::Line;
use crate::diagnose::pattern::pattern;

pattern!(POINT, r"^(\s*)not ok \d+ (?:- )?(.+?)(?: # .*)?$");
pattern!(SPEC, r"^\s*✖ (.+?) \([\d.]+ms\)");
pattern!(SPEC_AT, r"^test at (.+?):(\d+):\d+$");
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
pattern!(BUN, r"^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$");
pattern!(ERROR, r"^(?:error|[A-Z]\w*(?:Error|Exception)): ");
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
pattern!(DENO, r"^(.+?) \.\.\. FAILED \([\d.]+(?:µs|ms|s|m)\)$");

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

/// The list that node's own runner prints after `✖ failing tests:`.
pub(super) fn spec(lines: &[Line<'_>]) -> Vec<Case> {
    let heading = |line: &Line<'_>| {
        let text = line.text.trim();
        text == "✖ failing tests:" || text == "Failed tests:"
    };
    let Some(from) = lines.iter().position(heading) else {
        return Vec::new();
    };
    let mut cases = Cases::default();
    let mut at_place = None;
    for (at, line) in lines.iter().enumerate().skip(from + 1) {
        let text = line.text.as_ref();
        if let Some(found) = SPEC_AT.captures(text) {
            at_place = Some((found[1].to_owned(), found[2].parse().ok()));
        } else if let Some(found) = SPEC.captures(text) {
            let name = place::relative(&found[1]);
            let cause = lines.get(at + 1).is_some().then_some(at + 1);
            if !cases.knows(&name) {
                cases.add(
                    Case::new("node-test", name, at)
                        .cause(cause)
                        .place(at_place.take())
                        .raised_at(place::of_stack(lines, at + 1, |text| {
                            SPEC.is_match(text) || SPEC_AT.is_match(text)
                        })),
                );
            }
        }
    }
    cases.all()
}

/// What ava, bun and deno mark test by test.
pub(super) fn marked(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases = Cases::default();
    let headed = LazyCell::new(|| headings(lines, |text| Some(text.trim())));
    let listed = LazyCell::new(|| headings(lines, |text| Some(text.rsplit_once(" => ")?.0)));
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        let bare = text.trim_start();
        let found = if bare.starts_with('✘') || bare.starts_with("✖ [") {
            AVA.captures(text).map(|found| ("ava", found))
        } else if text.starts_with("(fail)") {
            BUN.captures(text).map(|found| ("bun", found))
        } else if text.contains("... FAILED (") {
            DENO.captures(text).map(|found| ("deno", found))
        } else {
            None
        };
        let Some((runner, found)) = found else {
            continue;
        };
        // ava says after the name why, when the test had no assertion to show.
        let title = &found[1];
        let name = match title
            .split_once(" Rejected promise")
            .or(title.split_once(" Error thrown"))
            .or(title.split_once(" Test finished without "))
        {
            Some((name, _)) if runner == "ava" => name,
            _ => title,
        };
        let name = name.trim();
        if cases.knows(name) {
            continue;
        }
        let mut raised = None;
        let (cause, place) = match runner {
            // bun prints the error above the mark.
            "bun" => {
                let above = lines[at.saturating_sub(40)..at]
                    .iter()
                    .rposition(|line| ERROR.is_match(&line.text))
                    .map(|offset| at.saturating_sub(40) + offset);
                let place = above.and_then(|from| place::of_stack(&lines[..at], from, |_| false));
                (above, place)
            }
            "deno" => {
                let heading = first_from(&listed, name, 0);
                let ends = |text: &str| text.contains(" => ") || text.trim() == "FAILURES";
                raised = heading.and_then(|at| place::of_stack(lines, at + 1, ends));
                deno(lines, heading)
            }
            _ => ava(lines, first_from(&headed, name, at + 1), at),
        };
        cases.add(
            Case::new(runner, name, at)
                .cause(cause)
                .place(place)
                .raised_at(raised),
        );
    }
    cases.all()
}

type Report = (Option<usize>, Option<(String, Option<u32>)>);

// ava repeats the name as a heading over the report.
fn ava(lines: &[Line<'_>], heading: Option<usize>, at: usize) -> Report {
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

// deno lists the errors apart: `name => ./file.ts:3:6`, then `error: ...`.
fn deno(lines: &[Line<'_>], heading: Option<usize>) -> Report {
    let told = heading.and_then(|at| Some((at, lines[at].text.rsplit_once(" => ")?.1)));
    let Some((heading, rest)) = told else {
        return (None, None);
    };
    let mut parts = rest.rsplitn(3, ':');
    let (_, line, path) = (parts.next(), parts.next(), parts.next());
    let place = path.map(|path| (path.to_owned(), line.and_then(|line| line.parse().ok())));
    (Some(heading + 1).filter(|at| *at < lines.len()), place)
}
