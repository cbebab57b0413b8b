use crate::model::Code;
use std::borrow::Cow;

use super::placed::{Piece, Placed, firm};
use super::rule::{EXACT, MendNote};
use super::search::Work;
use crate::patch::set::{Hunk, HunkLine, LineKind};
use crate::patch::text::Text;

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
        Gap::Mixed(Mixed {
            head: 0,
            amid: None,
            foot,
            ..
        }) => first - foot,
        Gap::Added => 0,
        Gap::Mixed(_) | Gap::Several => return None,
    };
    let to = match gap(after) {
        Gap::Blank => last + 1,
        Gap::Mixed(Mixed {
            head,
            amid: None,
            foot: 0,
            ..
        }) => last + 1 + head,
        Gap::Added => lines.len(),
        Gap::Mixed(_) | Gap::Several => return None,
    };
    let mut at = *rows.first()?;
    let mut pieces = Vec::new();
    let mut mend = MendNote::safe(
        Code::M415,
        "took the number of blank context lines from the file",
    );
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
            Gap::Mixed(it) => {
                let (end, start) = (above + 1 + it.head, below - it.foot);
                match it.amid {
                    None if there > 0 => (end, start),
                    Some((added, tail)) if (2..stated).contains(&there) => {
                        let (lead_kept, tail_kept) = shared(it.blank, tail, there);
                        let to = end + lead_kept;
                        pieces.push(Piece { at, from, to });
                        (at, from) = (upper + 1 + lead_kept, end + it.blank);
                        mend = MendNote::lossy(
                            Code::M415,
                            "left out blank context lines around an added line; the file has fewer",
                        );
                        (from + added + tail_kept, start)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        pieces.push(Piece { at, from, to: end });
        (at, from) = (lower, start);
    }
    pieces.push(Piece { at, from, to });
    Some(Placed {
        lines: Cow::Borrowed(lines),
        pieces,
        mends: vec![mend],
    })
}

// How many of the blank lines of the file stand on either side of an added line: the longer side
// of the patch gives way, and neither side loses all.
fn shared(mut lead: usize, mut tail: usize, there: usize) -> (usize, usize) {
    let surplus = (lead + tail).saturating_sub(there);
    let even = lead.abs_diff(tail).min(surplus);
    if lead > tail {
        lead -= even;
    } else {
        tail -= even;
    }
    let rest = surplus - even;
    (lead - rest / 2, tail - rest.div_ceil(2))
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
    Mixed(Mixed),
    // Added lines in several places among blank lines.
    Several,
}

// Blank context, and added lines at its edges or at one place inside.
struct Mixed {
    // Added lines that touch the old line above.
    head: usize,
    // Blank lines that follow.
    blank: usize,
    // Added lines that touch blank lines on both sides, and the blank lines that follow.
    amid: Option<(usize, usize)>,
    // Added lines that touch the old line below.
    foot: usize,
}

fn gap(lines: &[HunkLine<'_>]) -> Gap {
    let is_added = |line: &HunkLine<'_>| line.kind == LineKind::Add;
    let mut runs: Vec<usize> = lines
        .chunk_by(|a, b| is_added(a) == is_added(b))
        .map(<[_]>::len)
        .collect();
    if runs.len() < 2 {
        return if lines.first().is_some_and(is_added) {
            Gap::Added
        } else {
            Gap::Blank
        };
    }
    let foot = if lines.last().is_some_and(is_added) {
        runs.pop()
    } else {
        None
    };
    let head = if lines.first().is_some_and(is_added) {
        runs.remove(0)
    } else {
        0
    };
    let (blank, amid) = match runs.as_slice() {
        [blank] => (*blank, None),
        [blank, added, tail] => (*blank, Some((*added, *tail))),
        _ => return Gap::Several,
    };
    Gap::Mixed(Mixed {
        head,
        blank,
        amid,
        foot: foot.unwrap_or(0),
    })
}

pub(super) fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

pub(super) fn is_blank_context(line: &HunkLine<'_>) -> bool {
    line.kind == LineKind::Context && is_blank(line.text())
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::tried;

    #[test]
    fn the_file_says_how_many_blank_lines_there_are() {
        let file = "import a\n\n\nclass B:\n    x = 1\n\n    y = 2\n";
        for (body, expected) in [
            // One too few.
            (
                " import a\n \n class B:\n-    x = 1\n+    x = 3\n",
                file.replace('1', "3"),
            ),
            // One too many.
            (
                " import a\n \n \n \n class B:\n-    x = 1\n+    x = 3\n",
                file.replace('1', "3"),
            ),
            // None at all.
            (
                " class B:\n-    x = 1\n+    x = 3\n     y = 2\n",
                file.replace('1', "3"),
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
    fn an_added_line_keeps_blank_lines_on_both_sides() {
        let file = "import a\n\n\nclass B:\n";
        for body in [
            " import a\n \n+import b\n \n \n class B:\n",
            " import a\n \n \n \n \n+import b\n \n class B:\n",
            " import a\n \n \n \n+import b\n \n \n \n class B:\n",
        ] {
            let (codes, after) = tried(file, body);
            assert_eq!(
                (codes.as_str(), after.as_deref()),
                ("M415", Some("import a\n\nimport b\n\nclass B:\n")),
                "{body}"
            );
        }
        let body = "-import a\n+import c\n \n+import b\n \n \n+@d\n class B:\n";
        assert_eq!(
            tried(file, body).1.as_deref(),
            Some("import c\n\nimport b\n\n@d\nclass B:\n")
        );
    }

    #[test]
    fn where_blank_lines_leave_a_choice_nothing_is_placed() {
        let file = "import a\n\n\nclass B:\n    x = 1\n\n    y = 2\n";
        for body in [
            // Before or after the blank lines.
            " import a\n+import b\n class B:\n",
            // In several places between blank lines, of which there are fewer.
            " import a\n \n+import b\n \n+import c\n \n class B:\n",
            // No blank line is left for one of two sides.
            "     x = 1\n \n+    z = 3\n \n     y = 2\n",
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
