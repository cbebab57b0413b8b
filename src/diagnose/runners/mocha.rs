use super::place;
use super::read::Case;
use crate::diagnose::line::{Line, below};
use crate::runners::pattern;

pattern!(
    FAILING,
    r"^\s*(?:✖ )?(?:\d+ failing(?: \([^)]*\))?|\d+ of \d+ tests? failed:?)$"
);
pattern!(ENTRY, r"^(\s*)(\d+)\) (.*)$");

/// The list that mocha, cypress and their reporters print after `N failing`.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut next: Option<usize> = None;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_ref();
        if text.contains("fail") && FAILING.is_match(text) {
            next = Some(1);
            continue;
        }
        let Some(number) = next else { continue };
        if !text.contains(") ") && !text.ends_with(')') {
            continue;
        }
        let found = ENTRY
            .captures(text)
            .filter(|found| found[2].parse() == Ok(number));
        let Some(found) = found else { continue };
        next = Some(number + 1);
        if let Some((title, end)) = title(lines, at, &found) {
            let offset = below(lines, end, 12).position(|text| !text.trim().is_empty());
            let cause = offset.map(|offset| end + offset);
            cases.push(Case {
                cause,
                place: place::of_stack(lines, end, is_entry),
                ..Case::new("mocha", title, at)
            });
        }
    }
    cases
}

fn is_entry(text: &str) -> bool {
    text.contains(") ") && ENTRY.is_match(text) && !text.contains(" at ")
}

// `1) Suite`, deeper titles on lines of their own, a colon at the end.
fn title(lines: &[Line<'_>], at: usize, found: &regex::Captures<'_>) -> Option<(String, usize)> {
    let mut title = found[3].trim().to_owned();
    let mut column = found[1].len() + found[2].len() + 2;
    let mut index = at + 1;
    let mut blank = 0;
    while index < lines.len() && index < at + 16 {
        let text = lines[index].text.as_ref();
        let bare = text.trim();
        let indent = text.len() - text.trim_start().len();
        if bare.is_empty() {
            blank += 1;
            if title.ends_with(':') || blank > 4 {
                break;
            }
            index += 1;
            continue;
        }
        // An error stands five or six columns in, a deeper title at least seven.
        if title.ends_with(':') && (blank > 0 || indent <= column.max(6)) {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(bare);
        column = indent;
        index += 1;
    }
    let title = title.strip_suffix(':')?;
    Some((title.trim().to_owned(), index))
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
