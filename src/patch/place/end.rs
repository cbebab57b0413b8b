use crate::model::Code;
use std::borrow::Cow;

use super::blank::is_blank_context;
use super::placed::{Piece, Placed, firm, old_of};
use super::rule::{EXACT, MendNote};
use super::search::{Work, fits, places};
use crate::patch::set::{Hunk, LineKind};
use crate::patch::text::Text;

/// Leaves out blank context after the last line of the file, where models invent it.
pub(super) fn past_the_end<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = firm(hunk, hunk.loose_tail);
    let blank = lines
        .iter()
        .rev()
        .take_while(|line| is_blank_context(line) && !line.no_newline)
        .count();
    let core = old_of(lines.get(..lines.len() - blank)?);
    if blank == 0 || places(text, (0, text.len()), &core, &EXACT, work).len() != 1 {
        return None;
    }
    let (to, at) = (1..=blank).find_map(|drop| {
        let to = lines.len() - drop;
        let old = old_of(lines.get(..to)?);
        let at = text.len().checked_sub(old.len())?;
        fits(text, at, &old, &EXACT).then_some((to, at))
    })?;
    Some(Placed {
        lines: Cow::Borrowed(lines.get(..to)?),
        pieces: vec![Piece { at, from: 0, to }],
        mends: vec![MendNote::safe(
            Code::M414,
            "left out blank context lines after the end of the file",
        )],
    })
}

/// Leaves out the removal of an empty line after the last newline, where the file has no line.
pub(super) fn after_the_end<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = firm(hunk, hunk.loose_tail);
    let last = lines.iter().rposition(|line| line.kind != LineKind::Add)?;
    let line = lines.get(last)?;
    if line.kind != LineKind::Remove || !line.text().is_empty() || !text.final_newline {
        return None;
    }
    let mut kept = lines.to_vec();
    kept.remove(last);
    let old = old_of(&kept);
    let at = text.len().checked_sub(old.len())?;
    let found = places(text, (0, text.len()), &old, &EXACT, work);
    let changes = kept.iter().any(|line| line.kind != LineKind::Context);
    if found.as_slice() != [at] || !changes {
        return None;
    }
    let to = kept.len();
    Some(Placed {
        lines: Cow::Owned(kept),
        pieces: vec![Piece { at, from: 0, to }],
        mends: vec![MendNote::lossy(
            Code::M414,
            "left out the removal of an empty line after the end of the file",
        )],
    })
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::tried;

    #[test]
    fn blank_lines_after_the_end_are_left_out() {
        let file = "a\nb\nc\n";
        let (codes, after) = tried(file, " b\n-c\n+C\n \n \n");
        assert_eq!(
            (codes.as_str(), after.as_deref()),
            ("M414", Some("a\nb\nC\n"))
        );
    }

    #[test]
    fn no_line_is_removed_after_the_last_newline() {
        let (codes, after) = tried("a\nb\n", " b\n-\n+c\n");
        assert_eq!(
            (codes.as_str(), after.as_deref()),
            ("M414", Some("a\nb\nc\n"))
        );
        for (file, body) in [
            ("a\nb", " b\n-\n+c\n"),
            ("a\nb\n", " b\n-\n"),
            ("b\nb\n", " b\n-\n+c\n"),
            ("a\nb\nc\n", " b\n-\n+d\n"),
        ] {
            assert_eq!(tried(file, body).1, None, "{file}{body}");
        }
    }
}
