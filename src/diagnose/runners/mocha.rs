use super::case::{Case, first_script_frame};
use crate::diagnose::line::{Line, below};
use crate::runners::pattern;

pattern!(
    FAILING,
    r"^\s*(?:✖ )?(?:\d+ failing(?: \([^)]*\))?|\d+ of \d+ tests? failed:?)$"
);
pattern!(ENTRY, r"^(\s*)(\d+)\) (.*)$");

// A list of a large run goes on for long; a block ends at the next entry or here.
const MAX_BLOCK: usize = 60;
// Lines over which a title may go on: a suite in a suite each takes one.
const MAX_TITLE: usize = 16;

/// Returns the list that mocha, cypress and their reporters print after `N failing`: titles over
/// several lines, which no row of the table describes.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut next: Option<usize> = None;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if text.contains("fail") && FAILING.is_match(text) {
            next = Some(1);
            continue;
        }
        let Some(number) = next.filter(|_| is_entry(text)) else {
            continue;
        };
        let Some(found) = ENTRY
            .captures(text)
            .filter(|found| found[2].parse() == Ok(number))
        else {
            continue;
        };
        next = Some(number + 1);
        if let Some((title, from)) = read_title(lines, at, &found) {
            let block = below(lines, from, MAX_BLOCK);
            let is_end = |text: &&str| !is_entry(text) && !text.contains("(Results)");
            let to = from + block.take_while(is_end).count();
            let filled = |at: &usize| !lines[*at].text.trim().is_empty();
            cases.push(Case {
                cause: (from..to).find(filled),
                place: first_script_frame(lines, from..to),
                block: from..to,
                ..Case::new("mocha", title, at)
            });
        }
    }
    cases
}

fn is_entry(text: &str) -> bool {
    text.contains(')') && !text.contains(" at ") && ENTRY.is_match(text)
}

// `1) Suite`, deeper titles on lines of their own, a colon at the end.
fn read_title(
    lines: &[Line<'_>],
    at: usize,
    found: &regex::Captures<'_>,
) -> Option<(String, usize)> {
    let mut title = found[3].trim().to_owned();
    let mut column = found[1].len() + found[2].len() + 2;
    let mut blank = 0;
    for (index, text) in (at + 1..).zip(below(lines, at + 1, MAX_TITLE)) {
        let bare = text.trim();
        let indent = text.len() - text.trim_start().len();
        // An error stands five or six columns in, a deeper title at least seven.
        let is_error = blank > 0 || indent <= column.max(6);
        if title.ends_with(':') && (bare.is_empty() || is_error) || blank > 4 {
            return Some((title.trim_end_matches(':').trim().to_owned(), index));
        }
        if bare.is_empty() {
            blank += 1;
            continue;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(bare);
        column = indent;
    }
    let title = title.strip_suffix(':')?;
    Some((title.trim().to_owned(), at + 1))
}

#[cfg(test)]
mod tests {
    use super::cases;
    use crate::diagnose::normalise::lines;

    #[test]
    fn titles_of_every_release() {
        for (log, names) in [
            (
                "  1 failing\n\n  1) Net\n       pings:\n     Error: x",
                vec!["Net pings"],
            ),
            (
                "  2 failing\n\n  1) Net pings:\n     Error: x\n\n  2) Net\n       deep\n         pongs:\n\n      AssertionError: y",
                vec!["Net pings", "Net deep pongs"],
            ),
            (
                "  1 failing\n\n  1) \n       \n         a:: b\n           c:\n     Error: x",
                vec!["a:: b c"],
            ),
            (
                "  1 failing\n  1) A \"before all\" hook:\n     Error: x",
                vec!["A \"before all\" hook"],
            ),
            ("  1) not in a list\n", vec![]),
        ] {
            let found = cases(&lines(log));
            let found: Vec<&str> = found
                .iter()
                .filter_map(|case| case.name.as_deref())
                .collect();
            assert_eq!(found, names, "{log}");
        }
    }
}
