use std::cell::LazyCell;
use std::collections::BTreeSet;

use super::read::{Case, Cases, first_from, headings};
use crate::diagnose::line::Line;
use crate::diagnose::pattern::pattern;

pattern!(GO, r"^\s*--- FAIL: (\S+) \([\d.]+s\)$");
pattern!(GO_AT, r"^\s+(\S+\.go):(\d+): ");
pattern!(CARGO, r"^test (.+?)(?: - should panic)? \.\.\. FAILED$");
pattern!(NEXTEST, r"^\s+FAIL \[ *[\d.]+s\](?: \(.*\))? +(\S+ \S.*)$");
pattern!(
    PANIC,
    r"^thread '([^']*)' (?:\(\d+\) )?panicked at (?:'.*', )?([^:]+):(\d+)"
);
pattern!(GRADLE, r"^(\S+(?: > .+?)+) FAILED$");
pattern!(
    SUREFIRE,
    r"^(?:\[ERROR\] +)?(\w[\w$]*\([\w.$]+\)|[\w.$]+(?:\[.*\])?)\s+(?:--\s+)?Time elapsed: [\d.,]+ ?s(?:ec)?\s+<<< (?:FAILURE|ERROR)!"
);
pattern!(SCALA, r"^\[info\] +-? ?(.+?) \*\*\* FAILED \*\*\*$");
pattern!(RSPEC, r"^rspec (\./\S+?)(?::(\d+)|\[[\d:]+\]) # (.+)$");
pattern!(PHPUNIT, r"^\d+\) ([\w\\]+::\w+(?: with data set .+)?)$");
pattern!(
    DOTNET,
    r"^\s*(?:Failed|X) ([\w.+`]+(?:\(.*\))?) \[[<>\d .]*m?s\]$"
);
pattern!(
    CTEST,
    r"^\s+\d+ - (\S.*?) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run)\)"
);

/// Failing tests of other languages' runners.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases = Cases::default();
    let reports = LazyCell::new(|| headings(lines, cargo_heading));
    let mut ctest = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if line.captured || text.len() < 8 {
            continue;
        }
        ctest |= text.starts_with("The following tests FAILED");
        let below = (at + 1 < lines.len()).then_some(at + 1);
        let case = if text.contains("--- FAIL: ") {
            GO.captures(text).map(|found| {
                let place = lines.get(at + 1).and_then(|line| {
                    let place = GO_AT.captures(&line.text)?;
                    Some((place[1].to_owned(), place[2].parse().ok()))
                });
                Case::new("go test", &found[1], at)
                    .cause(below)
                    .place(place)
            })
        } else if text.starts_with("test ") && text.ends_with("FAILED") {
            CARGO
                .captures(text)
                .map(|found| cargo(&found[1], at, lines, first_from(&reports, &found[1], 0)))
        } else if text.contains("FAIL [") {
            NEXTEST
                .captures(text)
                .map(|found| Case::new("cargo test", &found[1], at).cause(Some(at)))
        } else if text.ends_with(" FAILED") && text.contains(" > ") && !text.starts_with('>') {
            GRADLE
                .captures(text)
                .filter(|found| !found[1].contains("::"))
                .map(|found| Case::new("gradle", &found[1], at).cause(below))
        } else if text.contains("<<< ") {
            SUREFIRE
                .captures(text)
                .map(|found| Case::new("surefire", &found[1], at).cause(below))
        } else if text.ends_with("*** FAILED ***") {
            SCALA
                .captures(text)
                .map(|found| Case::new("scalatest", &found[1], at).cause(below))
        } else if text.starts_with("rspec ./") {
            RSPEC.captures(text).map(|found| {
                let line = found.get(2).and_then(|line| line.as_str().parse().ok());
                Case::new("rspec", &found[3], at)
                    .cause(Some(at))
                    .place(Some((found[1].to_owned(), line)))
            })
        } else if text.contains("::") && text.starts_with(|c: char| c.is_ascii_digit()) {
            PHPUNIT
                .captures(text)
                .map(|found| Case::new("phpunit", &found[1], at).cause(below))
        } else if text.ends_with("s]") && text.contains(" [") {
            DOTNET
                .captures(text)
                .map(|found| Case::new("dotnet test", &found[1], at).cause(below))
        } else if ctest && text.contains(" - ") {
            CTEST
                .captures(text)
                .map(|found| Case::new("ctest", &found[1], at).cause(Some(at)))
        } else {
            None
        };
        if let Some(case) = case {
            cases.add(case);
        }
    }
    let mut cases = cases.all();
    // A parent of go fails by its subtests.
    let names: BTreeSet<String> = cases.iter().filter_map(|case| case.name.clone()).collect();
    cases.retain(|case| {
        case.runner != "go test"
            || case.cause.is_some_and(|at| GO_AT.is_match(&lines[at].text))
            || !case.name.as_ref().is_some_and(|name| {
                let start = format!("{name}/");
                let mut below = names.range(start.clone()..);
                below.next().is_some_and(|other| other.starts_with(&start))
            })
    });
    cases
}

fn cargo_heading(text: &str) -> Option<&str> {
    text.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

fn cargo(name: &str, at: usize, lines: &[Line<'_>], report: Option<usize>) -> Case {
    let mut case = Case::new("cargo test", name, at).cause(Some(at));
    if let Some(report) = report {
        let panic = lines[report..]
            .iter()
            .take(30)
            .position(|line| PANIC.is_match(&line.text));
        if let Some(panic) = panic {
            case.cause = Some(report + panic);
            case.place = PANIC
                .captures(&lines[report + panic].text)
                .map(|found| (found[2].to_owned(), found[3].parse().ok()));
        }
    }
    case
}
