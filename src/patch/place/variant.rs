use std::borrow::Cow;

use super::placed::Placed;
use super::rule::MendNote;
use crate::model::Code;
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::{Text, numbered};

// A second reading of a hunk whose lines all carry the same damage.
type Variant<'a> = (Vec<HunkLine<'a>>, MendNote);

/// The other readings of a hunk, each of which the file has to confirm.
pub(super) fn variants<'a>(hunk: &Hunk<'a>) -> impl Iterator<Item = Variant<'a>> {
    [
        without_numbers(hunk, false),
        without_numbers(hunk, true),
        without_spaces(hunk, true),
        without_spaces(hunk, false),
    ]
    .into_iter()
    .flatten()
}

// Old lines that carry consecutive numbers, copied from a listing. Added lines carry them all or none.
fn without_numbers<'a>(hunk: &Hunk<'a>, close: bool) -> Option<Variant<'a>> {
    let mut old: Vec<u64> = Vec::new();
    let mut new: Vec<Option<u64>> = Vec::new();
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let read = numbered(line.text(), close);
        if line.kind == LineKind::Add {
            if !line.text().trim_ascii().is_empty() {
                new.push(read.map(|(number, _)| number));
            }
        } else {
            let (number, _) = read?;
            if old
                .last()
                .is_some_and(|last| last.checked_add(1) != Some(number))
            {
                return None;
            }
            old.push(number);
        }
        lines.push(read.map(|(_, rest)| rest));
    }
    let (first, last) = (*old.first()?, *old.last()?);
    let most = last.checked_add(new.len() as u64)?;
    // What a listing would number an added line with; other numbers belong to the text.
    let copied = |number: &Option<u64>| number.is_some_and(|it| (first..=most).contains(&it));
    let all = !new.is_empty() && new.iter().all(copied) && new.is_sorted();
    if !all && new.iter().any(copied) {
        return None;
    }
    let lines = hunk.lines.iter().zip(lines).map(|(line, rest)| {
        let strip = line.kind != LineKind::Add || all;
        match rest.filter(|_| strip) {
            Some(rest) => line.with_text(rest.to_vec()),
            None => line.clone(),
        }
    });
    let message = "dropped line numbers that were copied into the patch";
    let mend = if all {
        MendNote::lossy(Code::M406, message)
    } else {
        MendNote::safe(Code::M406, message)
    };
    Some((lines.collect(), mend))
}

// A space after every mark, or after those of changed lines alone; the removed lines show it.
fn without_spaces<'a>(hunk: &Hunk<'a>, in_context: bool) -> Option<Variant<'a>> {
    let lines = unspaced(&hunk.lines, |kind| in_context || kind != LineKind::Context)?;
    let shows = |line: &HunkLine<'_>| in_context || line.kind == LineKind::Remove;
    let mut shown = hunk.lines.iter().filter(|it| shows(it));
    let shown = shown.any(|it| !it.text().trim_ascii().is_empty());
    shown.then_some((lines, SPACED))
}

const SPACED: MendNote = MendNote::safe(Code::M418, "left out the space after the marks of lines");
/// Takes the space after each mark from the added lines of placed hunks, where another hunk of the file was
/// found to have it or their own blank lines show it.
pub(super) fn mend_alike(text: &Text<'_>, hunks: &mut [&mut Placed<'_, '_>]) {
    let has = |placed: &Placed<'_, '_>| placed.mends.iter().any(|it| it.code == SPACED.code);
    let shown = hunks.iter().any(|placed| has(placed));
    for placed in hunks {
        let adds_alone = placed.lines.iter().all(|it| it.kind != LineKind::Remove);
        let shows = shown || blank_lines_show_it(text, &placed.lines);
        if has(placed) || !shows || !adds_alone {
            continue;
        }
        if let Some(lines) = unspaced(&placed.lines, |kind| kind == LineKind::Add) {
            placed.lines = Cow::Owned(lines);
            placed.mends.push(SPACED);
        }
    }
}

// Blank lines that are added as one space each, beside others that all begin with one.
fn blank_lines_show_it(text: &Text<'_>, lines: &[HunkLine<'_>]) -> bool {
    let added = || lines.iter().filter(|it| it.kind == LineKind::Add);
    let (blank, solid): (Vec<_>, Vec<_>) =
        added().partition(|it| it.text().trim_ascii().is_empty());
    !blank.is_empty()
        && solid.len() > 1
        && blank.iter().all(|it| it.text() == b" ")
        && (0..text.len()).all(|row| text.line(row) != b" ")
}

// Lines without the space that those of some kinds begin with; `None` where one does not.
fn unspaced<'a>(
    lines: &[HunkLine<'a>],
    of: impl Fn(LineKind) -> bool,
) -> Option<Vec<HunkLine<'a>>> {
    let lines = lines.iter().map(|line| match line.text() {
        text if text.is_empty() || !of(line.kind) => Some(line.clone()),
        text => Some(line.with_text(text.strip_prefix(b" ")?.to_vec())),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::tried;

    const FILE: &str =
        "def a():\n    one = 1\n    return one\n\n\ndef b():\n    two = 2\n    return two\n";

    #[test]
    fn what_one_hunk_shows_holds_for_the_others() {
        let after = |line: &str, more: &str| {
            FILE.replace("1\n", &format!("{line}\n"))
                .replace("= 2\n", more)
        };
        let spaced = " def a():\n-     one = 1\n+     one = 3\n     return one\n@@ -6,3 +6,4 @@\n def b():\n     two = 2\n+     two += 1\n     return two\n";
        let expected = after("3", "= 2\n    two += 1\n");
        assert_eq!(
            tried(FILE, spaced),
            ("M418 M418".to_owned(), Some(expected))
        );
        // No other hunk shows it, and the file has no line that stands like that: refused.
        let alone = " def b():\n     two = 2\n+     two += 1\n     return two\n";
        assert_eq!(tried(FILE, alone), ("P310".to_owned(), None));
        // Its own blank line shows it.
        let blank =
            " def b():\n     two = 2\n+     two += 1\n+ \n+     two += 3\n     return two\n";
        let expected = FILE.replace("= 2\n", "= 2\n    two += 1\n\n    two += 3\n");
        assert_eq!(tried(FILE, blank), ("M418".to_owned(), Some(expected)));
    }
}
