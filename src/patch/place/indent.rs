use std::collections::{HashMap, HashSet};

use super::placed::{Placed, old_of};
use super::rule::{INDENTED, MendNote};
use super::search::{Work, places};
use crate::model::Code;
use crate::patch::bodies::with_context;
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Places a hunk whose every old line stands in the file with another indentation, when one rule leads
/// from its indentation to the file's: an amount more or less, tabs for blanks, another unit.
///
/// Added lines follow the same rule. That they have to is shown by removed lines, by added lines that
/// would fit nowhere else between their neighbours, or by a block whose two sides begin alike.
pub(super) fn reindented<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = hunk.firm(hunk.loose_tail);
    let old = old_of(lines);
    let [at] = *places(text, &old, &INDENTED, work).as_slice() else {
        return None;
    };
    let pairs: Vec<(&[u8], &[u8])> = old
        .iter()
        .enumerate()
        .map(|(index, line)| (line.text(), text.line(at + index)))
        .filter(|(line, _)| !line.trim_ascii().is_empty())
        .map(|(line, file)| (indent(line), indent(file)))
        .collect();
    let respelling = Respelling::between(&pairs);
    let moved = match respelling {
        Some(respelling) => {
            let removes = old.iter().any(|line| line.kind == LineKind::Remove);
            let is_certain = removes || respelling.is_of_tabs();
            respelling.all(lines).filter(|_| is_certain)?
        }
        None => moved(lines, &pairs)?,
    };
    let mend = MendNote::lossy(
        Code::M416,
        "moved the whole hunk to the indentation of the file",
    );
    let mut placed = Placed::whole(moved, at, vec![mend]);
    placed.respelling = respelling;
    Some(placed)
}

// One unit of indentation for another: how many blanks each has, a tab being none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Respelling {
    patch: usize,
    file: usize,
}

const UNITS: [usize; 6] = [0, 2, 4, 8, 3, 1];

impl Respelling {
    // The one rule for all pairs, two of which differ where it is one of blanks alone: a single amount
    // may be a shift.
    fn between(pairs: &[(&[u8], &[u8])]) -> Option<Self> {
        let depths = pairs
            .iter()
            .any(|(patch, _)| patch.len() != pairs[0].0.len());
        let mut rules = Self::all_rules().filter(|rule| {
            (rule.is_of_tabs() || depths)
                && pairs.iter().any(|(patch, file)| patch != file)
                && pairs
                    .iter()
                    .all(|(patch, file)| rule.of(patch).as_deref() == Some(*file))
        });
        rules.next()
    }

    fn all_rules() -> impl Iterator<Item = Self> {
        let pairs = UNITS
            .into_iter()
            .flat_map(|patch| UNITS.map(|file| Self { patch, file }));
        pairs.filter(|rule| rule.patch != rule.file)
    }

    fn is_of_tabs(self) -> bool {
        self.patch == 0 || self.file == 0
    }

    fn of(self, indent: &[u8]) -> Option<Vec<u8>> {
        let mark = if self.patch == 0 { b'\t' } else { b' ' };
        let width = self.patch.max(1);
        let fits = indent.iter().all(|it| *it == mark) && indent.len().is_multiple_of(width);
        let depth = indent.len() / width;
        fits.then(|| match self.file {
            0 => vec![b'\t'; depth],
            unit => vec![b' '; unit * depth],
        })
    }

    // Added lines alone; `None` where none is indented, or one by another unit.
    fn added<'a>(self, lines: &[HunkLine<'a>]) -> Option<Vec<HunkLine<'a>>> {
        let is_added = |line: &HunkLine<'_>| line.kind == LineKind::Add;
        let mut added = lines.iter().filter(|it| is_added(it) && !is_blank(it));
        let any = added.any(|it| !indent(it.text()).is_empty());
        self.respelled(lines, is_added).filter(|_| any)
    }

    // Lines that are added in the file's own kind stay; all of them are of one kind.
    fn all<'a>(self, lines: &[HunkLine<'a>]) -> Option<Vec<HunkLine<'a>>> {
        let (own, other) = if self.file == 0 {
            (b'\t', b' ')
        } else {
            (b' ', b'\t')
        };
        let added = lines.iter().filter(|it| it.kind == LineKind::Add);
        let indents = added
            .map(|it| indent(it.text()))
            .filter(|it| !it.is_empty());
        let mut indents = indents.peekable();
        let stays = self.is_of_tabs()
            && indents.peek().is_some()
            && indents.all(|it| it.contains(&own) && !it.contains(&other));
        self.respelled(lines, |line| !stays || line.kind != LineKind::Add)
    }

    fn respelled<'a>(
        self,
        lines: &[HunkLine<'a>],
        which: impl Fn(&HunkLine<'_>) -> bool,
    ) -> Option<Vec<HunkLine<'a>>> {
        let lines = lines.iter().map(|line| {
            if is_blank(line) || !which(line) {
                return Some(line.clone());
            }
            let before = indent(line.text());
            let rest = line.text().get(before.len()..).unwrap_or_default();
            Some(line.with_text([&self.of(before)?, rest].concat()))
        });
        lines.collect()
    }
}

fn is_blank(line: &HunkLine<'_>) -> bool {
    line.text().trim_ascii().is_empty()
}

/// What one hunk shows of indentation holds for the others of its file: another unit, and tabs or blanks
/// where the file has only the other kind and one unit lets each run of added lines begin at the depth of a
/// line beside it.
pub(super) fn indent_alike(text: &Text<'_>, hunks: &mut [&mut Placed<'_, '_>], work: &Work) {
    let shown = hunks.iter().find_map(|it| it.respelling);
    let tells = |placed: &Placed<'_, '_>| {
        let mut old = placed.lines.iter().filter(|it| it.kind != LineKind::Add);
        placed.respelling.is_some() || old.any(|it| Kind::of(it.text()).is_some())
    };
    let rule = shown.or_else(|| to_own_kind(text, hunks, work));
    let Some(rule) = rule else { return };
    for placed in hunks {
        if shown.is_some() && tells(placed) {
            continue;
        }
        if let Some(lines) = rule.added(&placed.lines) {
            placed.lines = lines.into();
            placed.mends.push(MendNote::lossy(
                Code::M416,
                "gave added lines the indentation of the file",
            ));
        }
    }
}

// The only rule from the kind that added lines are indented with to that of the file.
fn to_own_kind(text: &Text<'_>, hunks: &[&mut Placed<'_, '_>], work: &Work) -> Option<Respelling> {
    let lines: Vec<_> = hunks.iter().flat_map(|it| it.lines.iter()).collect();
    let (kind, _) = foreign_kind(text, &lines).filter(|_| work.afford(text.len() as u64))?;
    let ways = Respelling::all_rules().filter(|rule| match kind {
        Kind::Tabs => rule.patch == 0,
        Kind::Blanks => rule.file == 0,
    });
    let mut ways = ways.filter(|rule| {
        let sits = |placed: &&mut Placed<'_, '_>| match rule.added(&placed.lines) {
            Some(lines) => sits(&lines, rule.file.max(1)),
            None => !placed
                .lines
                .iter()
                .any(|it| it.kind == LineKind::Add && Kind::of(it.text()).is_some()),
        };
        hunks.iter().all(sits)
    });
    ways.next().filter(|_| ways.next().is_none())
}

/// The kind that added lines are indented with where a file has the other alone, and the first of them. What
/// removed lines or other added ones contradict is the text's own.
pub(in crate::patch) fn foreign_kind<'l, 'a>(
    text: &Text<'_>,
    lines: &[&'l HunkLine<'a>],
) -> Option<(Kind, &'l HunkLine<'a>)> {
    let of = |added: bool| {
        let lines = lines
            .iter()
            .filter(move |it| (it.kind == LineKind::Add) == added);
        lines.filter_map(|it| Some((Kind::of(it.text())?, *it)))
    };
    let first = of(true).next()?;
    let own = of(true).all(|it| it.0 == first.0) && of(false).all(|it| it.0 != first.0);
    (own && !rewrites(lines) && first.0.is_foreign_to(text)).then_some(first)
}

// Whether lines are there to be indented anew: one that is removed is added with the other kind.
fn rewrites(lines: &[&HunkLine<'_>]) -> bool {
    let of = |kind: LineKind| {
        let lines = lines.iter().filter(move |it| it.kind == kind);
        lines.filter_map(|it| Some((it.text().trim_ascii(), Kind::of(it.text())?)))
    };
    let removed: HashMap<&[u8], Kind> = of(LineKind::Remove).collect();
    of(LineKind::Add).any(|(text, kind)| removed.get(text).is_some_and(|it| *it != kind))
}

/// What a line is indented with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) enum Kind {
    Tabs,
    Blanks,
}

impl Kind {
    // `None` for a line at the margin, and for the one blank before the star of a comment.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        match line {
            [b'\t', ..] => Some(Self::Tabs),
            [b' ', b' ', ..] => Some(Self::Blanks),
            _ => None,
        }
    }

    // Whether a file is indented, and never so.
    fn is_foreign_to(self, text: &Text<'_>) -> bool {
        let kinds = || (0..text.len()).filter_map(|row| Kind::of(text.line(row)));
        kinds().take(ENOUGH).count() == ENOUGH && kinds().all(|it| it != self)
    }
}

// Lines that show how a file is indented.
const ENOUGH: usize = 2;

// Whether each run of added lines begins as deep as a line beside it, or a unit deeper than one that opens
// a block, and the blocks that are added are a unit deeper than what opens them.
fn sits(lines: &[HunkLine<'_>], unit: usize) -> bool {
    let is_solid = |line: &&HunkLine<'_>| line.kind != LineKind::Remove && !is_blank(line);
    let solid: Vec<&HunkLine<'_>> = lines.iter().filter(is_solid).collect();
    let depth = |line: &HunkLine<'_>| indent(line.text()).len();
    let runs: Vec<_> = solid
        .chunk_by(|a, b| (a.kind == LineKind::Add) == (b.kind == LineKind::Add))
        .collect();
    (0..runs.len()).all(|index| {
        let run = |at: usize| runs.get(at).copied().unwrap_or_default();
        let Some(first) = run(index).first().filter(|it| it.kind == LineKind::Add) else {
            return true;
        };
        let deeper = |a, b| depth(b) <= depth(a) || depth(b) == depth(a) + unit;
        let mut pairs = run(index).windows(2).filter(|it| opens(it[0]));
        let steps = pairs.all(|it| deeper(it[0], it[1]));
        let above = index.checked_sub(1).and_then(|it| run(it).last());
        let below = run(index + 1).first().filter(|it| !closes(it));
        let inside = above.is_some_and(|it| opens(it) && depth(first) == depth(it) + unit);
        let mut beside = above.filter(|it| !opens(it)).into_iter().chain(below);
        steps && (inside || beside.any(|it| depth(it) == depth(first)))
    })
}

// All lines by one amount more or less.
fn moved<'a>(lines: &[HunkLine<'a>], pairs: &[(&[u8], &[u8])]) -> Option<Vec<HunkLine<'a>>> {
    let block = !lines.iter().any(|line| line.prefixed);
    let (opens, begins) = (opens_alike(lines), new_indent(lines));
    let (line, file) = pairs
        .first()
        .filter(|_| (block && opens) || pairs.len() > 1)?;
    let shift = Shift::between(line, file)?;
    let (Shift::Deeper(by) | Shift::Shallower(by)) = shift;
    let removes = lines
        .iter()
        .any(|it| it.kind == LineKind::Remove && !is_blank(it));
    let uniform = pairs
        .iter()
        .all(|(line, file)| Shift::between(line, file) == Some(shift));
    // A new side with an indent of its own has that of the file, or another that nothing tells.
    let stays = block && !opens;
    if !uniform
        || !one_kind(lines, by)
        || !(block || removes || sits(lines, by.len()))
        || (stays && begins != Some(file))
    {
        return None;
    }
    let lines = lines.iter().map(|line| {
        let text = line.text();
        let text = match shift {
            _ if is_blank(line) || (stays && line.kind == LineKind::Add) => text.to_vec(),
            Shift::Deeper(by) => [by, text].concat(),
            Shift::Shallower(by) => text.strip_prefix(by)?.to_vec(),
        };
        Some(line.with_text(text))
    });
    lines.collect()
}

// Whether both sides begin at one depth.
fn opens_alike(lines: &[HunkLine<'_>]) -> bool {
    let mut old = lines.iter().filter(|line| line.kind != LineKind::Add);
    let old = old.find(|line| !is_blank(line));
    new_indent(lines).is_none_or(|new| old.is_some_and(|old| indent(old.text()) == new))
}

fn new_indent<'t>(lines: &'t [HunkLine<'_>]) -> Option<&'t [u8]> {
    let mut new = lines.iter().filter(|line| line.kind != LineKind::Remove);
    let first = new.find(|line| !is_blank(line));
    first.map(|line| indent(line.text()))
}

/// The lines of a block that stands in the file as it is and whose new side alone has lost an amount of
/// indentation: all that both sides share has lost it, beginning with the first line, and the file goes on
/// at the depth of the old side. A block that changes nothing else means to.
pub(super) fn indent_kept<'a>(
    text: &Text<'_>,
    placed: &Placed<'_, 'a>,
) -> Option<(Vec<HunkLine<'a>>, MendNote)> {
    let is_block = placed.mends.is_empty() && !placed.lines.iter().any(|line| line.prefixed);
    let side = |gone| placed.lines.iter().filter(move |line| line.kind != gone);
    let texts = |gone| side(gone).filter(|it| !is_blank(it)).map(HunkLine::text);
    let (old, new) = (
        texts(LineKind::Add).next()?,
        texts(LineKind::Remove).next()?,
    );
    let by = indent(old).strip_suffix(indent(new))?;
    if by.is_empty() || !is_block || old.trim_ascii() != new.trim_ascii() {
        return None;
    }
    let added: HashSet<&[u8]> = texts(LineKind::Add).collect();
    let words: HashSet<&[u8]> = added.iter().map(|it| it.trim_ascii()).collect();
    let deep = |line: &[u8]| [by, line].concat();
    let lost = |line: &[u8]| {
        let shared = words.contains(line.trim_ascii());
        shared && added.contains(&*deep(line)) || !shared && indent(line).len() >= indent(new).len()
    };
    let mut below = (placed.end()..text.len()).map(|row| text.line(row));
    let below = below.find(|line| !line.trim_ascii().is_empty())?;
    if indent(below).len() < indent(old).len() || !texts(LineKind::Remove).all(lost) {
        return None;
    }
    let as_kind = |kind, line: &HunkLine<'a>| HunkLine {
        kind,
        ..line.clone()
    };
    let deeper = |line: &HunkLine<'a>| {
        let by = if is_blank(line) { &[][..] } else { by };
        as_kind(LineKind::Add, &line.with_text([by, line.text()].concat()))
    };
    let removed = side(LineKind::Add).map(|it| as_kind(LineKind::Remove, it));
    let lines = with_context(
        removed.collect(),
        side(LineKind::Remove).map(deeper).collect(),
    );
    let mend = MendNote::lossy(Code::M416, "gave the new lines the indentation of the old");
    let changes = lines.iter().any(|line| line.kind != LineKind::Context);
    changes.then_some((lines, mend))
}

// What the file has more or less than the patch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift<'t> {
    Deeper(&'t [u8]),
    Shallower(&'t [u8]),
}

impl<'t> Shift<'t> {
    fn between(patch: &'t [u8], file: &'t [u8]) -> Option<Self> {
        if patch == file {
            None
        } else if let Some(by) = file.strip_suffix(patch) {
            Some(Self::Deeper(by))
        } else {
            patch.strip_suffix(file).map(Self::Shallower)
        }
    }
}

/// The blanks and tabs that a line begins with.
pub(in crate::patch) fn indent(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t'))
        .unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

// Tabs and spaces do not add up.
fn one_kind(lines: &[HunkLine<'_>], by: &[u8]) -> bool {
    let mut all = lines
        .iter()
        .filter(|line| !is_blank(line))
        .flat_map(|line| indent(line.text()))
        .chain(by);
    let first = by.first();
    all.all(|byte| Some(byte) == first)
}

fn closes(line: &HunkLine<'_>) -> bool {
    let first = line.text().trim_ascii_start().first();
    matches!(first, Some(b'}' | b')' | b']'))
}

fn opens(line: &HunkLine<'_>) -> bool {
    let end = line.text().trim_ascii_end().last();
    matches!(end, Some(b':' | b'{' | b'(' | b'[' | b',' | b'\\'))
}

#[cfg(test)]
mod tests {
    use crate::model::RepoPath;
    use crate::patch::{JudgeOptions, judge};
    use crate::source::Memory;

    // The file after a hunk for it, or the code of the refusal.
    fn tried(file: &str, body: &str) -> Result<String, String> {
        let patch = format!(
            "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n{body}--- a/g\n+++ b/g\n@@ -1 +1 @@\n-g\n+h\n"
        );
        let source = Memory::new(
            [("f", file), ("g", "g\n")]
                .map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec())),
        );
        let judged = judge(patch.as_bytes(), &source, &JudgeOptions::default());
        if let Some(code) = judged.verdict.error_code {
            return Err(code.to_string());
        }
        let codes: Vec<_> = judged
            .verdict
            .mends
            .iter()
            .map(|mend| mend.code.to_string())
            .collect();
        assert!(codes.contains(&"M416".to_owned()), "{body}{codes:?}");
        let change = judged
            .changes
            .iter()
            .find(|change| change.path.as_str() == "f")
            .unwrap();
        let bytes = change.after.as_ref().unwrap().bytes.to_vec();
        Ok(String::from_utf8(bytes).unwrap())
    }

    const FILE: &str =
        "class A:\n    def f(self):\n        a = 1\n        b = 2\n\n        return a\n";

    #[test]
    fn one_amount_moves_every_line() {
        let body =
            " def f(self):\n     a = 1\n-    b = 2\n+    if a:\n+        b = 3\n \n     return a\n";
        let after = FILE.replace("        b = 2\n", "        if a:\n            b = 3\n");
        assert_eq!(tried(FILE, body), Ok(after.clone()));
        let deeper: String = body
            .lines()
            .map(|line| match line.split_at(1) {
                (mark, "") => format!("{mark}\n"),
                (mark, text) => format!("{mark}        {text}\n"),
            })
            .collect();
        assert_eq!(tried(FILE, &deeper), Ok(after));
    }

    #[test]
    fn a_block_between_lines_of_its_depth_moves() {
        let after = FILE.replace("        b", "        if a:\n            c = 3\n\n        b");
        assert_eq!(
            tried(
                FILE,
                "     a = 1\n+    if a:\n+        c = 3\n+\n     b = 2\n"
            ),
            Ok(after)
        );
        let after = FILE.replace("        a", "        if a:\n            c = 3\n        a");
        let body = " def f(self):\n+    if a:\n+        c = 3\n     a = 1\n";
        assert_eq!(tried(FILE, body), Ok(after));
    }

    #[test]
    fn lines_that_are_only_added_need_neighbours_of_their_depth() {
        let after = FILE.replace("        b", "        c = 3\n        b");
        assert_eq!(
            tried(FILE, "     a = 1\n+    c = 3\n     b = 2\n"),
            Ok(after)
        );
        let below = FILE.replace("        b = 2\n", "        b = 2\n        c = 3\n");
        assert_eq!(
            tried(FILE, "     a = 1\n     b = 2\n+    c = 3\n"),
            Ok(below)
        );
        for body in [
            // It may stand at the depth it has.
            "     a = 1\n+        c = 3\n     b = 2\n",
            " def f(self):\n+c = 3\n     a = 1\n",
        ] {
            assert!(tried(FILE, body).is_err(), "{body}");
        }
    }

    #[test]
    fn nothing_is_moved_by_several_amounts_or_to_several_places() {
        for body in [
            "     a = 1\n-b = 2\n+b = 3\n",
            "-    b = 2\n+    b = 3\n",
            "\t-a = 1\n",
            "     a = 1\n-    b = 2\n+\tb = 3\n",
        ] {
            assert!(tried(FILE, body).is_err(), "{body}");
        }
        let twice = format!("{FILE}{FILE}");
        assert!(tried(&twice, "     a = 1\n-    b = 2\n+    b = 3\n").is_err());
    }
}
