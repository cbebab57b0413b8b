//! Explains why a hunk was not found: which of its lines the file lacks, or has at other places.

use super::align::likely_starts;
use super::counts::{ALIKE, LONGEST, likeness, lost_lines};
use super::placed::{old_of, quote, to_text, trim_end};
use super::site::Site;
use crate::model::{Code, Excerpt, FirstDifference, Refusal};
use crate::patch::set::{Hunk, HunkLine, LineKind, without_kind};
use crate::patch::text::Text;

/// Fills in what a person or model needs to see about a hunk that was not found.
pub(in crate::patch) fn diagnose(failure: &mut Refusal, site: &Site<'_, '_>, hunk: &Hunk<'_>) {
    let text = site.text;
    let lines = hunk.firm_lines(hunk.loose_tail);
    let old = old_of(lines);
    if failure.code != Code::P401 || old.is_empty() || text.len() == 0 {
        return;
    }
    let stated = hunk.old.map(|(line, _)| line.saturating_sub(1) as usize);
    let start = likely_starts(site, hunk, &old).first().copied();
    let start = start.or(stated.filter(|row| *row < text.len()));
    let start = start.or_else(|| find_alike(site, &old));
    let rows = walk(site, &old, start.unwrap_or(0));
    let fault = explain(failure, site, lines, &old, &rows);
    if hunk.ends_input
        && let Some((gone, new)) =
            lost_lines(hunk, lines).filter(|(gone, new)| *gone.min(new) >= 0 && gone + new > 0)
    {
        let hint = format!(
            "the reply may also be cut off: the header counts {gone} old and {new} new lines more"
        );
        failure.hint = Some(hint);
    } else if is_without_effect(lines) {
        let advice = if hunk.ends_input {
            "the reply may be cut off"
        } else {
            "leave it out"
        };
        failure.hint = Some(format!("this hunk changes nothing: {advice}"));
    }
    let Some(index) = fault else {
        let stated = stated.filter(|row| *row < text.len()).map(|row| row.saturating_sub(2));
        let shown = stated.map(|row| cut_excerpt(text, row, row + old.len().min(30) + 4));
        failure.mismatch.excerpts.extend(shown);
        return;
    };
    let expected = trim_end(old[index].text());
    let is_cut =
        |row: &usize| expected.trim_ascii().len() >= 8 && text.line(*row).starts_with(expected);
    let cut = (0..text.len()).find(is_cut).filter(|_| rows[index].is_none());
    let before = rows[..index].iter().rev().find_map(|row| *row);
    let Some(row) = cut.or(before.map(|row| row + 1)).or(start) else {
        return;
    };
    failure.mismatch.difference = Some(FirstDifference {
        patch_line: u64::from(old[index].at),
        file_line: row as u64 + 1,
        expected: to_text(old[index].text()),
        actual: (row < text.len()).then(|| to_text(text.line(row))),
    });
    let found = rows.iter().flatten();
    let first = found.clone().min().map_or(row, |first| row.min(*first));
    let last = found.max().map_or(row, |last| row.max(*last));
    let first = first.max(row.saturating_sub(8)).saturating_sub(2);
    // Lines of the file that are shown.
    let last = (last + 3).max(first + 5).min(first + 30);
    failure.mismatch.excerpts = vec![cut_excerpt(text, first, last)];
}

fn is_without_effect(lines: &[HunkLine<'_>]) -> bool {
    let side = |gone| without_kind(lines, gone).map(HunkLine::text);
    side(LineKind::Add).eq(side(LineKind::Remove))
}

/// The row of each old line, in their order from `start` on; lines of the file may be between them.
fn walk(site: &Site<'_, '_>, old: &[&HunkLine<'_>], start: usize) -> Vec<Option<usize>> {
    let mut next = start.saturating_sub(old.len());
    let mut is_first = true;
    let rows = old.iter().map(|line| {
        let rows = site.rows_of_words(line.text());
        let first = rows.partition_point(|row| (*row as usize) < next);
        // A short line is also elsewhere by chance.
        let is_short = line.text().trim_ascii().len() < 8;
        let reach = if is_short && !is_first { 0 } else { 100 };
        let row = rows.get(first).map(|row| *row as usize);
        let row = row.filter(|row| *row <= next + reach)?;
        (next, is_first) = (row + 1, false);
        Some(row)
    });
    rows.collect()
}

/// Writes the message, and returns the old line that it is about; `None` where the file has none of them.
fn explain(
    failure: &mut Refusal,
    site: &Site<'_, '_>,
    lines: &[HunkLine<'_>],
    old: &[&HunkLine<'_>],
    rows: &[Option<usize>],
) -> Option<usize> {
    let is_absent =
        |line: &HunkLine<'_>| !line.is_blank() && site.rows_of_words(line.text()).is_empty();
    let mut absent = (0..old.len()).filter(|index| is_absent(old[*index]));
    if let Some(first) = absent.next() {
        let is_removed = |line: &&HunkLine<'_>| line.kind == LineKind::Remove && is_absent(line);
        if old.iter().any(is_removed) {
            failure.code = Code::P402;
        }
        let line = quote(old[first].text());
        let to_remove = if is_removed(&old[first]) { " to remove" } else { "" };
        failure.message = match absent.count() {
            0 => format!("the file has no line {line}{to_remove}"),
            more if more + 1 == old.iter().filter(|line| !line.is_blank()).count() => {
                failure.message = format!(
                    "none of its lines is in the file, neither {line} nor the other {more}: is it for another file?"
                );
                return None;
            }
            more => format!(
                "the file has no line {line}{to_remove}, and {more} more of its lines are missing"
            ),
        };
        return Some(first);
    }
    let is_off = |index: &usize| {
        let above = index.checked_sub(1).and_then(|above| rows[above]);
        rows[*index].is_none() || above.is_some_and(|above| rows[*index] != Some(above + 1))
    };
    if let Some(index) = (0..rows.len()).find(is_off) {
        let line = quote(old[index].text());
        let above = index.checked_sub(1).and_then(|above| rows[above]);
        let gap = index.checked_sub(1).and_then(|above| Some(rows[above]? + 1..rows[index]?));
        let known = gap.clone().and_then(|mut gap| {
            gap.find(|row| {
                let mut added = lines.iter().filter(|line| !line.is_old() && !line.is_blank());
                added.any(|line| trim_end(line.text()) == trim_end(site.text.line(*row)))
            })
        });
        failure.message = match (known, gap) {
            (Some(row), _) => format!("line {} of the file already has what it adds", row + 1),
            (_, Some(gap)) if gap.len() == 1 => {
                format!(
                    "its lines are in the file, but it leaves out line {} between them",
                    gap.end
                )
            }
            (_, Some(gap)) => format!(
                "its lines are in the file, but it leaves out lines {} to {} between them",
                gap.start + 1,
                gap.end
            ),
            _ if let Some(above) = above => format!(
                "its lines are in the file, but line {} is not followed by {line}",
                above + 1
            ),
            _ => format!("its lines are in the file, but {line} is not where it is expected"),
        };
        return Some(index);
    }
    "its lines are in the file, but with other white space".clone_into(&mut failure.message);
    let same = |index: &usize| {
        rows[*index]
            .is_some_and(|row| trim_end(old[*index].text()) == trim_end(site.text.line(row)))
    };
    (0..old.len()).find(|index| !same(index))
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

/// The lines `from..to` of a file, as far as it has them.
pub(super) fn cut_excerpt(text: &Text<'_>, from: usize, to: usize) -> Excerpt {
    let rows = from..to.min(text.len());
    Excerpt {
        first: from as u64 + 1,
        lines: rows.map(|row| to_text(text.line(row))).collect(),
    }
}
