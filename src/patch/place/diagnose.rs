//! Explains why a hunk was not found: nearest block, first different line.

use super::align::likely_starts;
use super::counts::{ALIKE, LONGEST, likeness};
use super::placed::{old_of, trim_end};
use super::site::Site;
use crate::model::{Code, Excerpt, FirstDifference, Refusal};
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Fills in what a person or model needs to see about a hunk that was not found.
pub(in crate::patch) fn diagnose(failure: &mut Refusal, site: &Site<'_, '_>, hunk: &Hunk<'_>) {
    let text = site.text;
    if failure.code != Code::P401 {
        return;
    }
    let old = old_of(hunk.firm_lines(hunk.loose_tail));
    if old.is_empty() || text.len() == 0 {
        return;
    }
    let absent = old
        .iter()
        .find(|line| line.kind == LineKind::Remove && site.rows_of_words(line.text()).is_empty());
    if let Some(line) = absent {
        failure.code = Code::P402;
        failure.message = format!("the file has no line `{}` to remove", to_text(line.text()));
    }
    let near = likely_starts(site, hunk, &old).first().copied();
    let stated = hunk.old.map(|(line, _)| line.saturating_sub(1) as usize);
    let near = near.or(stated.filter(|row| *row < text.len()));
    let Some(start) = near.or_else(|| find_alike(site, &old)) else {
        return;
    };
    let equal = |index: usize| {
        old.get(index).is_some_and(|line| {
            start + index < text.len()
                && trim_end(line.text()) == trim_end(text.line(start + index))
        })
    };
    let differs = (0..old.len()).find(|index| !equal(*index));
    let shown_from = start + differs.unwrap_or(0).saturating_sub(AROUND);
    let first = shown_from.saturating_sub(2);
    let last = (start + old.len() + 2).min(shown_from + 2 * AROUND + 1);
    failure.mismatch.excerpts = vec![cut_excerpt(text, first, last.max(first + LEAST))];
    if let Some(index) = differs
        && let Some(line) = old.get(index)
    {
        let row = start + index;
        failure.mismatch.difference = Some(FirstDifference {
            patch_line: u64::from(line.at),
            file_line: row as u64 + 1,
            expected: to_text(line.text()),
            actual: (row < text.len()).then(|| to_text(text.line(row))),
        });
    } else {
        failure.code = Code::P401;
        "only white space differs, in a way that leaves several readings"
            .clone_into(&mut failure.message);
    }
}

/// Returns the row where old lines may begin by the line that is most like the first of them.
fn find_alike(site: &Site<'_, '_>, old: &[&HunkLine<'_>]) -> Option<usize> {
    let (index, line) = old
        .iter()
        .enumerate()
        .find(|(_, line)| !line.is_blank() && line.text().len() < LONGEST)?;
    let length = line.text().len();
    // Bounded, because lines are compared letter by letter.
    let rows = (0..site.text.len())
        .filter(|row| site.text.line(*row).len().abs_diff(length) * 2 <= length)
        .take(2000);
    let rows = rows.map(|row| (likeness(line.text(), site.text.line(row)), row));
    let (likeness, row) = rows.max_by(|one, other| one.0.total_cmp(&other.0))?;
    row.checked_sub(index).filter(|_| likeness >= ALIKE)
}

// Lines shown before and after the first that differs.
const AROUND: usize = 6;
// Lines shown of a file that has as many.
const LEAST: usize = 5;

/// The lines `from..to` of a file, as far as it has them.
pub(super) fn cut_excerpt(text: &Text<'_>, from: usize, to: usize) -> Excerpt {
    let rows = from..to.min(text.len());
    Excerpt {
        first: from as u64 + 1,
        lines: rows.map(|row| to_text(text.line(row))).collect(),
    }
}

fn to_text(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    if text.chars().count() > 200 {
        text.chars().take(200).chain(['…']).collect()
    } else {
        text.into_owned()
    }
}
