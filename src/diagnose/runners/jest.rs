use std::collections::HashSet;

use super::place;
use super::read::Case;
use crate::diagnose::line::Line;
use crate::runners::pattern;

pattern!(BULLET, r"^\s{0,3}● (.+)$");
pattern!(
    SUITE,
    r"^ ?FAIL\s+(?:.*\s)?(?:\./)?(\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?\s*$"
);
pattern!(
    VITEST,
    r"^\s*FAIL\s+(?:\|[^|]+\| )?(?:\[[^\]]+\] )?(?:\S+ )??(\S+\.[cm]?[jt]sx?)(?: \([^)]+\))? > (.+)$"
);
pattern!(
    VITEST_SUITE,
    r"^\s*FAIL\s+(?:\|[^|]+\| )?(?:\[[^\]]+\] )?(?:\S+ )??(\S+\.[cm]?[jt]sx?)(?: \[ .+ \])?\s*$"
);

/// What jest reports under its bullets.
pub(super) fn jest(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut jest = false;
    let mut suite: Option<String> = None;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if line.captured {
            continue;
        }
        let status = text.trim_start();
        jest |= status.starts_with("FAIL ") || status.starts_with("PASS ");
        if status.starts_with("FAIL ")
            && let Some(file) = SUITE.captures(text)
        {
            suite = Some(file[1].to_owned());
        }
        let Some(found) = (jest && status.starts_with('●'))
            .then(|| BULLET.captures(text))
            .flatten()
        else {
            continue;
        };
        let title = found[1].trim();
        if ["Console", "Validation Error:"].contains(&title)
            || title.starts_with("Cannot log after")
            || title.starts_with("Deprecation Warning")
        {
            continue;
        }
        let cause = next_filled(lines, at + 1).map(|at| parser_error(lines, at));
        let own = suite.clone().map(|file| (file, None));
        if title == "Test suite failed to run" {
            let says =
                |text: &str| text.starts_with("Cannot find module ") || COMPILED.is_match(text);
            let lacks = lines[at + 1..]
                .iter()
                .take(6)
                .any(|line| says(line.text.trim_start()));
            let mut case = Case::new("jest", String::new(), at).cause(cause).place(own);
            // A file of tests fails by what it imports; the runner's set-up fails without it.
            case.name = suite.clone().filter(|_| lacks);
            cases.push(case);
        } else {
            let place = place::of_stack(lines, at + 1, |text| text.trim_start().starts_with('●'));
            cases.push(
                Case::new("jest", title, at)
                    .cause(cause)
                    .place(own.or_else(|| place.clone()))
                    .raised_at(place)
                    .of_hook(is_of_hook(lines, at + 1)),
            );
        }
    }
    cases
}

pattern!(COMPILED, r"^\S+\.[cm]?tsx?:\d+:\d+ - error TS\d+: ");
pattern!(SHOWN, r"^\s*(>)?\s*\d+ ?\|\s*(.*)$");
pattern!(HOOK, r"^(?:await )?(?:before|after)(?:All|Each)\s*\(");
pattern!(BODY, r"^(?:test|it|fit|xit)\b[\w.]*\s*[(`]");

// A hook's failure is given to its tests or their suite; the source that is shown tells them apart.
fn is_of_hook(lines: &[Line<'_>], from: usize) -> bool {
    let mut hook = false;
    for line in lines[from.min(lines.len())..].iter().take(40) {
        let text = line.text.as_ref();
        // vitest marks the line below it.
        if text.trim_start().starts_with('●') || text.contains('⎯') {
            return false;
        }
        if text.trim_start().starts_with('|') && text.trim_end().ends_with('^') {
            return hook;
        }
        let Some(shown) = text.contains('|').then(|| SHOWN.captures(text)).flatten() else {
            continue;
        };
        if HOOK.is_match(&shown[2]) {
            hook = true;
        } else if BODY.is_match(&shown[2]) {
            hook = false;
        }
        if shown.get(1).is_some() {
            return hook;
        }
    }
    false
}

/// What vitest reports under ` FAIL `.
pub(super) fn vitest(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let is_heading = |line: &Line<'_>| line.text.trim_start().starts_with("FAIL ");
    let mut below = 0;
    let mut skipped: HashSet<&str> = HashSet::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if text.contains("skipped)") {
            skipped.extend(text.split_whitespace());
        }
        if !is_heading(line) || line.captured {
            continue;
        }
        // Several headings share one report when they failed alike.
        if below <= at {
            below = at
                + lines
                    .iter()
                    .skip(at)
                    .take_while(|it| is_heading(it))
                    .count();
        }
        let cause = next_filled(lines, below);
        let stop = |text: &str| text.contains('⎯') || text.trim_start().starts_with("FAIL ");
        if let Some(found) = VITEST.captures(text) {
            let name = found[2].trim();
            let place = place::of_stack(lines, below, stop);
            let own = Some((found[1].to_owned(), None));
            cases.push(
                Case::new("vitest", name, at)
                    .cause(cause)
                    .place(own)
                    .raised_at(place)
                    .of_hook(is_of_hook(lines, below)),
            );
        } else if let Some(found) = VITEST_SUITE.captures(text)
            && lines
                .iter()
                .take(at)
                .rev()
                .take(40)
                .any(|line| line.text.contains("Failed Suites"))
        {
            // Its tests were found before a hook of theirs fails, and are skipped then.
            let of_hook = skipped.contains(&found[1]) || is_of_hook(lines, below);
            let mut case = Case::new("vitest", String::new(), at)
                .cause(cause)
                .of_hook(of_hook);
            case.name = None;
            case.whole_file = true;
            case.place = Some((found[1].to_owned(), None));
            cases.push(case);
        }
    }
    cases
}

// What the parser said, below jest's long advice on what it might mean.
fn parser_error(lines: &[Line<'_>], at: usize) -> usize {
    let text = |at: usize| lines.get(at).map_or("", |line| line.text.trim_start());
    if !text(at).starts_with("Jest encountered an unexpected token") {
        return at;
    }
    let mut below = (at..lines.len())
        .take(40)
        .take_while(|at| !text(*at).starts_with('●'));
    let details = below.find(|at| text(*at).starts_with("Details:"));
    let said = details.and_then(|_| below.find(|at| text(*at).contains("SyntaxError: ")));
    said.unwrap_or(at)
}

pattern!(
    COUNTED,
    r"^[✓✔❯↓×] (?:\|[^|]+\| )?\S+\.[cm]?[jt]sx?(?: \[[^\]]*\])? \(\d+ tests?\b.*\)"
);

// The next line that is not empty; a count of files, or of the tests in one, that the other stream put
// between is none.
fn next_filled(lines: &[Line<'_>], from: usize) -> Option<usize> {
    lines[from.min(lines.len())..]
        .iter()
        .take(8)
        .position(|line| {
            let text = line.text.trim();
            !text.is_empty() && !text.starts_with("Test Files ") && !COUNTED.is_match(text)
        })
        .map(|offset| from + offset)
}
