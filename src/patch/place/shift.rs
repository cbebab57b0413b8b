use super::placed::{Placed, firm, old_of};
use super::rule::MendNote;
use super::search::Work;
use crate::model::Code;
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Moves a whole hunk to the indentation of the file, when one amount does it for every line.
///
/// Added lines are moved with the others. That they have to be is shown by removed lines, or by
/// added lines that would fit nowhere else between their neighbours.
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
    let [(line, file), _, ..] = pairs.as_slice() else {
        return None;
    };
    let shift = Shift::between(indent(line), indent(file))?;
    let uniform = pairs
        .iter()
        .all(|(line, file)| Shift::between(indent(line), indent(file)) == Some(shift));
    if !uniform || !one_kind(lines, shift) || !moves_added(lines, shift) {
        return None;
    }
    let mut moved = Vec::with_capacity(lines.len());
    for line in lines {
        let text = line.text();
        let text = match shift {
            _ if text.trim_ascii().is_empty() => text.to_vec(),
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
