use std::borrow::Cow;
use std::ops::Range;

use super::placed::{Piece, Placed, old_of};
use super::rule::{MendNote, trim_end};
use super::search::Work;
use crate::model::Code;
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Lets some context differ, where what changes stands at one place alone and what adjoins each
/// change is as the patch has it.
///
/// The file may have changed around the place since the patch was written, by lines more or less
/// too; its own context stays.
pub(super) fn other_context<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = hunk.firm(hunk.loose_tail);
    let old = Old::of(lines);
    let anchor = old.anchor()?;
    let mut found = Vec::new();
    for at in 0..=text.len().checked_sub(anchor.len())? {
        if !work.spend(anchor.len() as u64) {
            return None;
        }
        let stands = anchor.clone().zip(at..).all(|(row, line)| {
            old.lines
                .get(row)
                .is_some_and(|it| it.text() == text.line(line))
        });
        if stands && found.len() < MOST_PLACES && work.spend(20 * lines.len() as u64) {
            found.push(old.aligned(text, &anchor, at, work));
        } else if stands {
            return None;
        }
    }
    found.sort_by_key(|aligned| std::cmp::Reverse(aligned.kept));
    let best = found.first()?;
    // Another place must not have half of what speaks for this one.
    let rivals = found.get(1).is_some_and(|it| it.kept * 2 >= best.kept);
    // More old lines than the header counts and as many new ones: a line may have lost its `+`.
    let count = |gone: LineKind| lines.iter().filter(|line| line.kind != gone).count();
    let miscounted = hunk.old.zip(hunk.new).is_some_and(|((_, old), (_, new))| {
        (old as usize) < count(LineKind::Add) && new as usize == count(LineKind::Remove)
    });
    if rivals || !best.holds(&old) || best.lost_a_mark(&old, text, miscounted, work) {
        return None;
    }
    let pieces = best.pieces(lines);
    let sure = |piece: &Piece| {
        let row = |index: usize| old_of(lines.get(..index).unwrap_or_default()).len();
        let rows = row(piece.from)..row(piece.to);
        let changed = lines.get(piece.from..piece.to).unwrap_or_default();
        let changed = changed.iter().any(|line| line.kind != LineKind::Context);
        !changed || rows.contains(&anchor.start) || best.stands_once(&old, rows, text, work)
    };
    if !pieces.iter().all(sure) {
        return None;
    }
    Some(Placed {
        pieces,
        lines: Cow::Borrowed(lines),
        mends: vec![MendNote::lossy(
            Code::M417,
            "took context that differs from the file, around lines that stand there once",
        )],
    })
}

// The lines of a hunk that stand in the file before.
struct Old<'h, 'a> {
    lines: Vec<&'h HunkLine<'a>>,
    // Before which of these lines some are added.
    added_before: Vec<bool>,
    // Removed lines are indented as the file is: of context, too, the words count.
    moves_context: bool,
}

impl<'h, 'a> Old<'h, 'a> {
    fn of(lines: &'h [HunkLine<'a>]) -> Self {
        let mut old = Self {
            lines: old_of(lines),
            added_before: Vec::new(),
            moves_context: lines
                .iter()
                .any(|line| line.kind == LineKind::Remove && line.text().starts_with(b" ")),
        };
        let mut added = false;
        for line in lines {
            match line.kind {
                LineKind::Add => added = true,
                _ => old.added_before.push(std::mem::take(&mut added)),
            }
        }
        old.added_before.push(added);
        old
    }

    fn adds(&self, before: usize) -> bool {
        self.added_before.get(before) == Some(&true)
    }

    // The runs of lines that are removed.
    fn removed(&self) -> Vec<Range<usize>> {
        let mut from = 0;
        let runs = self.lines.chunk_by(|a, b| a.kind == b.kind);
        let removed = runs.filter_map(|run| {
            let rows = from..from + run.len();
            from = rows.end;
            (run.first()?.kind == LineKind::Remove).then_some(rows)
        });
        removed.collect()
    }

    // What says where: the removed lines that tell most; where none is removed, the two lines that
    // the first added ones stand between.
    fn anchor(&self) -> Option<Range<usize>> {
        let telling = |rows: &Range<usize>| {
            let lines = self.lines.get(rows.clone()).unwrap_or_default();
            let letters = lines.iter().map(|line| line.text().trim_ascii().len());
            letters.max().unwrap_or(0)
        };
        let mut runs = self.removed();
        if runs.is_empty() {
            let between = self.added_before.iter().position(|added| *added)?;
            let pair = between.checked_sub(1)?..between + 1;
            runs.extend((pair.end <= self.lines.len()).then_some(pair));
        }
        let best = runs.into_iter().max_by_key(telling)?;
        (telling(&best) >= TELLING).then_some(best)
    }

    // The rows of the file that the lines stand for, when those of `anchor` stand at `at`.
    fn aligned(&self, text: &Text<'_>, anchor: &Range<usize>, at: usize, work: &Work) -> Aligned {
        let mut rows = vec![None; self.lines.len()];
        for (row, line) in anchor.clone().zip(at..) {
            if let Some(slot) = rows.get_mut(row) {
                *slot = Some(AlignedLine { line, exact: true });
            }
        }
        let down: Vec<usize> = (anchor.end..self.lines.len()).collect();
        let below = at + anchor.len();
        self.follow((text, work), &down, |step| Some(below + step), &mut rows);
        let up: Vec<usize> = (0..anchor.start).rev().collect();
        let above = |step: usize| at.checked_sub(step + 1);
        self.follow((text, work), &up, above, &mut rows);
        let kept = rows.iter().zip(&self.lines).filter(|(row, line)| {
            line.kind == LineKind::Context && row.is_some_and(|row| row.exact)
        });
        Aligned {
            kept: kept.count(),
            rows,
        }
    }

    // Goes through lines and file side by side, away from the anchor. Where they part, the fewest
    // lines are left out on either side after which they agree again.
    fn follow(
        &self,
        (text, work): (&Text<'_>, &Work),
        order: &[usize],
        line_at: impl Fn(usize) -> Option<usize>,
        rows: &mut [Option<AlignedLine>],
    ) {
        let file = |step: usize| {
            let line = line_at(step)?;
            (line < text.len()).then(|| (line, text.line(line)))
        };
        let line = |index: usize| order.get(index).and_then(|row| self.lines.get(*row));
        let same = |index: usize, step: usize| {
            line(index)
                .zip(file(step))
                .is_some_and(|(line, (_, file))| {
                    let stands = trim_end(line.text()) == trim_end(file);
                    match line.kind {
                        LineKind::Context => {
                            stands
                                || self.moves_context
                                    && line.text().trim_ascii() == file.trim_ascii()
                        }
                        _ => line.text() == file,
                    }
                })
        };
        let is_context = |index: usize| line(index).is_some_and(|it| it.kind == LineKind::Context);
        // One line that says little agrees by chance.
        let agree = |index: usize, step: usize| {
            let tells = |at: usize| line(at).is_some_and(|it| !it.text().trim_ascii().is_empty());
            same(index, step)
                && (index + 1 == order.len() && tells(index) || same(index + 1, step + 1))
        };
        let (mut index, mut step) = (0, 0);
        while let Some(row) = order.get(index) {
            let mut stands = |exact: bool| {
                if let (Some(slot), Some((line, _))) = (rows.get_mut(*row), file(step)) {
                    *slot = Some(AlignedLine { line, exact });
                }
            };
            if same(index, step) {
                stands(true);
                (index, step) = (index + 1, step + 1);
                continue;
            }
            let changed = is_context(index)
                && line(index)
                    .zip(file(step))
                    .is_some_and(|(line, (_, file))| is_alike(line.text(), file, work));
            let ways = (1..=MOST_LEFT_OUT)
                .flat_map(|both| (0..=both).map(move |lines| (lines, both - lines)));
            let again = ways.into_iter().find(|(lines, files)| {
                (index..index + lines).all(is_context) && agree(index + lines, step + files)
            });
            if changed && (again.is_none() || same(index + 1, step + 1)) {
                stands(false);
                (index, step) = (index + 1, step + 1);
                continue;
            }
            let Some((lines, files)) = again else {
                return;
            };
            (index, step) = (index + lines, step + files);
        }
    }
}

#[derive(Clone, Copy)]
struct AlignedLine {
    line: usize,
    exact: bool,
}

struct Aligned {
    rows: Vec<Option<AlignedLine>>,
    // How many lines of context are in the file as the patch has them.
    kept: usize,
}

impl Aligned {
    fn row(&self, row: usize) -> Option<AlignedLine> {
        self.rows.get(row).copied().flatten()
    }

    // Whether it is enough: half of the context (two thirds where nothing is removed), every removed
    // line, and each change beside a line that is as the patch has it, on both sides where it only adds.
    fn holds(&self, old: &Old<'_, '_>) -> bool {
        let runs = old.removed();
        let removed: usize = runs.iter().map(ExactSizeIterator::len).sum();
        let context = self.rows.len() - removed;
        let enough = if removed > 0 {
            self.kept * 2 >= context
        } else {
            self.kept * 3 >= context * 2
        };
        let pair = |upper: usize| self.row(upper).zip(self.row(upper + 1));
        let adjoins = |upper: usize| {
            pair(upper).is_some_and(|(a, b)| a.exact && b.exact && a.line + 1 == b.line)
        };
        // Lines of the file that the patch does not have beside a change: what is added may belong before
        // or behind them.
        let gap = |upper: usize| pair(upper).is_some_and(|(a, b)| a.line + 1 != b.line);
        let stands = |run: &Range<usize>| {
            let (above, last) = (run.start.checked_sub(1), run.end - 1);
            let added = old.adds(run.start);
            run.clone()
                .all(|row| self.row(row).is_some_and(|it| it.exact))
                && (run.start..last).all(adjoins)
                && !((added || old.adds(run.end)) && (above.is_some_and(gap) || gap(last)))
                && (above.is_some_and(adjoins) || !added && adjoins(last))
        };
        let replaces = |row: usize| runs.iter().any(|run| (run.start..=run.end).contains(&row));
        let mut added = (0..=self.rows.len()).filter(|row| old.adds(*row) && !replaces(*row));
        enough && runs.iter().all(stands) && added.all(|row| row > 0 && adjoins(row - 1))
    }

    // Whether a line beside an added one, or any where the header counts other lines, stands nowhere in the
    // file: it may be one whose `+` was lost.
    fn lost_a_mark(
        &self,
        old: &Old<'_, '_>,
        text: &Text<'_>,
        miscounted: bool,
        work: &Work,
    ) -> bool {
        (0..self.rows.len()).any(|row| {
            let beside = miscounted || [row, row + 1].iter().any(|it| old.adds(*it));
            let line = old.lines.get(row).map_or(&[][..], |it| it.text());
            let line = line.trim_ascii();
            let nowhere = || {
                let mut rows = 0..text.len();
                work.spend(text.len() as u64) && rows.all(|at| text.line(at).trim_ascii() != line)
            };
            beside && self.row(row).is_none() && !line.is_empty() && nowhere()
        })
    }

    // Whether rows that go on without a gap fit the file at one place alone.
    fn stands_once(
        &self,
        old: &Old<'_, '_>,
        rows: Range<usize>,
        text: &Text<'_>,
        work: &Work,
    ) -> bool {
        let Some(last) = text.len().checked_sub(rows.len()) else {
            return false;
        };
        let exact = |row: &usize| self.row(*row).is_some_and(|it| it.exact);
        let exact: Vec<(usize, &[u8])> = rows
            .clone()
            .filter(exact)
            .filter_map(|row| Some((row - rows.start, trim_end(old.lines.get(row)?.text()))))
            .collect();
        let fits = |at: &usize| {
            let mut lines = exact.iter();
            lines.all(|(row, line)| *line == trim_end(text.line(at + row)))
        };
        work.spend(text.len() as u64) && (0..=last).filter(fits).take(2).count() == 1
    }

    // The lines of the hunk that stand in the file side by side; the rest of its context is left out.
    fn pieces(&self, lines: &[HunkLine<'_>]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        // Where the open piece goes on in the file, and the lines from which a new one would begin.
        let mut next = None;
        let mut from = 0;
        let mut row = 0;
        for (index, line) in lines.iter().enumerate() {
            if line.kind == LineKind::Add {
                continue;
            }
            let stands = self.row(row).map(|it| it.line);
            row += 1;
            if next.is_none() || stands != next {
                if let Some(piece) = pieces.last_mut().filter(|_| next.is_some()) {
                    // Lines added after removed ones stand in their place.
                    let replaces = from > 0
                        && lines
                            .get(from - 1)
                            .is_some_and(|it| it.kind == LineKind::Remove);
                    piece.to = if replaces { index } else { from };
                    from = piece.to;
                }
                if let Some(at) = stands {
                    let to = lines.len();
                    pieces.push(Piece { at, from, to });
                }
            }
            next = stands.map(|at| at + 1);
            from = index + 1;
        }
        pieces
    }
}

// A line shorter than this may stand anywhere.
const TELLING: usize = 8;
// Places at which to look for the rest of the hunk.
const MOST_PLACES: usize = 64;
// Lines that may be missing or too many at one place of the context, both sides together.
const MOST_LEFT_OUT: usize = 5;

// One line made of another by a rename or a small change.
fn is_alike(patch: &[u8], file: &[u8], work: &Work) -> bool {
    let (patch, file) = (
        String::from_utf8_lossy(patch),
        String::from_utf8_lossy(file),
    );
    let (patch, file) = (patch.trim(), file.trim());
    patch.len() < 400
        && file.len() < 400
        && work.spend(Work::of_alike(patch.len(), file.len()))
        && strsim::normalized_levenshtein(patch, file) >= 0.5
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
    fn context_may_have_lines_more_or_less() {
        let cases = [
            // A line is missing two lines above; beside lines that are only removed.
            (
                " def f(values):\n     for value in values:\n-        total += value\n+        total -= value\n     return total\n",
                FILE.replace("+= value", "-= value"),
            ),
            (
                " def f(values):\n-    total = 0\n         total += value\n     return total\n",
                FILE.replace("    total = 0\n", ""),
            ),
            // One that the file does not have.
            (
                " def f(values):\n     \"\"\"Adds.\"\"\"\n     total = 0\n-    for value in values:\n+    for value in set(values):\n",
                FILE.replace("in values", "in set(values)"),
            ),
            // Two changes with a missing line between them.
            (
                "-def f(values):\n+def g(values):\n     total = 0\n         total += value\n-    return total\n+    return -total\n",
                FILE.replace("def f", "def g")
                    .replace("return ", "return -"),
            ),
            // Only added lines, between two that stand side by side once.
            (
                " def f(items):\n     total = 0\n+    count = 0\n     for value in values:\n         total += value\n",
                FILE.replace(" = 0\n", " = 0\n    count = 0\n"),
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(
                tried(FILE, body),
                ("M417".to_owned(), Some(expected)),
                "{body}"
            );
        }
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
            // The file has a line between what is replaced and what follows it.
            " def f(values):\n     total = 0\n-    for value in values:\n+    for value in set(values):\n     return total\n",
            // Only added lines, between lines that are not side by side.
            " def f(values):\n+    count = 0\n     for value in values:\n         total += value\n     return total\n",
        ] {
            assert_eq!(tried(FILE, body).1, None, "{body}");
        }
        // Behind a gap, what is added would fit in two places.
        let twice = format!("start = 0\nprint(start)\n{FILE}{FILE}");
        let body = "-start = 0\n+start = 1\n print(start)\n     total = 0\n     for value in values:\n+        check(value)\n         total += value\n";
        assert_eq!(tried(&twice, body).1, None);
        assert!(
            tried(&format!("start = 0\nprint(start)\n{FILE}"), body)
                .1
                .is_some()
        );
        let twice = format!("{FILE}{FILE}");
        let body = " def f(items):\n     total = 0\n-    for value in values:\n+    for value in set(values):\n";
        assert_eq!(tried(&twice, body).1, None);
    }
}
