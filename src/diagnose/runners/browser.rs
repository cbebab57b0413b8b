use super::place;
use super::read::{Case, Cases};
use crate::diagnose::line::Line;
use crate::diagnose::pattern::pattern;

pattern!(
    KARMA,
    r"^\s*((?:\w+ )+[\d.]+ \([^()]+(?:\([^()]*\))?[^()]*\)) (.+) FAILED$"
);
pattern!(JASMINE, r"^\d+\) (.+)$");
pattern!(
    PLAYWRIGHT,
    r"^\s+\d+\) ((?:\[[^\]]+\] › )?(\S+\.[cm]?[jt]sx?):(\d+):\d+ › .+?)\s*─*$"
);

/// What karma reports for each browser.
pub(super) fn karma(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases = Cases::default();
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if !text.ends_with(" FAILED") || line.captured {
            continue;
        }
        let Some(found) = KARMA.captures(text) else {
            continue;
        };
        let name = format!("{} {}", &found[1], &found[2]);
        if cases.knows(&name) {
            continue;
        }
        let ends = |text: &str| text.ends_with(" FAILED");
        let cause = (at + 1 < lines.len()).then_some(at + 1);
        let place = place::of_stack(lines, at + 1, ends);
        cases.add(Case::new("karma", name, at).cause(cause).place(place));
    }
    cases.all()
}

/// What jasmine lists under `Failures:`.
pub(super) fn jasmine(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut listed = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        listed |= text.trim_end() == "Failures:";
        if !listed || !text.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let message = lines
            .get(at + 1)
            .is_some_and(|line| line.text.trim() == "Message:");
        if message && let Some(found) = JASMINE.captures(text) {
            let ends = |text: &str| JASMINE.is_match(text);
            let cause = (at + 2 < lines.len()).then_some(at + 2);
            let place = place::of_stack(lines, at + 2, ends);
            cases.push(
                Case::new("jasmine", found[1].trim(), at)
                    .cause(cause)
                    .place(place),
            );
        }
    }
    cases
}

pattern!(CAKE, r"^failed [1-9]\d* and passed \d+ tests in ");
pattern!(ERROR, r"^  (?:[A-Z]\w*)?Error: ");

/// What a test task of cake lists: after the count a name, then its error, two columns in.
pub(super) fn cake(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut listed = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if CAKE.is_match(text) {
            listed = true;
        } else if !text.is_empty() && !text.starts_with(' ') && text.contains(" exited with ") {
            listed = false;
        }
        let own = text.starts_with("  ") && !text.starts_with("   ");
        if listed
            && own
            && lines
                .get(at + 1)
                .is_some_and(|next| ERROR.is_match(&next.text))
        {
            let place = place::of_stack(lines, at + 2, str::is_empty);
            cases.push(
                Case::new("cake", text.trim(), at)
                    .cause(Some(at + 1))
                    .place(place),
            );
        }
    }
    cases
}

/// What playwright lists: file, line and titles.
pub(super) fn playwright(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases = Cases::default();
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if !text.contains(" › ") {
            continue;
        }
        let Some(found) = PLAYWRIGHT.captures(text) else {
            continue;
        };
        let name = found[1].trim_end().to_owned();
        if cases.knows(&name) {
            continue;
        }
        let cause = lines[at + 1..]
            .iter()
            .take(6)
            .position(|line| !line.text.trim().is_empty())
            .map(|offset| at + 1 + offset);
        let place = Some((found[2].to_owned(), found[3].parse().ok()));
        let frame = place::of_stack(lines, at + 1, |text| PLAYWRIGHT.is_match(text));
        cases.add(
            Case::new("playwright", name, at)
                .cause(cause)
                .place(place)
                .raised_at(frame),
        );
    }
    cases.all()
}
