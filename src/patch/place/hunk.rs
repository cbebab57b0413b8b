//! Places one hunk, or says why it cannot be placed.

use super::align::{PUT_BACK, align_hunk, lost_marks, without_edges};
use super::counts::check_counts;
use super::explain::cut_excerpt;
use super::file::find_scope;
use super::placed::{Placed, old_of};
use super::site::{MAX_PLACES, Site};
use crate::model::{Code, Mend, Refusal, Safety, refuse};
use crate::patch::set::{Hunk, HunkLine, LineKind, has_kind};
use crate::patch::text::Text;
use crate::report::join_numbers;

/// Where a hunk is, or why it cannot be placed.
pub(in crate::patch) type Placement<'h, 'a> = Result<Placed<'h, 'a>, Refusal>;

/// Looks for one hunk in a file. `shift` is what earlier hunks add to line numbers, `None` after one that did
/// not be at its own.
pub(super) fn place_hunk<'h, 'a>(
    site: &Site<'_, '_>,
    hunk: &'h Hunk<'a>,
    shift: Option<i64>,
) -> Placement<'h, 'a> {
    let is_new =
        site.text.len() == 0 && hunk.firm_lines(hunk.loose_tail).iter().all(|line| !line.is_old());
    if is_new || hunk.old_lines().next().is_none() {
        return insert_hunk(site, hunk, shift);
    }
    if let Some(outcome) = place_exactly(site, hunk) {
        return outcome;
    }
    let placed = match with_lost_mark(site, hunk) {
        Some(placed) => return Ok(with_notes(site.text, hunk, hunk.loose_tail, placed)),
        None => align_hunk(site, hunk)?.or_else(|| without_edges(site, hunk)),
    };
    let placed = placed.ok_or_else(|| Refusal::new(Code::P401, "its lines are not in the file"))?;
    check_place(site.text, hunk, hunk.loose_tail, placed)
}

/// Places the only reading in which one line of context is an added one that lost its mark: with it the counts of the
/// header hold and the old side is in the file once.
fn with_lost_mark<'h, 'a>(site: &Site<'_, '_>, hunk: &'h Hunk<'a>) -> Option<Placed<'h, 'a>> {
    let lines = hunk.firm_lines(hunk.loose_tail);
    let is_lost = lost_marks(hunk, lines) == 1;
    // Each reading copies the lines, which costs as much as comparing them.
    let rows = (0..lines.len()).take_while(|_| is_lost && site.work.spend(lines.len() as u64));
    let found = rows.filter_map(|row| {
        let mut read = lines.to_vec();
        let line = read.get_mut(row)?;
        let is_context = line.kind == LineKind::Context;
        line.kind = LineKind::Add;
        let at = site.only_row(&old_of(&read)).filter(|_| is_context)?;
        Some((read, at))
    });
    let mut found: Vec<_> = found.take(2).collect();
    let (read, at) = found.pop().filter(|_| found.is_empty())?;
    let message = "read a context line as added: only then do the header counts match";
    let mend = Mend::new(Code::M301, Safety::Lossy, hunk.line, message);
    Some(Placed::new(read, at, vec![mend]))
}

/// Looks for an exact match of the old lines, with or without lines at the end that may be no part of the hunk;
/// `None` where there is no match.
fn place_exactly<'h, 'a>(site: &Site<'_, '_>, hunk: &'h Hunk<'a>) -> Option<Placement<'h, 'a>> {
    let stated = hunk.old.and_then(|(start, _)| (start as usize).checked_sub(1));
    [0, hunk.loose_tail].into_iter().find_map(|tail| {
        let old = old_of(hunk.firm_lines(tail));
        let stated = stated.filter(|row| !old.is_empty() && fits_at(site.text, *row, &old));
        let found = stated.map_or_else(|| site.exact_rows(&old), |row| vec![row]);
        let at = match found.as_slice() {
            [] => return None,
            [row] => *row,
            [.., row] if (hunk.at_end && (*row) + old.len() == site.text.len()) => *row,
            _ => return Some(place_in_scope(site.text, hunk, tail, &found)),
        };
        let placed = Placed::new(hunk.firm_lines(tail), at, Vec::new());
        Some(check_place(site.text, hunk, tail, placed))
    })
}

/// Chooses of several exact places the one inside the scope that the hunk names.
fn place_in_scope<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    tail: usize,
    found: &[usize],
) -> Placement<'h, 'a> {
    let lines = hunk.firm_lines(tail);
    let scope = find_scope(text, hunk);
    let mut inside = found
        .iter()
        .filter(|row| scope.as_ref().is_some_and(|scope| scope.contains(row)));
    let (Some(at), None) = (inside.next(), inside.next()) else {
        return Err(refuse_ambiguous(text, found, hunk));
    };
    let message = "chose the only match inside the scope that the hunk names";
    let mend = Mend::new(Code::M410, Safety::Safe, hunk.line, message);
    Ok(with_notes(
        text,
        hunk,
        tail,
        Placed::new(lines, *at, vec![mend]),
    ))
}

/// Refuses what fits in several places, with the lines around those that are the nearest to the stated line.
pub(super) fn refuse_ambiguous(text: &Text<'_>, at: &[usize], hunk: &Hunk<'_>) -> Refusal {
    let least = if at.len() < MAX_PLACES { "" } else { "at least " };
    let message = format!("it fits in {least}{} places", at.len());
    let mut refusal = Refusal::new(Code::P403, message);
    // The first 49 and the last.
    let listed = at.iter().take(49).chain(at.get(49..).and_then(<[_]>::last));
    refusal.mismatch.candidates = listed.map(|at| *at as u64 + 1).collect();
    let size = hunk.old_lines().count().min(4);
    let stated = hunk.old.map(|(line, _)| line.saturating_sub(1) as usize);
    let mut nearest = at.to_vec();
    if let Some(stated) = stated {
        nearest.sort_by_key(|at| at.abs_diff(stated));
    } else if let Some(last) = nearest.pop() {
        nearest.insert(1, last);
    }
    nearest.truncate(3);
    nearest.sort_unstable();
    let some = if at.len() > 3 { " (3 places are shown)" } else { "" };
    refusal.hint = Some(if hunk.changes_something() {
        format!("add context lines until only one place fits{some}")
    } else {
        "this hunk changes nothing: leave it out".to_owned()
    });
    let places = nearest.iter();
    let shown = places.map(|at| cut_excerpt(text, at.saturating_sub(4), at + size + 4));
    refusal.mismatch.excerpts = shown.collect();
    refusal
}

/// Whether the lines are in the file from `at` on, byte for byte.
fn fits_at(text: &Text<'_>, at: usize, old: &[&HunkLine<'_>]) -> bool {
    let mut rows = old.iter().zip(at..);
    at + old.len() <= text.len() && rows.all(|(line, row)| line.text() == text.line(row))
}

/// Adds the mends made while the hunk was read.
fn with_notes<'h, 'a>(
    text: &Text<'_>,
    hunk: &Hunk<'a>,
    tail: usize,
    mut placed: Placed<'h, 'a>,
) -> Placed<'h, 'a> {
    let mut prose = hunk.lines.iter().skip(hunk.firm_lines(tail).len());
    let is_prose = prose.any(|line| !line.line.is_empty());
    let is_noted = placed.mends.iter().any(|mend| mend.code == Code::M303);
    let is_bare = !is_noted && placed.lines.iter().any(|line| line.bare);
    let is_marked = placed.has_false_mark(text, LineKind::Context);
    let ignored = "ignored `\\ No newline at end of file` after a line that ends with a newline";
    let notes = [
        (Code::M411, is_marked, ignored),
        (Code::M104, is_prose, "treated text after the hunk as prose"),
        (Code::M303, is_bare, PUT_BACK),
    ];
    let notes = notes.into_iter().filter(|(_, applies, _)| *applies);
    let mends = notes.map(|(code, _, message)| Mend::new(code, Safety::Safe, hunk.line, message));
    placed.mends.extend(mends);
    placed
}

// A hunk that fits somewhere must still be complete.
fn check_place<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    tail: usize,
    placed: Placed<'h, 'a>,
) -> Placement<'h, 'a> {
    let mut placed = with_notes(text, hunk, tail, placed);
    if is_there(text, &placed) {
        return refuse(Code::P406, "the lines that the hunk adds are already there");
    }
    let mend = check_counts(text, hunk, hunk.firm_lines(tail), placed.end())?;
    placed.mends.extend(mend);
    Ok(placed)
}

// Where only lines are added, the old side may be before or after lines added earlier.
fn is_there(text: &Text<'_>, placed: &Placed<'_, '_>) -> bool {
    let mut added = placed.lines.iter().filter(|line| !line.is_old());
    if has_kind(&placed.lines, LineKind::Remove)
        || !added.any(|line| line.text().trim_ascii().len() > 1)
    {
        return false;
    }
    let new: Vec<_> = placed.lines.iter().collect();
    let lead = placed.lines.iter().take_while(|line| !line.is_old()).count();
    let before = placed.at.checked_sub(lead);
    fits_at(text, placed.at, &new) || before.is_some_and(|at| fits_at(text, at, &new))
}

/// Refuses lines without context, with the rows of the scope that the hunk names.
fn without_place(site: &Site<'_, '_>, hunk: &Hunk<'_>) -> Refusal {
    if hunk.lines.is_empty() {
        return Refusal::new(
            Code::P104,
            "no line follows the hunk header: the patch is cut off",
        );
    }
    let message = "the hunk only adds lines, and no context line shows where they go";
    let mut refusal = Refusal::new(Code::P410, message);
    let top = hunk.old.map_or(0, |(line, _)| line.saturating_sub(4) as usize);
    refusal.mismatch.excerpts = vec![cut_excerpt(site.text, top, top + 30)];
    let rows = site.rows_of_words(hunk.scope).iter().take(5);
    let lines = rows.map(|row| u64::from(*row) + 1).collect();
    let inside = find_scope(site.text, hunk).map(|rows| vec![rows.start as u64 + 1]);
    let lines: Vec<u64> = inside.unwrap_or(lines);
    let Some(first) = lines.first().filter(|_| !hunk.scope.is_empty()) else {
        return refusal.hint("repeat as context the line that they follow");
    };
    let scope = String::from_utf8_lossy(hunk.scope.trim_ascii());
    refusal.hint(format!(
        "`{scope}` is at line {}; repeat as context the line that the new ones follow, for example line {}",
        join_numbers(&lines),
        first + 1
    ))
}

// Lines to add and nothing that says where but the number.
fn insert_hunk<'h, 'a>(
    site: &Site<'_, '_>,
    hunk: &'h Hunk<'a>,
    shift: Option<i64>,
) -> Placement<'h, 'a> {
    let text = site.text;
    let at = match (hunk.old, hunk.new) {
        _ if text.len() == 0 => Some(0),
        _ if hunk.at_end => Some(text.len()),
        // Numbers count only when both sides agree, because a model rarely gets both right by chance.
        (Some((old, 0)), Some((new, count)))
            if hunk.counts_hold
                && count > 0
                && shift.is_some_and(|shift| i64::from(new) == i64::from(old) + 1 + shift)
                && old as usize <= text.len() =>
        {
            Some(old as usize)
        }
        _ => None,
    };
    let at = at.ok_or_else(|| without_place(site, hunk))?;
    let lines = hunk.firm_lines(hunk.loose_tail);
    let placed = Placed::new(lines, at, Vec::new());
    let mut placed = with_notes(text, hunk, hunk.loose_tail, placed);
    placed.mends.extend(check_counts(text, hunk, lines, at)?);
    if text.len() > 0 && !hunk.at_end {
        let message = "placed lines by line number alone, because there is no context";
        let mend = Mend::new(Code::M401, Safety::Lossy, hunk.line, message);
        placed.mends.push(mend);
    }
    Ok(placed)
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::{expect, tried, tried_patch};

    #[test]
    fn rejects_removal_beyond_end() {
        let file = "alpha = 1\nbeta = 2\ngamma = 3\n";
        assert_eq!(
            tried(file, " beta = 2\n gamma = 3\n-\n+delta = 4\n").1,
            None
        );
    }

    #[test]
    fn refuses_numbered_insertion_after_moved_hunk() {
        let file = "a()\na()\na()\na()\n}\na()\n";
        let patch = "--- a/f\n+++ b/f\n@@ -2 +1,0 @@\n-}\n@@ -3,0 +3 @@\n+aaa\n";
        assert_eq!(tried_patch(file, patch), ("P410".to_owned(), None));
    }

    #[test]
    fn lines_that_are_there_are_not_added_again() {
        let file = "first = 1\nadded = 2\nlast = 3\n";
        let other = "@@ -3 +4 @@\n-last = 3\n+last = 4\n";
        let there = "@@ -1 +1,2 @@\n first = 1\n+added = 2\n";
        expect(file, there, "M304", None);
        expect(file, &format!("{there}{other}"), "P406", None);
        let there = "@@ -3 +3,2 @@\n+added = 2\n last = 3\n";
        let other = "@@ -1 +1 @@\n-first = 1\n+first = 2\n";
        expect(file, &format!("{other}{there}"), "P406", None);
        let change = Some(("added", "other = 2\nadded"));
        expect(file, "@@ -1 +1,2 @@\n first = 1\n+other = 2\n", "", change);
        // A single letter occurs anywhere.
        expect(
            "{\n}\nlast\n",
            "@@ -2 +2,2 @@\n }\n+}\n",
            "",
            Some(("}", "}\n}")),
        );
        expect(
            "}\n}\nlast\n",
            "@@ -1 +1,2 @@\n }\n+}\n",
            "",
            Some(("}", "}\n}")),
        );
        // Nothing is there before.
        expect("", "@@ -0,0 +1,2 @@\n+a\n+b\n", "", Some(("", "a\nb\n")));
        expect("", "@@ -1 +1,2 @@\n a\n+b\n", "P401", None);
    }
}
