use std::borrow::Cow;

use super::placed::{Piece, Placed, firm, old_of};
use super::rule::{MendNote, trim_end};
use super::search::Work;
use crate::model::Code;
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Lets some context differ, where the removed lines stand at one place alone and what adjoins each
/// change is as the patch has it.
///
/// The file may have changed around the place since the patch was written; its own context stays.
pub(super) fn other_context<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = firm(hunk, hunk.loose_tail);
    let old = old_of(lines);
    let removed: Vec<(usize, &HunkLine<'_>)> = old
        .iter()
        .enumerate()
        .filter(|(_, line)| line.kind == LineKind::Remove)
        .map(|(index, line)| (index, *line))
        .collect();
    let tells = |line: &HunkLine<'_>| line.text().trim_ascii().len() >= TELLING;
    if !removed.iter().any(|(_, line)| tells(line)) {
        return None;
    }
    let mut found = None;
    for at in 0..=text.len().checked_sub(old.len())? {
        let mut compared = 0;
        let stands = removed.iter().all(|(index, line)| {
            compared += 1;
            line.text() == text.line(at + index)
        });
        if !work.spend(compared) || (stands && found.is_some()) {
            return None;
        }
        if stands {
            found = Some(at);
        }
    }
    let at = found?;
    let same: Vec<bool> = old
        .iter()
        .enumerate()
        .map(|(index, line)| trim_end(line.text()) == trim_end(text.line(at + index)))
        .collect();
    let context = old.len() - removed.len();
    let kept = same.iter().filter(|same| **same).count() - removed.len();
    let alike = old.iter().enumerate().all(|(index, line)| {
        same.get(index) == Some(&true) || is_alike(line.text(), text.line(at + index))
    });
    if kept * 2 < context || !alike || !adjoins(lines, &same) {
        return None;
    }
    Some(Placed {
        lines: Cow::Borrowed(lines),
        pieces: vec![Piece {
            at,
            from: 0,
            to: lines.len(),
        }],
        mends: vec![MendNote::lossy(
            Code::M417,
            "took context that differs from the file, around lines that stand there once",
        )],
    })
}

// A removed line shorter than this may stand anywhere.
const TELLING: usize = 8;

// One line made of another by a rename or a small change.
fn is_alike(patch: &[u8], file: &[u8]) -> bool {
    let (patch, file) = (
        String::from_utf8_lossy(patch),
        String::from_utf8_lossy(file),
    );
    let (patch, file) = (patch.trim(), file.trim());
    patch.len() < 400 && file.len() < 400 && strsim::normalized_levenshtein(patch, file) >= 0.5
}

// Whether each run of changes touches old lines that are as the patch has them: one of two where it
// removes some, both where it only adds.
fn adjoins(lines: &[HunkLine<'_>], same: &[bool]) -> bool {
    let is_context = |line: &HunkLine<'_>| line.kind == LineKind::Context;
    let mut row = 0;
    let runs = lines.chunk_by(|a, b| is_context(a) == is_context(b));
    runs.into_iter().all(|run| {
        let from = row;
        row += run.iter().filter(|it| it.kind != LineKind::Add).count();
        if run.first().is_some_and(is_context) {
            return true;
        }
        let before = from.checked_sub(1).and_then(|at| same.get(at));
        let after = same.get(row);
        let removes = row > from;
        if removes {
            before == Some(&true) || after == Some(&true)
        } else {
            before == Some(&true) && after == Some(&true)
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::tried;

    const FILE: &str = "def f(values):\n    total = 0\n    for value in values:\n        total += value\n    return total\n";

    #[test]
    fn context_may_have_changed_around_lines_that_stand_once() {
        // The parameter was renamed since.
        let body = " def f(items):\n     total = 0\n-    for value in values:\n+    for value in set(values):\n         total += value\n";
        let (codes, after) = tried(FILE, body);
        assert_eq!(codes, "M417");
        let expected = FILE.replace("in values", "in set(values)");
        assert_eq!(after, Some(expected));
    }

    #[test]
    fn what_is_removed_and_what_adjoins_has_to_be_there() {
        for body in [
            // The removed line differs.
            " def f(items):\n     total = 0\n-    for value in items:\n+    for value in set(items):\n",
            // Nothing that adjoins is there.
            " def f(values):\n     count = 0\n-    for value in values:\n+    for value in set(values):\n         count += value\n     return total\n",
            // Most context is another.
            " def g(a, b):\n     x = a\n     y = b\n     total = 0\n-    for value in values:\n+    pass\n",
            // Only added lines.
            " def f(items):\n     total = 0\n+    count = 0\n     for value in values:\n",
        ] {
            assert_eq!(tried(FILE, body).1, None, "{body}");
        }
        let twice = format!("{FILE}{FILE}");
        let body = " def f(items):\n     total = 0\n-    for value in values:\n+    for value in set(values):\n";
        assert_eq!(tried(&twice, body).1, None);
    }
}
