//! Explains why a hunk was not found: which of its lines the file lacks, or has at other places.

use std::ops::Range;

use super::align::likely_starts;
use super::counts::{ALIKE, LONGEST, likeness, lost_lines};
use super::placed::{old_of, quote, to_text, trim_end};
use super::site::Site;
use crate::model::{Code, Excerpt, FirstDifference, Refusal};
use crate::patch::set::{Hunk, HunkLine, LineKind, without_kind};
use crate::patch::text::Text;

/// Fills in what a person or model needs to see about a hunk that was not found.
pub(in crate::patch) fn explain_refusal(
    failure: &mut Refusal,
    site: &Site<'_, '_>,
    hunk: &Hunk<'_>,
) {
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
    let fault = write_message(failure, site, lines, &old, &rows);
    let last = old.last().filter(|line| site.rows_of_words(line.text()).is_empty());
    let longer = last.and_then(|line| find_longer(text, 0, line)).map(|row| row + 1);
    let left_out = find_gaps(&rows).iter().map(Range::len).sum::<usize>();
    let lost = lost_lines(hunk, lines).filter(|(gone, new)| {
        hunk.ends_input
            && *gone.min(new) >= 0
            && gone + new > 0
            && usize::try_from(*gone) != Ok(left_out)
    });
    if let Some((gone, new)) = lost {
        let [old, added] = [gone, new].map(|count| if count == 1 { "line" } else { "lines" });
        let hint = format!(
            "the reply may also be cut off: the hunk header counts {gone} more old {old} and {new} more new {added} than the hunk has"
        );
        failure.hint = Some(hint);
    } else if is_without_effect(lines) {
        let may_be_cut = hunk.ends_input || longer.is_some();
        let advice = if may_be_cut { "the reply may be cut off" } else { "leave it out" };
        failure.hint = Some(format!("this hunk changes nothing: {advice}"));
    } else if let Some(row) = longer {
        let what = "the hunk's last line may be cut off";
        failure.hint = Some(format!("{what}: line {row} of the file begins with it"));
    }
    let Some(index) = fault else {
        let found = rows.iter().flatten().next().copied();
        let found = found.or(stated.filter(|row| *row < text.len()));
        let shown = found.map(|row| row.saturating_sub(2));
        let shown = shown.map(|row| cut_excerpt(text, row, row + old.len().min(30) + 4));
        failure.mismatch.excerpts.extend(shown);
        return;
    };
    let before = rows[..index].iter().rev().find_map(|row| *row);
    let cut = find_longer(text, before.map_or(0, |row| row + 1), old[index]);
    let cut = cut.filter(|_| rows[index].is_none());
    let below = (0..)
        .zip(&rows[index..])
        .find_map(|(down, row)| row.as_ref()?.checked_sub(down));
    let row = cut.or(before.map(|row| row + 1)).or(below);
    let Some(row) = row.or(start.map(|row| row + index)) else {
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
    // At most 30 lines of the file are shown, among them the one that differs.
    let first = first.max(row.saturating_sub(24)).saturating_sub(2);
    let last = (last + 3).max(first + 5).min(first + 30);
    failure.mismatch.excerpts = vec![cut_excerpt(text, first, last)];
}

// The row of a line that begins with all of an old line.
fn find_longer(text: &Text<'_>, from: usize, old: &HunkLine<'_>) -> Option<usize> {
    let line = trim_end(old.text());
    let mut rows = from..text.len();
    rows.find(|row| line.trim_ascii().len() >= 8 && text.line(*row).starts_with(line))
}

fn is_without_effect(lines: &[HunkLine<'_>]) -> bool {
    let [old, new] =
        [LineKind::Add, LineKind::Remove].map(|gone| without_kind(lines, gone).map(HunkLine::text));
    old.eq(new)
}

/// The row of each old line, in their order from `start` on; lines of the file may be between them.
fn walk(site: &Site<'_, '_>, old: &[&HunkLine<'_>], start: usize) -> Vec<Option<usize>> {
    // Blank lines are everywhere, so those above the first line with text have their place from it.
    let all = old;
    let (blank, old) = old.split_at(old.iter().position(|line| !line.is_blank()).unwrap_or(0));
    let mut next = (start + blank.len()).saturating_sub(old.len());
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
    let rows: Vec<Option<usize>> = rows.collect();
    let top = rows.first().copied().flatten();
    let above = (1..=blank.len()).rev().map(|up| {
        let row = top?.checked_sub(up)?;
        site.text.line(row).trim_ascii().is_empty().then_some(row)
    });
    let mut rows: Vec<Option<usize>> = above.chain(rows.iter().copied()).collect();
    // A line that is once between those beside it, or right below one, is there, however short it is or far away.
    for index in blank.len()..rows.len() {
        let before = rows[..index].iter().rev().find_map(|row| *row);
        let after = rows[index..].iter().find_map(|row| *row).unwrap_or(site.text.len());
        if rows[index].is_none() {
            let found = site.rows_of_words(all[index].text()).iter().map(|row| *row as usize);
            let mut found = found.filter(|row| before.is_none_or(|b| b < *row) && *row < after);
            let next = before.map(|row| row + 1);
            rows[index] = found.next().filter(|row| Some(*row) == next || found.next().is_none());
        }
    }
    rows
}

/// Writes the message, and returns the old line that it is about; `None` where the file has none of them.
fn write_message(
    failure: &mut Refusal,
    site: &Site<'_, '_>,
    lines: &[HunkLine<'_>],
    old: &[&HunkLine<'_>],
    rows: &[Option<usize>],
) -> Option<usize> {
    let mut absent: Vec<usize> = (0..old.len()).filter(|index| !old[*index].is_blank()).collect();
    absent.retain(|index| site.rows_of_words(old[*index].text()).is_empty());
    let gaps = find_gaps(rows);
    let left_out = name_gaps(&gaps);
    if !absent.is_empty() {
        return explain_absent(failure, old, &absent, &left_out);
    }
    let mut other_space = (0..old.len()).filter(|index| {
        rows[*index]
            .is_some_and(|row| trim_end(old[*index].text()) != trim_end(site.text.line(row)))
    });
    let differing = other_space.clone().count();
    let other_space = other_space.next();
    let how = other_space.map_or_else(String::new, |index| {
        let row = rows[index].unwrap_or_default();
        let [there, here] = [site.text.line(row), old[index].text()]
            .map(|line| line.len() - line.trim_ascii_start().len());
        let number = row + 1;
        let indent = format!(": line {number} is indented by {there}, not by {here}");
        let indent = if there == here { "" } else { &indent };
        let all = old.iter().filter(|line| !line.is_blank()).count();
        let some = (differing < all).then(|| format!("{differing} of them "));
        let some = some.unwrap_or_default();
        format!(", but {some}with different white space{indent}")
    });
    let added = lines.iter().filter(|line| !line.is_old()).map(|line| trim_end(line.text()));
    let added: Vec<&[u8]> = added.collect();
    // The first run of lines that the hunk leaves out and adds.
    let known = gaps.iter().flat_map(Clone::clone).find_map(|row| {
        let here = trim_end(site.text.line(row));
        // A short line is also elsewhere by chance.
        let run = added.iter().skip_while(|line| line.trim_ascii().len() < 8 || **line != here);
        let rows = run.zip(row..site.text.len());
        let same = rows.take_while(|(line, row)| **line == trim_end(site.text.line(*row))).count();
        (same > 0).then_some(row..row + same)
    });
    let lost = rows.iter().position(Option::is_none);
    failure.message = match (&known, lost) {
        (Some(rows), _) => format!(
            "the hunk adds {}, which the file already has",
            name_rows(rows)
        ),
        (_, Some(lost)) => {
            let line = quote(old[lost].text());
            let above = lost.checked_sub(1).and_then(|above| rows[above]);
            above.map_or_else(
                || format!("{line} is not next to the hunk's other lines"),
                |above| format!("line {} of the file is not followed by {line}", above + 1),
            )
        }
        _ if left_out.is_empty() => format!("its lines are in the file{how}"),
        _ => format!("its lines are in the file{how}; the hunk {left_out} between them"),
    };
    if !left_out.is_empty() && known.is_none() && lost.is_some() {
        failure.message += &format!("; the hunk {left_out}");
    }
    let after_gap = (1..rows.len()).find(|index| {
        rows[index - 1].is_some_and(|above| rows[*index].is_some_and(|row| row > above + 1))
    });
    [after_gap, lost].into_iter().flatten().min().or(other_space)
}

/// Names the lines that the file lacks, and returns the first of them; `None` when it has none of the hunk's lines.
fn explain_absent(
    failure: &mut Refusal,
    old: &[&HunkLine<'_>],
    absent: &[usize],
    left_out: &str,
) -> Option<usize> {
    let mut kinds = absent.iter().map(|index| old[*index].kind);
    let first = *absent.first()?;
    let to_remove = if old[first].kind == LineKind::Remove { " to remove" } else { "" };
    if kinds.any(|kind| kind == LineKind::Remove) {
        failure.code = Code::P402;
    }
    let line = quote(old[first].text());
    let others = absent.len() - 1;
    let lines: Vec<_> = old.iter().filter(|line| !line.is_blank()).collect();
    let why = if lines.iter().all(|line| begins_with_number(line.text())) {
        "send them without the line numbers that they begin with"
    } else {
        "the patch may be for another file, or another version of this one"
    };
    // Those that the file has may be there by chance.
    let is_other = others > 1 && absent.len() * 3 >= lines.len() * 2;
    if others > 0 && absent.len() == lines.len() || is_other {
        let (few, all) = (absent.len(), lines.len());
        failure.message = format!(
            "{few} of the hunk's {all} lines are not in the file, the first is {line}: {why}"
        );
        return None;
    }
    failure.message = format!("the file has no line {line}{to_remove}");
    if others > 0 {
        failure.message += &format!(", and {others} more of the hunk's lines are missing");
    }
    if !left_out.is_empty() {
        failure.message += &format!("; the hunk also {left_out}");
    }
    Some(first)
}

// What readers of files print before each line.
fn begins_with_number(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && matches!(line.get(digits), Some(b' ' | b'\t' | b':' | b'|'))
}

fn name_gaps(gaps: &[Range<usize>]) -> String {
    let names: Vec<String> = gaps.iter().map(name_rows).collect();
    match names.as_slice() {
        [one] => format!("leaves out {one}"),
        [before @ .., last] => format!("leaves out {} and {last}", before.join(", ")),
        [] => String::new(),
    }
}

// The rows of the file between two lines of the hunk, where there are more than the hunk has between them.
fn find_gaps(rows: &[Option<usize>]) -> Vec<Range<usize>> {
    let found = (0..).zip(rows).filter_map(|(index, row)| Some((index, (*row)?)));
    let found: Vec<(usize, usize)> = found.collect();
    let pairs = found.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[0].1 + 1..pair[1].1));
    pairs.filter(|(lines, gap)| gap.len() >= *lines).map(|(_, gap)| gap).collect()
}

fn name_rows(rows: &Range<usize>) -> String {
    match rows.len() {
        1 => format!("line {}", rows.end),
        _ => format!("lines {} to {}", rows.start + 1, rows.end),
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

/// The lines `from..to` of a file, as far as it has them.
pub(super) fn cut_excerpt(text: &Text<'_>, from: usize, to: usize) -> Excerpt {
    let rows = from..to.min(text.len());
    Excerpt {
        first: from as u64 + 1,
        lines: rows.map(|row| to_text(text.line(row))).collect(),
    }
}
