use std::collections::HashSet;

use super::place::{self, Place};
use super::read::Case;
use crate::diagnose::line::{Line, above, below};
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

/// What jest reports under its bullets, and vitest under ` FAIL `.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut is_jest = false;
    let mut suite: Option<Place> = None;
    let mut below = 0;
    let mut skipped: HashSet<&str> = HashSet::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if text.contains("skipped)") {
            skipped.extend(text.split_whitespace());
        }
        if line.captured {
            continue;
        }
        let is_heading = is_heading(text);
        is_jest |= is_heading || text.trim_start().starts_with("PASS ");
        if is_heading {
            if let Some(found) = SUITE.captures(text) {
                suite = Some((found[1].to_owned(), None));
            }
            // Several headings share one report when they failed alike.
            if below <= at {
                let below_it = lines.iter().skip(at);
                below = at + below_it.take_while(|it| self::is_heading(&it.text)).count();
            }
            if let Some(found) = VITEST.captures(text) {
                let own = Some((found[1].to_owned(), None));
                cases.push(case("vitest", &found[2], own, at, below, lines));
            } else if let Some(found) = VITEST_SUITE.captures(text)
                && above(lines, at, 40).any(|text| text.contains("Failed Suites"))
            {
                cases.push(Case {
                    name: None,
                    cause: next_filled(lines, below),
                    place: Some((found[1].to_owned(), None)),
                    // Its tests were found before a hook of theirs fails, and are skipped then.
                    of_hook: skipped.contains(&found[1]) || is_of_hook(lines, below),
                    whole_file: true,
                    ..Case::new("vitest", "", at)
                });
            }
        } else if is_jest
            && text.trim_start().starts_with('●')
            && let Some(found) = BULLET.captures(text)
        {
            match found[1].trim() {
                "Test suite failed to run" => cases.push(failed_suite(suite.clone(), at, lines)),
                title if REMARK.is_match(title) => {}
                title => cases.push(case("jest", title, suite.clone(), at, at + 1, lines)),
            }
        }
    }
    cases
}

fn is_heading(text: &str) -> bool {
    text.trim_start().starts_with("FAIL ")
}

// vitest marks the line below a report.
fn ends_report(text: &str) -> bool {
    text.trim_start().starts_with('●') || text.contains('⎯') || is_heading(text)
}

fn case(
    runner: &'static str,
    title: &str,
    own: Option<Place>,
    at: usize,
    below: usize,
    lines: &[Line<'_>],
) -> Case {
    let frame = place::of_stack(lines, below, ends_report);
    let mut case = Case {
        cause: next_filled(lines, below).map(|at| parser_error(lines, at)),
        place: own.or_else(|| frame.clone()),
        of_hook: is_of_hook(lines, below),
        ..Case::new(runner, title.trim(), at)
    };
    if let Some(frame) = frame {
        case.raise(frame);
    }
    case
}

// A file of tests fails by what it imports; the runner's set-up fails without it.
fn failed_suite(suite: Option<Place>, at: usize, lines: &[Line<'_>]) -> Case {
    let lacks = below(lines, at + 1, 6).any(|text| LACKS.is_match(text));
    Case {
        name: suite.clone().map(|it| it.0).filter(|_| lacks),
        cause: next_filled(lines, at + 1).map(|at| parser_error(lines, at)),
        place: suite,
        ..Case::new("jest", "", at)
    }
}

pattern!(
    REMARK,
    "^(?:Console$|Validation Error:$|Cannot log after|Deprecation Warning)"
);
pattern!(
    LACKS,
    r"^\s*(?:Cannot find module |\S+\.[cm]?tsx?:\d+:\d+ - error TS\d+: )"
);
pattern!(SHOWN, r"^\s*(>)?\s*\d+ ?\|\s*(.*)$");
pattern!(HOOK, r"^(?:await )?(?:before|after)(?:All|Each)\s*\(");
pattern!(BODY, r"^(?:test|it|fit|xit)\b[\w.]*\s*[(`]");

// A hook's failure is given to its tests or their suite; the source that is shown tells them apart.
fn is_of_hook(lines: &[Line<'_>], from: usize) -> bool {
    let mut hook = false;
    for text in below(lines, from, 40) {
        if ends_report(text) {
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
    let error = details.and_then(|_| below.find(|at| text(*at).contains("SyntaxError: ")));
    error.unwrap_or(at)
}

pattern!(
    COUNTED,
    r"^[✓✔❯↓×] (?:\|[^|]+\| )?\S+\.[cm]?[jt]sx?(?: \[[^\]]*\])? \(\d+ tests?\b.*\)"
);

// The next line that is not empty; a count of files, or of the tests in one, that the other stream put
// between is none.
fn next_filled(lines: &[Line<'_>], from: usize) -> Option<usize> {
    below(lines, from, 8)
        .map(str::trim)
        .position(|text| {
            !text.is_empty() && !text.starts_with("Test Files ") && !COUNTED.is_match(text)
        })
        .map(|offset| from + offset)
}
