//! Places a hunk whose indentation differs from the file by one rule.

use crate::patch::set::{HunkLine, LineKind, without_kind};
use crate::patch::text::Text;

/// Moves a hunk whose every old line is in the file from row `at` on with another indentation, when one
/// rule leads from its indentation to the file's; added lines follow.
///
/// That they have to is shown by removed lines, or by a block whose two sides begin alike. A new side that has
/// the indentation of the file already stays.
pub(super) fn reindent_lines<'a>(
    text: &Text<'_>,
    lines: &[HunkLine<'a>],
    old: &[&HunkLine<'a>],
    at: usize,
) -> Option<Vec<HunkLine<'a>>> {
    let pairs = old.iter().zip(at..).filter(|(line, _)| !line.is_blank());
    let pairs = pairs.map(|(line, row)| (find_indent(line.text()), find_indent(text.line(row))));
    let pairs: Vec<(&[u8], &[u8])> = pairs.collect();
    let (first, file) = *pairs.first()?;
    let is_one_to_one = pairs.iter().all(|one| {
        let mut others = pairs.iter();
        others.all(|other| (one.0 == other.0) == (one.1 == other.1))
    });
    let is_diff = lines.iter().any(|line| line.prefixed);
    let removes = lines.iter().any(|line| line.kind == LineKind::Remove && !line.is_blank());
    let new = without_kind(lines, LineKind::Remove).filter(|line| !line.is_blank());
    let new = new.map(|line| find_indent(line.text()));
    let opens_alike = new.clone().next().is_none_or(|indent| indent == first);
    let is_shown = if is_diff {
        // A diff without any indentation is not enough, since it does not show that of its new lines.
        removes && pairs.len() > 1 && lines.iter().any(HunkLine::is_indented)
    } else {
        opens_alike || pairs.len() > 1 && new.clone().next() == Some(file)
    };
    if !is_one_to_one || !is_shown {
        return None;
    }
    let moved = lines.iter().map(|line| {
        let stays = !is_diff && !opens_alike && line.kind == LineKind::Add;
        if line.is_blank() || stays {
            return Some(line.clone());
        }
        let before = find_indent(line.text());
        let rest = line.text().get(before.len()..).unwrap_or_default();
        Some(line.with_text([&moved_indent(&pairs, before)?, rest].concat()))
    });
    moved.collect()
}

/// Returns the indentation of the file for one of the patch: that of a known line, or as much more or less as
/// all known lines have.
fn moved_indent(pairs: &[(&[u8], &[u8])], indent: &[u8]) -> Option<Vec<u8>> {
    if let Some((_, file)) = pairs.iter().find(|(patch, _)| *patch == indent) {
        return Some(file.to_vec());
    }
    let (patch, file) = pairs.first()?;
    if let Some(more) = file.strip_suffix(*patch) {
        let is_all = pairs.iter().all(|(patch, file)| file.strip_suffix(*patch) == Some(more));
        // Tabs and spaces do not add up.
        let mut letters = indent.iter().chain(more);
        let is_one_kind = letters.all(|byte| Some(byte) == more.first());
        return (is_all && is_one_kind).then(|| [more, indent].concat());
    }
    let less = patch.strip_suffix(*file)?;
    let is_all = pairs.iter().all(|(patch, file)| patch.strip_suffix(*file) == Some(less));
    indent.strip_prefix(less).filter(|_| is_all).map(<[u8]>::to_vec)
}

/// The blanks and tabs that a line begins with.
pub(super) fn find_indent(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !b" \t".contains(byte));
    line.get(..end.unwrap_or(line.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::patch::place::trial::expect;

    #[test]
    fn moves_added_lines_by_one_rule_alone() {
        let file = |indent: &str| format!("def f():\n{indent}first = 1\n{indent}next = 2\n");
        let hunk = |indent: &str, lines: &str| {
            format!(
                "@@ -2,2 +2,3 @@\n {indent}first = 1\n{}",
                lines.replace('>', indent)
            )
        };
        let add = "->next = 2\n+>if first:\n+>    next = 2\n";
        for (has, writes) in [("        ", "    "), ("    ", "        "), ("  ", "    ")] {
            let old = format!("{has}next = 2");
            let new = format!("{has}if first:\n{has}    next = 2");
            expect(&file(has), &hunk(writes, add), "M416", Some((&old, &new)));
        }
        // Tabs and spaces do not add up.
        expect(&file("\t"), &hunk("    ", add), "P401", None);
        // Nothing shows how new lines are meant: no removed line, no indentation, a single line.
        expect(
            &file("        "),
            &hunk("    ", " >next = 2\n+>more = 3\n"),
            "P401",
            None,
        );
        expect(
            &file("        "),
            &hunk("", "-next = 2\n+more = 3\n"),
            "P401",
            None,
        );
        let single = "@@ -3 +3 @@\n-    next = 2\n+    next = 3\n";
        expect(&file("        "), single, "P401", None);
        // Two indentations of the file for one of the patch, and one for two.
        let mixed = "def f():\n        first = 1\n            next = 2\n";
        expect(mixed, &hunk("    ", add), "P401", None);
        let other = "@@ -2,2 +2,2 @@\n     first = 1\n-        next = 2\n+        next = 3\n";
        expect(&file("      "), other, "P401", None);
    }
}
