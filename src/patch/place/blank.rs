use std::borrow::Cow;

use super::one::{Piece, Placed, firm, old_of};
use super::rule::{EXACT, MendNote};
use super::search::{Work, fits, places};
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

/// Leaves out blank context after the last line of the file, where models invent it.
pub(super) fn past_the_end<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = firm(hunk, hunk.loose_tail);
    let blank = lines
        .iter()
        .rev()
        .take_while(|line| is_blank_context(line) && !line.no_newline)
        .count();
    let core = old_of(lines.get(..lines.len() - blank)?);
    if blank == 0 || places(text, (0, text.len()), &core, &EXACT, work).len() != 1 {
        return None;
    }
    let (to, at) = (1..=blank).find_map(|drop| {
        let to = lines.len() - drop;
        let old = old_of(lines.get(..to)?);
        let at = text.len().checked_sub(old.len())?;
        fits(text, at, &old, &EXACT).then_some((to, at))
    })?;
    Some(Placed {
        lines: Cow::Borrowed(lines.get(..to)?),
        pieces: vec![Piece { at, from: 0, to }],
        mends: vec![MendNote::safe(
            "M414",
            "left out blank context lines after the end of the file",
        )],
    })
}

/// Takes the number of blank context lines from the file, where all other lines stand once.
///
/// Added lines keep the line they touch. Where none says on which side of the blank lines they go,
/// the number has to be right.
pub(super) fn other_blanks<'h, 'a>(
    text: &Text<'_>,
    hunk: &'h Hunk<'a>,
    work: &Work,
) -> Option<Placed<'h, 'a>> {
    let lines = firm(hunk, hunk.loose_tail);
    let solid: Vec<usize> = (0..lines.len())
        .filter(|index| {
            lines
                .get(*index)
                .is_some_and(|line| line.kind != LineKind::Add && !is_blank_context(line))
        })
        .collect();
    let removes_blank = lines
        .iter()
        .any(|line| line.kind == LineKind::Remove && is_blank(line.text()));
    if solid.len() < 2 || removes_blank || lines.iter().any(|line| line.no_newline) {
        return None;
    }
    let rows: Vec<usize> = (0..text.len())
        .filter(|row| !is_blank(text.line(*row)))
        .collect();
    let rows = only_match(text, lines, &solid, &rows, work)?;
    let (first, last) = (*solid.first()?, *solid.last()?);
    let (before, after) = (lines.get(..first)?, lines.get(last + 1..)?);
    // At the edges added lines have to touch a line that stands in the file.
    let mut from = match gap(before) {
        Gap::Blank => first,
        Gap::Below(blank) => blank,
        Gap::Added => 0,
        Gap::Above(_) | Gap::Between => return None,
    };
    let to = match gap(after) {
        Gap::Blank => last + 1,
        Gap::Above(added) => last + 1 + added,
        Gap::Added => lines.len(),
        Gap::Below(_) | Gap::Between => return None,
    };
    let mut at = *rows.first()?;
    let mut pieces = Vec::new();
    for (hunk_pair, file_pair) in solid.windows(2).zip(rows.windows(2)) {
        let (&[above, below], &[upper, lower]) = (hunk_pair, file_pair) else {
            return None;
        };
        let between = lines.get(above + 1..below)?;
        let stated = between
            .iter()
            .filter(|line| line.kind == LineKind::Context)
            .count();
        let there = lower - upper - 1;
        if stated == there {
            continue;
        }
        let removes = |index: usize| {
            let line = lines.get(index);
            line.is_some_and(|line| line.kind == LineKind::Remove)
        };
        let (end, start) = match gap(between) {
            Gap::Blank => (above + 1, below),
            // Added lines stand where the line they replace stood.
            Gap::Added if removes(above) && !removes(below) => (below, below),
            Gap::Added if removes(below) && !removes(above) => (above + 1, above + 1),
            Gap::Above(added) if there > 0 => (above + 1 + added, below),
            Gap::Below(blank) if there > 0 => (above + 1, above + 1 + blank),
            _ => return None,
        };
        pieces.push(Piece { at, from, to: end });
        (at, from) = (lower, start);
    }
    pieces.push(Piece { at, from, to });
    Some(Placed {
        lines: Cow::Borrowed(lines),
        pieces,
        mends: vec![MendNote::safe(
            "M415",
            "took the number of blank context lines from the file",
        )],
    })
}

// The rows of the file that hold the solid lines, when there is one way to choose them.
fn only_match(
    text: &Text<'_>,
    lines: &[HunkLine<'_>],
    solid: &[usize],
    rows: &[usize],
    work: &Work,
) -> Option<Vec<usize>> {
    let mut found = None;
    for window in rows.windows(solid.len()) {
        let mut compared = 0;
        let same = solid.iter().zip(window).all(|(index, row)| {
            compared += 1;
            lines
                .get(*index)
                .is_some_and(|line| EXACT.same(line, text.line(*row)))
        });
        if !work.spend(compared) || (same && found.is_some()) {
            return None;
        }
        if same {
            found = Some(window.to_vec());
        }
    }
    found
}

// What stands between two old lines that are not blank.
enum Gap {
    // Blank context or nothing.
    Blank,
    // Added lines alone.
    Added,
    // So many added lines, then blank context.
    Above(usize),
    // So many blank context lines, then added lines.
    Below(usize),
    // Added lines that touch blank lines on both sides.
    Between,
}

fn gap(lines: &[HunkLine<'_>]) -> Gap {
    let is_added = |line: &HunkLine<'_>| line.kind == LineKind::Add;
    let changes = lines
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if is_added(a) != is_added(b)))
        .count();
    let starts_added = lines.first().is_some_and(is_added);
    let leading = lines
        .iter()
        .take_while(|line| is_added(line) == starts_added)
        .count();
    match (changes, starts_added) {
        (0, false) => Gap::Blank,
        (0, true) => Gap::Added,
        (1, true) => Gap::Above(leading),
        (1, false) => Gap::Below(leading),
        _ => Gap::Between,
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn is_blank_context(line: &HunkLine<'_>) -> bool {
    line.kind == LineKind::Context && is_blank(line.text())
}

#[cfg(test)]
mod tests {
    use crate::patch::{JudgeOptions, judge};
    use crate::source::Memory;

    // The words of the verdict, and the file after it.
    fn tried(file: &str, body: &str) -> (String, Option<String>) {
        let patch = format!(
            "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n{body}--- a/g\n+++ b/g\n@@ -1 +1 @@\n-g\n+h\n"
        );
        let source = Memory::new([("f", file), ("g", "g\n")].map(|(path, text)| {
            (
                crate::model::RepoPath::new(path).unwrap(),
                text.as_bytes().to_vec(),
            )
        }));
        let judged = judge(patch.as_bytes(), &source, &JudgeOptions::default());
        let mut codes: Vec<String> = judged
            .verdict
            .mends
            .iter()
            .map(|mend| mend.code.to_string())
            .filter(|code| code.as_str() > "M413")
            .collect();
        codes.extend(judged.verdict.error_code.map(|code| code.to_string()));
        let after = judged
            .changes
            .iter()
            .find(|change| change.path.as_str() == "f");
        let after = after.and_then(|change| change.after.as_ref());
        (
            codes.join(" "),
            after.map(|state| String::from_utf8(state.bytes.to_vec()).unwrap()),
        )
    }

    #[test]
    fn blank_lines_after_the_end_are_left_out() {
        let file = "a\nb\nc\n";
        let (codes, after) = tried(file, " b\n-c\n+C\n \n \n");
        assert_eq!(
            (codes.as_str(), after.as_deref()),
            ("M414", Some("a\nb\nC\n"))
        );
    }

    #[test]
    fn the_file_says_how_many_blank_lines_there_are() {
        let file = "import a\n\n\nclass B:\n    x = 1\n\n    y = 2\n";
        for (body, expected) in [
            // One too few.
            (
                " import a\n \n class B:\n-    x = 1\n+    x = 3\n",
                file.replace("1", "3"),
            ),
            // One too many.
            (
                " import a\n \n \n \n class B:\n-    x = 1\n+    x = 3\n",
                file.replace("1", "3"),
            ),
            // None at all.
            (
                " class B:\n-    x = 1\n+    x = 3\n     y = 2\n",
                file.replace("1", "3"),
            ),
            // Added lines keep the line they touch.
            (
                " import a\n+import b\n \n class B:\n",
                file.replace("a\n", "a\nimport b\n"),
            ),
            (
                " import a\n \n+@c\n class B:\n",
                file.replace("class", "@c\nclass"),
            ),
        ] {
            let (codes, after) = tried(file, body);
            assert_eq!(
                (codes.as_str(), after.as_deref()),
                ("M415", Some(expected.as_str())),
                "{body}"
            );
        }
    }

    #[test]
    fn where_blank_lines_leave_a_choice_nothing_is_placed() {
        let file = "import a\n\n\nclass B:\n    x = 1\n\n    y = 2\n";
        for body in [
            // Before or after the blank lines.
            " import a\n+import b\n class B:\n",
            // Between blank lines, of which there are more.
            " import a\n \n+import b\n \n \n class B:\n",
            // A blank line is removed; which one?
            " import a\n \n \n-\n class B:\n     x = 1\n-    y = 2\n",
            // Another line differs too.
            " import b\n \n class B:\n-    x = 1\n",
        ] {
            let (codes, after) = tried(file, body);
            assert!(codes.starts_with("P4") && after.is_none(), "{body}{codes}");
        }
        let twice = "a\n\n\nb\nc\na\n\n\n\nb\nc\n";
        assert_eq!(tried(twice, " a\n \n-b\n+B\n c\n").1, None);
    }
}
