//! Applies hunks by git's rules, byte for byte.

use super::compose::compose_edits;
use super::content::find_shift;
use super::place::{Placed, Placement, Site};
use super::set::{FilePatch, Hunk, HunkLine};
use super::text::Text;

/// Applies a section whose header counts hold by git's rules, byte for byte.
///
/// `None` unless every hunk is at the line it states (as git finds it, without fuzz), or every
/// old side is at exactly one place of the file. What is returned, the bytes after and the placed hunks, is final.
pub(super) fn apply_exactly<'h, 'a>(
    site: &Site<'_, '_>,
    section: &'h FilePatch<'a>,
) -> Option<(Vec<u8>, Vec<Placement<'h, 'a>>)> {
    let hunks = section.hunks();
    if section.headers.explicit.is_some()
        || hunks.is_empty()
        || !hunks.iter().all(|hunk| {
            let marked = hunk.lines.iter().all(|line| !line.bare);
            hunk.counts_hold && marked && hunk.changes_something()
        })
    {
        return None;
    }
    let placed = hunks.iter().zip(find_rows(site, hunks)?).map(|(hunk, row)| {
        tracing::debug!("hunk placed at line {} by git's rules", row + 1);
        Ok(Placed::new(hunk.lines.as_slice(), row, Vec::new()))
    });
    let placed: Vec<Placement<'_, '_>> = placed.collect();
    let bytes = compose_edits(site.text, &placed, true).ok()?;
    // The one doubt that an exact patch meets.
    let is_sure = find_shift(section, &placed, &bytes).is_none();
    is_sure.then_some((bytes, placed))
}

fn find_rows(site: &Site<'_, '_>, hunks: &[Hunk<'_>]) -> Option<Vec<usize>> {
    let stated = hunks.iter().map(|hunk| stated_row(site.text, hunk));
    stated
        .collect::<Option<Vec<usize>>>()
        .or_else(|| hunks.iter().map(|hunk| only_row(site, hunk)).collect())
}

/// Returns the only row where the old side of a hunk is, byte for byte.
fn only_row(site: &Site<'_, '_>, hunk: &Hunk<'_>) -> Option<usize> {
    let row = site.only_row(&hunk.old_lines().collect::<Vec<_>>())?;
    stands_at(site.text, hunk, row).then_some(row)
}

/// Returns the row that a hunk states, when its old side is there.
fn stated_row(text: &Text<'_>, hunk: &Hunk<'_>) -> Option<usize> {
    let (start, count) = hunk.old?;
    let row = (start as usize).checked_sub(usize::from(count > 0))?;
    stands_at(text, hunk, row).then_some(row)
}

/// Whether the old side of a hunk is at a row. Like git, a hunk that ends without context has to be at the end.
fn stands_at(text: &Text<'_>, hunk: &Hunk<'_>, row: usize) -> bool {
    let is_open = hunk.lines.last().is_some_and(HunkLine::is_context);
    let mut end = row;
    let fits = hunk.old_lines().all(|line| {
        end += 1;
        is_whole_line(line, text.whole(end - 1))
    });
    fits && if is_open { end <= text.len() } else { end == text.len() }
}

fn is_whole_line(line: &HunkLine<'_>, whole: &[u8]) -> bool {
    match whole.strip_suffix(b"\n") {
        Some(text) => !line.no_newline && text == line.text(),
        None => line.no_newline && whole == line.text(),
    }
}
