use super::placed::{MendNote, Placed};
use crate::model::Code;
use crate::patch::set::{HunkLine, LineKind};
use crate::patch::text::Text;

/// Moves a hunk whose every old line stands in the file from row `at` on with another indentation, when
/// one rule leads from its indentation to the file's: an amount more or less, tabs for blanks, another
/// unit.
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
    let rule = IndentRule::between(&pairs)?;
    let is_block = !is_diff;
    let removes = old
        .iter()
        .any(|line| line.kind == LineKind::Remove && !line.is_blank());
    let opens = opens_alike(lines);
    // A new side with an indent of its own has that of the file, or another that nothing tells.
    let stays = is_block && !opens;
    let shows = pairs.len() > 1 || is_block && opens || rule.is_of_tabs();
    if !shows || !(is_block || removes) || stays && new_indent(lines) != Some(pairs.first()?.1) {
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

// What leads from the indentation of the patch to that of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum IndentRule {
    Deeper(Vec<u8>),
    Shallower(Vec<u8>),
    // One unit for another: how many blanks each has, a tab being none.
    Units { patch: usize, file: usize },
}

// Units in use, the most common first.
const UNITS: [usize; 6] = [0, 2, 4, 8, 3, 1];

impl IndentRule {
    // The first rule that leads from one side of all pairs to the other.
    fn between(pairs: &[(&[u8], &[u8])]) -> Option<Self> {
        let (patch, file) = pairs.first()?;
        let shift = if let Some(by) = file.strip_suffix(*patch) {
            Some(Self::Deeper(by.to_vec()))
        } else {
            patch
                .strip_suffix(*file)
                .map(|by| Self::Shallower(by.to_vec()))
        };
        // One depth alone may be a shift.
        let depths = pairs
            .iter()
            .any(|(patch, _)| patch.len() != pairs[0].0.len());
        let units = UNITS
            .into_iter()
            .flat_map(|patch| UNITS.map(|file| Self::Units { patch, file }));
        let units = units.filter(|rule| depths || rule.is_of_tabs());
        let differs = pairs.iter().any(|(patch, file)| patch != file);
        let fits = |rule: &Self| {
            let mut pairs = pairs.iter();
            pairs.all(|(patch, file)| rule.apply(patch).as_deref() == Some(*file))
        };
        units.chain(shift).find(|rule| differs && fits(rule))
    }

    fn is_of_tabs(&self) -> bool {
        matches!(self, Self::Units { patch, file } if (*patch == 0) != (*file == 0))
    }

    fn apply(&self, indent: &[u8]) -> Option<Vec<u8>> {
        match self {
            // Tabs and spaces do not add up.
            Self::Deeper(by) => {
                let one_kind = indent.iter().chain(by).all(|byte| Some(byte) == by.first());
                one_kind.then(|| [by, indent].concat())
            }
            Self::Shallower(by) => Some(indent.strip_prefix(by.as_slice())?.to_vec()),
            Self::Units { patch, file } => {
                let mark = if *patch == 0 { b'\t' } else { b' ' };
                let width = (*patch).max(1);
                let fits =
                    indent.iter().all(|it| *it == mark) && indent.len().is_multiple_of(width);
                let depth = indent.len() / width;
                fits.then(|| match file {
                    0 => vec![b'\t'; depth],
                    unit => vec![b' '; unit * depth],
                })
            }
        }
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
