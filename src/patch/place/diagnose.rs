use std::collections::HashMap;

use super::placed::{old_of, trim_end};
use super::search::Work;
use crate::model::{Code, Excerpt, FirstDifference, Nearest, Refusal};
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Fills in what a person or model needs to see about a hunk that was not found.
pub(in crate::patch) fn diagnose(
    failure: &mut Refusal,
    text: &Text<'_>,
    hunk: &Hunk<'_>,
    work: &Work,
) {
    if failure.code != Code::P401 {
        return;
    }
    let old = old_of(hunk.firm(hunk.loose_tail));
    if old.is_empty() || text.len() == 0 {
        return;
    }
    let mut rows: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for row in 0..text.len() {
        rows.entry(text.line(row).trim_ascii())
            .or_default()
            .push(row);
    }
    let absent = old
        .iter()
        .find(|line| line.kind == LineKind::Remove && !rows.contains_key(line.text().trim_ascii()));
    if let Some(line) = absent {
        failure.code = Code::P402;
        failure.message = format!("the file has no line `{}` to remove", shown(line.text()));
    }
    let Some((start, is_near)) = likeliest(text, hunk, &old, &rows, work) else {
        return;
    };
    let equal = |index: usize| {
        old.get(index).is_some_and(|line| {
            start + index < text.len()
                && trim_end(line.text()) == trim_end(text.line(start + index))
        })
    };
    // Where indentation alone differs, the lines are those that were meant.
    let alike = |(index, line): (usize, &&HunkLine<'_>)| {
        start + index < text.len()
            && line.text().trim_ascii() == text.line(start + index).trim_ascii()
    };
    let same = old.iter().enumerate().filter(|it| alike(*it)).count();
    let hundredths = same * 100 / old.len();
    let similarity = u32::try_from(hundredths).map_or(0.0, f64::from) / 100.0;
    if is_near {
        failure.mismatch.nearest = Some(Nearest {
            line: start as u64 + 1,
            similarity,
        });
    }
    let differs = (0..old.len()).find(|index| !equal(*index));
    let shown_from = start + differs.unwrap_or(0).saturating_sub(AROUND);
    let first = shown_from.saturating_sub(2);
    let last = (start + old.len() + 2).min(shown_from + 2 * AROUND + 1);
    failure.mismatch.excerpts = vec![excerpt(text, first, last.max(first + LEAST))];
    if let Some(index) = differs
        && let Some(line) = old.get(index)
    {
        let row = start + index;
        failure.mismatch.difference = Some(FirstDifference {
            patch_line: u64::from(line.at),
            file_line: row as u64 + 1,
            expected: shown(line.text()),
            actual: (row < text.len()).then(|| shown(text.line(row))),
        });
    } else if similarity >= 1.0 {
        failure.code = Code::P401;
        "only white space differs, in a way that leaves several readings"
            .clone_into(&mut failure.message);
    }
}

// Where the old lines would begin by most of those that the file has, the nearest to the number; whether
// there is any.
fn likeliest(
    text: &Text<'_>,
    hunk: &Hunk<'_>,
    old: &[&HunkLine<'_>],
    rows: &HashMap<&[u8], Vec<usize>>,
    work: &Work,
) -> Option<(usize, bool)> {
    let mut votes: HashMap<usize, u32> = HashMap::new();
    for (index, line) in old.iter().enumerate() {
        let key = line.text().trim_ascii();
        let same = rows.get(key).filter(|_| !key.is_empty());
        for row in same.into_iter().flatten().take(64) {
            *votes.entry(row.saturating_sub(index)).or_default() += 1;
            if !work.spend(1) {
                return None;
            }
        }
    }
    let stated = hunk.old.map(|(start, _)| start.saturating_sub(1) as usize);
    let near = |start: usize| std::cmp::Reverse(start.abs_diff(stated.unwrap_or(0)));
    let voted = votes
        .iter()
        .map(|(start, votes)| (*votes, near(*start), *start));
    if let Some((_, _, start)) = voted.max() {
        return Some((start, true));
    }
    let start = stated.filter(|row| *row < text.len())?;
    Some((start, false))
}

// Lines shown before and after the first that differs.
const AROUND: usize = 6;
// Lines shown of a file that has as many.
const LEAST: usize = 5;

/// The lines `from..to` of a file, as far as it has them.
pub(super) fn excerpt(text: &Text<'_>, from: usize, to: usize) -> Excerpt {
    let rows = from..to.min(text.len());
    Excerpt {
        first: from as u64 + 1,
        lines: rows.map(|row| shown(text.line(row))).collect(),
    }
}

fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    if text.chars().count() > 200 {
        text.chars().take(200).chain(['…']).collect()
    } else {
        text.into_owned()
    }
}
