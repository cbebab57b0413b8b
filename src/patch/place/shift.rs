use super::placed::{Placed, firm, old_of};
use super::rule::MendNote;
use super::search::Work;
use crate::model::Code;
use crate::patch::bodies::with_context;
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Moves a whole hunk to the indentation of the file, when one amount does it for every line.
///
/// Added lines are moved with the others. That they have to be is shown by removed lines, by added lines
/// that would fit nowhere else between their neighbours, or by a block whose two sides begin alike.
pub(super) fn shifted<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = firm(hunk, hunk.loose_tail);
    let old = old_of(lines);
    let mut found = None;
    for at in 0..=text.len().checked_sub(old.len())? {
        let mut compared = 0;
        let same = old.iter().enumerate().all(|(index, line)| {
            compared += 1;
            line.text().trim_ascii_start() == text.line(at + index).trim_ascii_start()
        });
        if !work.spend(compared) || (same && found.is_some()) {
            return None;
        }
        if same {
            found = Some(at);
        }
    }
    let at = found?;
    let pairs: Vec<(&[u8], &[u8])> = old
        .iter()
        .enumerate()
        .map(|(index, line)| (line.text(), text.line(at + index)))
        .filter(|(line, _)| !line.trim_ascii().is_empty())
        .collect();
    let block = !lines.iter().any(|line| line.prefixed);
    let (opens, begins) = (opens_alike(lines), new_indent(lines));
    let (line, file) = pairs
        .first()
        .filter(|_| (block && opens) || pairs.len() > 1)?;
    let shift = Shift::between(indent(line), indent(file))?;
    let uniform = pairs
        .iter()
        .all(|(line, file)| Shift::between(indent(line), indent(file)) == Some(shift));
    // A new side with an indent of its own has that of the file, or another that nothing tells.
    let stays = block && !opens;
    if !uniform
        || !one_kind(lines, shift)
        || !(block || moves_added(lines, shift))
        || (stays && begins != Some(indent(file)))
    {
        return None;
    }
    let mut moved = Vec::with_capacity(lines.len());
    for line in lines {
        let text = line.text();
        let text = match shift {
            _ if text.trim_ascii().is_empty() || (stays && line.kind == LineKind::Add) => {
                text.to_vec()
            }
            Shift::Deeper(by) => [by, text].concat(),
            Shift::Shallower(by) => text.strip_prefix(by)?.to_vec(),
        };
        moved.push(line.with_text(text));
    }
    let mend = MendNote::lossy(
        Code::M416,
        "moved the whole hunk to the indentation of the file",
    );
    Some(Placed::whole(moved, at, vec![mend]))
}

// Whether both sides begin at one depth.
fn opens_alike(lines: &[HunkLine<'_>]) -> bool {
    let mut old = lines.iter().filter(|line| line.kind != LineKind::Add);
    let old = old.find(|line| !line.text().trim_ascii().is_empty());
    new_indent(lines).is_none_or(|new| old.is_some_and(|old| indent(old.text()) == new))
}

fn new_indent<'t>(lines: &'t [HunkLine<'_>]) -> Option<&'t [u8]> {
    let mut new = lines.iter().filter(|line| line.kind != LineKind::Remove);
    let first = new.find(|line| !line.text().trim_ascii().is_empty());
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
    let solid = |line: &&HunkLine<'a>| !line.text().trim_ascii().is_empty();
    let side = |gone: LineKind| placed.lines.iter().filter(move |line| line.kind != gone);
    let old: Vec<&[u8]> = side(LineKind::Add)
        .filter(solid)
        .map(HunkLine::text)
        .collect();
    let new: Vec<&[u8]> = side(LineKind::Remove)
        .filter(solid)
        .map(HunkLine::text)
        .collect();
    let by = lost_indent(&old, &new).filter(|_| is_block)?;
    let mut below = (placed.end()..text.len()).map(|row| text.line(row));
    let below = below.find(|line| !line.trim_ascii().is_empty())?;
    if indent(below).len() < indent(old.first()?).len() {
        return None;
    }
    let deeper = |line: &HunkLine<'a>| {
        let kept = line.text().trim_ascii().is_empty();
        let text = if kept {
            line.text().to_vec()
        } else {
            [by, line.text()].concat()
        };
        HunkLine {
            kind: LineKind::Add,
            ..line.with_text(text)
        }
    };
    let removed = |line: &HunkLine<'a>| HunkLine {
        kind: LineKind::Remove,
        ..line.clone()
    };
    let old = side(LineKind::Add).map(removed).collect();
    let lines = with_context(old, side(LineKind::Remove).map(deeper).collect());
    let mend = MendNote::lossy(Code::M416, "gave the new lines the indentation of the old");
    let changes = lines.iter().any(|line| line.kind != LineKind::Context);
    changes.then_some((lines, mend))
}

// The amount by which every new line that is also an old one stands shallower, the first of both among them.
fn lost_indent<'t>(old: &[&'t [u8]], new: &[&[u8]]) -> Option<&'t [u8]> {
    let by = indent(old.first()?).strip_suffix(indent(new.first()?))?;
    let (first, plain) = (new.first()?.trim_ascii(), |line: &[u8]| {
        line.trim_ascii().to_vec()
    });
    let mut rest = old.iter();
    let uniform = new.iter().all(|line| {
        let mut ahead = rest.clone();
        match ahead.find(|it| plain(it) == plain(line)) {
            None => indent(line).len() >= indent(new.first().unwrap_or(line)).len(),
            Some(same) => {
                rest = ahead;
                indent(same).strip_suffix(indent(line)) == Some(by)
            }
        }
    });
    (!by.is_empty() && uniform && old.first()?.trim_ascii() == first).then_some(by)
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

fn indent(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t'))
        .unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

// Tabs and spaces do not add up.
fn one_kind(lines: &[HunkLine<'_>], shift: Shift<'_>) -> bool {
    let (Shift::Deeper(by) | Shift::Shallower(by)) = shift;
    let mut all = lines
        .iter()
        .filter(|line| !line.text().trim_ascii().is_empty())
        .flat_map(|line| indent(line.text()))
        .chain(by);
    let first = by.first();
    all.all(|byte| Some(byte) == first)
}

// Whether added lines have to move with the lines around them.
fn moves_added(lines: &[HunkLine<'_>], shift: Shift<'_>) -> bool {
    let solid: Vec<&HunkLine<'_>> = lines
        .iter()
        .filter(|line| !line.text().trim_ascii().is_empty())
        .collect();
    if solid.iter().any(|line| line.kind == LineKind::Remove) {
        return true;
    }
    let is_added = |line: &HunkLine<'_>| line.kind == LineKind::Add;
    let runs: Vec<&[&HunkLine<'_>]> = solid.chunk_by(|a, b| is_added(a) == is_added(b)).collect();
    (0..runs.len()).all(|index| {
        let run = |index: usize| runs.get(index).copied().unwrap_or_default();
        let added = run(index);
        let before = index.checked_sub(1).map_or(&[][..], run);
        !added.first().is_some_and(|line| is_added(line))
            || touches(before, added, run(index + 1), shift)
    })
}

// Unmoved, the added lines would be deeper than a line that opens no block, or leave a deeper line
// after them that no line opens.
fn touches(
    before: &[&HunkLine<'_>],
    added: &[&HunkLine<'_>],
    after: &[&HunkLine<'_>],
    shift: Shift<'_>,
) -> bool {
    let (Some(above), Some(first), Some(last), Some(below)) =
        (before.last(), added.first(), added.last(), after.first())
    else {
        return false;
    };
    let depth = |line: &HunkLine<'_>| indent(line.text()).len();
    let opens = |line: &HunkLine<'_>| {
        let end = line.text().trim_ascii_end().last();
        matches!(end, Some(b':' | b'{' | b'(' | b'[' | b',' | b'\\'))
    };
    match shift {
        Shift::Shallower(_) => depth(first) == depth(above) && !opens(above),
        Shift::Deeper(_) => {
            let level = depth(first) == depth(below) && depth(above) <= depth(below);
            let stays = depth(last) == depth(below) && !opens(last);
            // A whole block between two lines of its own depth.
            let block = depth(above) == depth(below)
                && !opens(above)
                && added.iter().all(|line| depth(line) >= depth(first));
            level && (stays || block)
        }
    }
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
        // Deeper lines may belong to the line above.
        assert!(
            tried(
                FILE,
                " def f(self):\n+    if a:\n+        c = 3\n     a = 1\n"
            )
            .is_err()
        );
    }

    #[test]
    fn lines_that_are_only_added_need_neighbours_of_their_depth() {
        let after = FILE.replace("        b", "        c = 3\n        b");
        assert_eq!(
            tried(FILE, "     a = 1\n+    c = 3\n     b = 2\n"),
            Ok(after)
        );
        for body in [
            // It may stand at the depth it has.
            "     a = 1\n+        c = 3\n     b = 2\n",
            " def f(self):\n+c = 3\n     a = 1\n",
            // Nothing below.
            "     a = 1\n     b = 2\n+    c = 3\n",
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
