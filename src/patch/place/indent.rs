use super::placed::{MendNote, Placed};
use crate::model::Code;
use crate::patch::set::{HunkLine, LineKind};
use crate::patch::text::Text;

/// Moves a hunk whose every old line stands in the file from row `at` on with another indentation, when
/// one rule leads from its indentation to the file's: an amount more or less, or one indentation for
/// another.
///
/// Added lines follow the same rule. That they have to is shown by removed lines, or by a block whose
/// two sides begin alike.
pub(super) fn reindent<'h, 'a>(
    text: &Text<'_>,
    lines: &[HunkLine<'a>],
    old: &[&HunkLine<'a>],
    at: usize,
) -> Option<Placed<'h, 'a>> {
    let pairs: Vec<(&[u8], &[u8])> = old
        .iter()
        .enumerate()
        .map(|(index, line)| (line.text(), text.line(at + index)))
        .filter(|(line, file)| !line.trim_ascii().is_empty() && !file.is_empty())
        .map(|(line, file)| (indent(line), indent(file)))
        .collect();
    let has_indent = lines.iter().any(|line| !indent(line.text()).is_empty());
    let is_diff = lines.iter().any(|line| line.prefixed);
    // A diff without any indentation does not tell that of its new lines.
    if is_diff && !has_indent {
        return None;
    }
    let first = pairs.first()?.1;
    let is_alone = pairs.len() < 2;
    let rule = IndentRule::from_pairs(pairs)?;
    let is_block = !is_diff;
    let removes = old
        .iter()
        .any(|line| line.kind == LineKind::Remove && !line.is_blank());
    let opens = opens_alike(lines);
    // A new side with an indent of its own has that of the file, or another that nothing tells.
    let stays = is_block && !opens;
    let shows = !is_alone || is_block && opens;
    if !shows || !(is_block || removes) || stays && new_indent(lines) != Some(first) {
        return None;
    }
    let moved: Option<Vec<HunkLine<'a>>> = lines
        .iter()
        .map(|line| {
            if line.is_blank() || stays && line.kind == LineKind::Add {
                return Some(line.clone());
            }
            let before = indent(line.text());
            let rest = line.text().get(before.len()..).unwrap_or_default();
            Some(line.with_text([&rule.apply(before)?, rest].concat()))
        })
        .collect();
    let message = "moved the whole hunk to the indentation of the file";
    let mend = MendNote::lossy(Code::M416, message);
    Some(Placed::new(moved?, at, vec![mend]))
}

// Pairs of the indentation that a line has in the patch and in the file.
struct IndentRule<'l> {
    pairs: Vec<(&'l [u8], &'l [u8])>,
}

impl<'l> IndentRule<'l> {
    // Each indentation of the one stands for one of the other, and some differ.
    fn from_pairs(mut pairs: Vec<(&'l [u8], &'l [u8])>) -> Option<Self> {
        pairs.sort_unstable();
        pairs.dedup();
        let is_one_to_one = pairs.iter().all(|one| {
            let mut others = pairs.iter();
            others.all(|other| (one.0 == other.0) == (one.1 == other.1))
        });
        let differs = pairs.iter().any(|(patch, file)| patch != file);
        (is_one_to_one && differs).then_some(Self { pairs })
    }

    // The indentation of the file for one of the patch: that of a known line, or as much more or less as
    // all known lines have.
    fn apply(&self, indent: &[u8]) -> Option<Vec<u8>> {
        if let Some((_, file)) = self.pairs.iter().find(|(patch, _)| *patch == indent) {
            return Some(file.to_vec());
        }
        let (patch, file) = self.pairs.first()?;
        if let Some(more) = file.strip_suffix(*patch) {
            let mut pairs = self.pairs.iter();
            let fits = pairs.all(|(patch, file)| file.strip_suffix(*patch) == Some(more));
            // Tabs and spaces do not add up.
            let mut bytes = indent.iter().chain(more);
            let is_one_kind = bytes.all(|byte| Some(byte) == more.first());
            return (fits && is_one_kind).then(|| [more, indent].concat());
        }
        let less = patch.strip_suffix(*file)?;
        let mut pairs = self.pairs.iter();
        let fits = pairs.all(|(patch, file)| patch.strip_suffix(*file) == Some(less));
        let rest = indent.strip_prefix(less).filter(|_| fits)?;
        Some(rest.to_vec())
    }
}

// Whether both sides begin at one depth.
fn opens_alike(lines: &[HunkLine<'_>]) -> bool {
    let mut old = lines.iter().filter(|line| line.kind != LineKind::Add);
    let old = old.find(|line| !line.is_blank());
    new_indent(lines).is_none_or(|new| old.is_some_and(|old| indent(old.text()) == new))
}

fn new_indent<'t>(lines: &'t [HunkLine<'_>]) -> Option<&'t [u8]> {
    let mut new = lines.iter().filter(|line| line.kind != LineKind::Remove);
    let first = new.find(|line| !line.is_blank());
    first.map(|line| indent(line.text()))
}

/// The blanks and tabs that a line begins with.
fn indent(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t'))
        .unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
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
