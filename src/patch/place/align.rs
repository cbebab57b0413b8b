use std::borrow::Cow;
use std::collections::HashMap;

use super::hunk::Site;
use super::indent::reindent;
use super::placed::{MendNote, Piece, Placed, old_of, plain, trim_end};
use super::search::Work;
use crate::model::Code;
use crate::patch::set::{Hunk, HunkLine, LineKind};

/// Rows that an alignment may be off the place where it starts: lines missing or too many.
const BAND: usize = 5;
const WIDTH: usize = 2 * BAND + 1;
/// Starts that are aligned, those with the most lines first.
const MOST_STARTS: usize = 16;
/// A line with more rows in the file says nothing of the place.
const COMMON: usize = 64;
/// What a line that only one side has costs.
const GAP: u32 = 5;
const IMPOSSIBLE: u32 = u32::MAX / 2;
/// A line shorter than this may stand anywhere.
const TELLING: usize = 8;

/// How near a line of the file is to the line of the patch, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    Same,
    /// A context line lost the space that marks it.
    Mark,
    WhiteSpace,
    /// Typographic quotes, dashes and spaces of context stand for plain ones.
    Punctuation,
    Indent,
    /// Context made of the other line by a rename or a small change.
    Alike,
}

impl Likeness {
    fn cost(self) -> u32 {
        match self {
            Self::Same => 0,
            Self::Mark | Self::WhiteSpace | Self::Punctuation => 1,
            Self::Indent => 3,
            Self::Alike => GAP - 1,
        }
    }

    fn between(line: &HunkLine<'_>, file: &[u8], work: &Work) -> Option<Self> {
        let text = line.text();
        let is_context = line.kind == LineKind::Context;
        if text == file {
            Some(Self::Same)
        } else if trim_end(text) == trim_end(file) {
            Some(Self::WhiteSpace)
        } else if is_context && line.prefixed && trim_end(&line.line) == trim_end(file) {
            Some(Self::Mark)
        } else if is_context && plain(trim_end(text)) == plain(trim_end(file)) {
            Some(Self::Punctuation)
        } else if line.is_blank() {
            None
        } else if text.trim_ascii() == file.trim_ascii() {
            Some(Self::Indent)
        } else {
            (is_context && is_alike(text, file, work)).then_some(Self::Alike)
        }
    }

    /// The mend of a hunk whose lines are all as near as this or nearer.
    fn note(self) -> Option<MendNote> {
        let (code, message) = match self {
            Self::Mark => (Code::M303, "put back the space that marks context lines"),
            Self::WhiteSpace => (Code::M403, "took white space at line ends from the file"),
            Self::Punctuation => (
                Code::M403,
                "took quotes, dashes and spaces of context from the file",
            ),
            Self::Same | Self::Indent | Self::Alike => return None,
        };
        Some(MendNote::safe(code, message))
    }
}

fn is_alike(patch: &[u8], file: &[u8], work: &Work) -> bool {
    const LONGEST: usize = 400;
    const SHARED: f64 = 0.5;
    let (patch, file) = (patch.trim_ascii(), file.trim_ascii());
    let fits = patch.len() < LONGEST && file.len() < LONGEST;
    // Texts of such lengths cannot share half of their letters.
    let near = patch.len() * 2 >= file.len() && file.len() * 2 >= patch.len();
    fits && near && work.spend(Work::of_alike(patch.len(), file.len())) && {
        let (patch, file) = (
            String::from_utf8_lossy(patch),
            String::from_utf8_lossy(file),
        );
        strsim::normalized_levenshtein(&patch, &file) >= SHARED
    }
}

/// Aligns a hunk with the file where its lines do not stand byte for byte; several places that fit
/// equally well are returned as such.
pub(super) fn align<'h, 'a>(
    site: &Site<'_, '_>,
    hunk: &'h Hunk<'a>,
) -> Result<Option<Placed<'h, 'a>>, Vec<usize>> {
    let lines = hunk.firm(hunk.loose_tail);
    let old = old_of(lines);
    let starts = likely_starts(site, &old);
    let mut found: Vec<Alignment> = Vec::new();
    for start in starts {
        if !site.work.spend((old.len() * WIDTH) as u64) {
            return Ok(None);
        }
        let aligned = Alignment::at(site, &old, start);
        found.extend(aligned.filter(|new| found.iter().all(|one| one.rows != new.rows)));
    }
    found.sort_by_key(|alignment| alignment.cost);
    let stated = choose_stated(&found, hunk);
    let Some(best) = stated.or(found.first()) else {
        return Ok(None);
    };
    let class = best.class();
    let is_rival = |one: &&Alignment| one.kept(class) * 2 >= best.kept(class);
    let rivals = found
        .iter()
        .filter(|one| one.rows != best.rows)
        .filter(is_rival);
    let mut rivals: Vec<usize> = rivals.filter_map(Alignment::first_row).collect();
    if stated.is_none() && !rivals.is_empty() {
        if !best.is_contiguous() || class > Likeness::Punctuation {
            return Ok(None);
        }
        rivals.extend(best.first_row());
        rivals.sort_unstable();
        return Err(rivals);
    }
    // More old lines than the header counts and as many new ones: a line may have lost its `+`.
    let count = |gone: LineKind| lines.iter().filter(|line| line.kind != gone).count();
    let miscounted = hunk.old.zip(hunk.new).is_some_and(|((_, old), (_, new))| {
        (old as usize) < count(LineKind::Add) && new as usize == count(LineKind::Remove)
    });
    let around = Around {
        miscounted,
        ..Around::new(lines)
    };
    Ok(accept(site, lines, &around, best))
}

/// Finds the alignment at the line that a whole hunk states, where every word is the file's.
fn choose_stated<'f>(found: &'f [Alignment], hunk: &Hunk<'_>) -> Option<&'f Alignment> {
    let stated = hunk.old.filter(|_| hunk.counts_hold)?.0.checked_sub(1)? as usize;
    found.iter().find(|one| {
        let keeps_words = one.is_contiguous() && one.class() <= Likeness::WhiteSpace;
        keeps_words && one.first_row() == Some(stated)
    })
}

fn accept<'h, 'a>(
    site: &Site<'_, '_>,
    lines: &'h [HunkLine<'a>],
    around: &Around,
    best: &Alignment,
) -> Option<Placed<'h, 'a>> {
    let (old, at) = (old_of(lines), best.first_row()?);
    if best.is_contiguous() && best.class() <= Likeness::Punctuation {
        let notes = best.class().note().into_iter().collect();
        return Some(Placed::whole(lines, at, notes));
    }
    if best.is_contiguous() && best.class() == Likeness::Indent {
        let reindented = reindent(site.text, lines, &old, at);
        if reindented.is_some() {
            return reindented;
        }
    }
    // Where context is indented in another way, that of the new lines is not known.
    let mut added = lines.iter().filter(|line| line.kind == LineKind::Add);
    if best.has(Likeness::Indent) && added.any(HunkLine::is_indented) {
        return None;
    }
    let is_telling = best.holds(&old, around) && best.stands_once(site, &old, around);
    if !is_telling || best.lost_a_mark(site, &old, around) {
        return None;
    }
    Some(Placed {
        pieces: best.pieces(lines),
        lines: Cow::Borrowed(lines),
        mends: vec![MendNote::lossy(
            Code::M417,
            "took context that differs from the file, around lines that stand there once",
        )],
    })
}

/// Returns the rows where the old lines begin by most of those that the file has.
fn likely_starts(site: &Site<'_, '_>, old: &[&HunkLine<'_>]) -> Vec<usize> {
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in old.iter().enumerate().filter(|(_, line)| !line.is_blank()) {
        let rows = site.index.rows_of_words(site.text, line.text());
        if rows.len() <= COMMON && site.work.spend(rows.len() as u64) {
            for row in rows {
                *votes
                    .entry((*row as usize).saturating_sub(index))
                    .or_default() += 1;
            }
        }
    }
    let most = votes.values().max().copied().unwrap_or(0);
    let mut starts: Vec<(usize, usize)> = votes.into_iter().collect();
    starts.retain(|(_, votes)| votes * 2 >= most);
    starts.sort_by_key(|(start, votes)| (std::cmp::Reverse(*votes), *start));
    starts
        .into_iter()
        .take(MOST_STARTS)
        .map(|it| it.0)
        .collect()
}

/// The rows of the file that old lines stand for, one for each.
struct Alignment {
    rows: Vec<Option<(usize, Likeness)>>,
    cost: u32,
}

#[derive(Clone, Copy)]
enum Step {
    Match(Likeness),
    SkipOld,
    SkipFile,
}

impl Alignment {
    /// Finds the cheapest alignment with at most [`BAND`] rows between it and one that starts at `start`
    /// without gaps. Removed lines are never left out.
    fn at(site: &Site<'_, '_>, old: &[&HunkLine<'_>], start: usize) -> Option<Self> {
        let row = |index: usize, shift: usize| (start + index + shift).checked_sub(BAND);
        let in_file = |row: &usize| *row <= site.text.len();
        let mut costs = vec![[IMPOSSIBLE; WIDTH]; old.len() + 1];
        let mut steps = vec![[Step::SkipFile; WIDTH]; old.len() + 1];
        for (shift, cost) in costs[0].iter_mut().enumerate() {
            if row(0, shift).as_ref().is_some_and(in_file) {
                *cost = 0;
            }
        }
        for (index, line) in old.iter().enumerate() {
            for shift in 0..WIDTH {
                let before = costs[index][shift];
                if before >= IMPOSSIBLE {
                    continue;
                }
                let file = row(index, shift).filter(|row| *row < site.text.len());
                let likeness =
                    file.and_then(|row| Likeness::between(line, site.text.line(row), site.work));
                if let Some(likeness) = likeness
                    && before + likeness.cost() < costs[index + 1][shift]
                {
                    costs[index + 1][shift] = before + likeness.cost();
                    steps[index + 1][shift] = Step::Match(likeness);
                }
                if line.kind == LineKind::Context
                    && shift > 0
                    && before + GAP < costs[index + 1][shift - 1]
                {
                    costs[index + 1][shift - 1] = before + GAP;
                    steps[index + 1][shift - 1] = Step::SkipOld;
                }
            }
            for shift in 1..WIDTH {
                let skipped = costs[index + 1][shift - 1] + GAP;
                if skipped < costs[index + 1][shift] && index + 1 < old.len() {
                    costs[index + 1][shift] = skipped;
                    steps[index + 1][shift] = Step::SkipFile;
                }
            }
        }
        let last = costs[old.len()].iter().enumerate();
        let (mut shift, cost) = last.min_by_key(|(shift, cost)| (**cost, shift.abs_diff(BAND)))?;
        let cost = Some(*cost).filter(|cost| *cost < IMPOSSIBLE)?;
        let mut rows = vec![None; old.len()];
        let mut index = old.len();
        while index > 0 {
            match steps[index][shift] {
                Step::Match(likeness) => {
                    index -= 1;
                    rows[index] = Some((row(index, shift)?, likeness));
                }
                Step::SkipOld => {
                    index -= 1;
                    shift += 1;
                }
                Step::SkipFile => shift -= 1,
            }
        }
        Some(Self { rows, cost })
    }

    fn first_row(&self) -> Option<usize> {
        self.rows.iter().flatten().next().map(|(row, _)| *row)
    }

    fn is_contiguous(&self) -> bool {
        let rows: Option<Vec<usize>> = self.rows.iter().map(|it| Some((*it)?.0)).collect();
        rows.is_some_and(|rows| rows.windows(2).all(|pair| pair[0] + 1 == pair[1]))
    }

    /// The least likeness of its lines.
    fn class(&self) -> Likeness {
        let all = self.rows.iter().flatten().map(|(_, likeness)| *likeness);
        all.max().unwrap_or(Likeness::Same)
    }

    fn has(&self, class: Likeness) -> bool {
        let mut rows = self.rows.iter().flatten();
        rows.any(|(_, likeness)| *likeness == class)
    }

    fn kept(&self, class: Likeness) -> usize {
        let rows = self.rows.iter().flatten();
        rows.filter(|(_, likeness)| *likeness <= class).count()
    }

    /// The row of a line that is as the patch has it.
    fn exact_row(&self, index: usize) -> Option<usize> {
        let (row, likeness) = self.rows.get(index).copied().flatten()?;
        (likeness <= Likeness::Punctuation).then_some(row)
    }

    /// Whether enough of it holds: half of the context (two thirds where nothing is removed), every
    /// removed line, and each change beside a line that is as the patch has it, on both sides where it
    /// only adds.
    fn holds(&self, old: &[&HunkLine<'_>], around: &Around) -> bool {
        let removed = |index: usize| old.get(index).is_some_and(|it| it.kind == LineKind::Remove);
        let context = (0..old.len()).filter(|index| !removed(*index));
        let (mut all, mut kept) = (0, 0);
        for index in context {
            all += 1;
            kept += usize::from(self.exact_row(index).is_some());
        }
        let removes = all < old.len();
        let enough = if removes {
            kept * 2 >= all
        } else {
            kept * 3 >= all * 2
        };
        let adjoins = |upper: usize| {
            let pair = self.exact_row(upper).zip(self.exact_row(upper + 1));
            pair.is_some_and(|(one, two)| one + 1 == two)
        };
        // Lines of the file beside a change that the patch does not have: what is added may belong before
        // or behind them.
        let gap = |upper: usize| {
            let row = |index: usize| self.rows.get(index).copied().flatten();
            row(upper)
                .zip(row(upper + 1))
                .is_some_and(|(one, two)| one.0 + 1 != two.0)
        };
        let mut index = 0;
        let mut tells = false;
        while index <= old.len() {
            let end = index + (index..old.len()).take_while(|at| removed(*at)).count();
            let above = index.checked_sub(1);
            let adds = around.adds(index) || around.adds(end);
            if end > index {
                let lines = old.get(index..end).unwrap_or_default();
                tells |= lines
                    .iter()
                    .any(|line| line.text().trim_ascii().len() >= TELLING);
                let stands = (index..end).all(|at| self.exact_row(at).is_some())
                    && (index..end - 1).all(adjoins)
                    && !(adds && (above.is_some_and(gap) || gap(end - 1)))
                    && (above.is_some_and(adjoins) || !around.adds(index) && adjoins(end - 1));
                if !stands {
                    return false;
                }
            } else if around.adds(index) {
                let pair = above
                    .and_then(|above| old.get(above..=index))
                    .unwrap_or_default();
                tells |= !removes
                    && pair
                        .iter()
                        .any(|line| line.text().trim_ascii().len() >= TELLING);
                if !above.is_some_and(adjoins) {
                    return false;
                }
            }
            index = end.max(index) + 1;
        }
        enough && tells
    }

    /// Whether each run of lines with a change in it or beside it stands once in the file.
    fn stands_once(&self, site: &Site<'_, '_>, old: &[&HunkLine<'_>], around: &Around) -> bool {
        let row = |index: usize| self.rows.get(index).copied().flatten().map(|(row, _)| row);
        let goes_on = |index: usize| {
            index > 0 && row(index).is_some() && row(index - 1).map(|it| it + 1) == row(index)
        };
        let mut from = 0;
        while from < old.len() {
            let to = from + 1 + (from + 1..old.len()).take_while(|at| goes_on(*at)).count();
            let changes = (from..to).any(|at| old[at].kind == LineKind::Remove)
                || (from..=to).any(|at| around.adds(at));
            if changes && row(from).is_some() && places_of(site, &old[from..to]) > 1 {
                return false;
            }
            from = to;
        }
        true
    }

    /// Whether a line of context beside an added one stands nowhere in the file: it may be one whose
    /// `+` was lost.
    fn lost_a_mark(&self, site: &Site<'_, '_>, old: &[&HunkLine<'_>], around: &Around) -> bool {
        old.iter().enumerate().any(|(index, line)| {
            let beside = around.miscounted || around.adds(index) || around.adds(index + 1);
            let is_absent = self.rows.get(index).is_some_and(Option::is_none);
            beside
                && is_absent
                && !line.is_blank()
                && site.index.rows_of_words(site.text, line.text()).is_empty()
        })
    }

    /// Cuts the hunk into the lines that stand in the file side by side; the rest of its context is
    /// left out.
    fn pieces(&self, lines: &[HunkLine<'_>]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        // Where the open piece goes on in the file, and the lines from which a new one would begin.
        let mut next = None;
        let mut from: usize = 0;
        let mut old = 0;
        for (index, line) in lines.iter().enumerate() {
            if line.kind == LineKind::Add {
                continue;
            }
            let stands = self.rows.get(old).copied().flatten().map(|(row, _)| row);
            old += 1;
            if next.is_none() || stands != next {
                if let Some(piece) = pieces.last_mut().filter(|_| next.is_some()) {
                    // Lines added after removed ones stand in their place.
                    let above = from.checked_sub(1).and_then(|at| lines.get(at));
                    let replaces = above.is_some_and(|line| line.kind == LineKind::Remove);
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

// How often lines stand in the file side by side, whatever white space is around each.
fn places_of(site: &Site<'_, '_>, lines: &[&HunkLine<'_>]) -> usize {
    let stands = |row: usize| {
        let all = lines.iter().enumerate();
        row + lines.len() <= site.text.len()
            && all
                .map(|(at, line)| (line.text(), site.text.line(row + at)))
                .all(|(line, file)| line.trim_ascii() == file.trim_ascii())
    };
    let first = lines.first().map_or(&[][..], |line| line.text());
    let rows = site.index.rows_of_words(site.text, first);
    rows.iter().filter(|row| stands(**row as usize)).count()
}

/// Between which old lines some are added.
struct Around {
    added_before: Vec<bool>,
    miscounted: bool,
}

impl Around {
    fn new(lines: &[HunkLine<'_>]) -> Self {
        let mut around = Self {
            added_before: Vec::new(),
            miscounted: false,
        };
        let mut added = false;
        for line in lines {
            match line.kind {
                LineKind::Add => added = true,
                _ => around.added_before.push(std::mem::take(&mut added)),
            }
        }
        around.added_before.push(added);
        around
    }

    fn adds(&self, before: usize) -> bool {
        self.added_before.get(before) == Some(&true)
    }
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
