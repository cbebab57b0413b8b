use std::collections::HashSet;

use tree_sitter::{Node, Tree};

use super::facts::Code;
use super::literal::{end_line_of, line_of, next};
use super::query::get;
use crate::model::RepoPath;

/// Bodies shorter than this many lines stay: the mark in their place would save nothing.
const MIN_BODY_LINES: u32 = 3;

/// The lines that show what a file declares: all but the inner lines of function bodies, as 1-based
/// inclusive ranges.
///
/// Empty for a file in no known language, and for one that cannot be parsed. Of an oversized file
/// only the head is looked at.
#[must_use]
pub fn skeleton(path: &RepoPath, bytes: &[u8]) -> Vec<[u32; 2]> {
    let Some(code) = Code::read(path, bytes) else {
        return Vec::new();
    };
    let Some(tree) = code.tree() else {
        return Vec::new();
    };
    let head = code.head();
    let newlines = memchr::memchr_iter(b'\n', head).count() as u32;
    let lines = newlines + u32::from(!head.is_empty() && !head.ends_with(b"\n"));
    let mut kept = Vec::new();
    let mut next = 1;
    for [from, to] in bodies(&tree, &code) {
        if from > next {
            kept.push([next, from - 1]);
        }
        next = next.max(to + 1);
    }
    if next <= lines {
        kept.push([next, lines]);
    }
    kept
}

// The inner lines of the outermost function bodies, in order; a body's own first and last lines
// stay where they hold the signature and the closing bracket.
fn bodies(tree: &Tree, code: &Code<'_>) -> Vec<[u32; 2]> {
    let mut found: Vec<[u32; 2]> = Vec::new();
    let mut hidden: HashSet<usize> = HashSet::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let inner = hidden.remove(&node.id()).then(|| inner_lines(node));
        match inner {
            Some([from, to]) => {
                if to + 1 >= from + MIN_BODY_LINES && found.last().is_none_or(|it| it[1] < from) {
                    found.push([from, to]);
                }
            }
            None => code.language.outline.at(node, code.head(), |_, one| {
                hidden.extend(get(one, "hidden").map(|it| it.id()));
            }),
        }
        if !next(&mut cursor, inner.is_none(), &mut Vec::new(), ()) {
            return found;
        }
    }
}

fn inner_lines(body: Node<'_>) -> [u32; 2] {
    let (from, to) = (line_of(body), end_line_of(body));
    if body.kind() == "block" {
        // Python's starts on a line of its own, or else is one line long.
        let signature = body.prev_sibling().map_or(from, end_line_of);
        // It ends with its last statement, which may end at the start of a line.
        let to = if body.end_position().column == 0 {
            to - 1
        } else {
            to
        };
        [from.max(signature + 1), to]
    } else {
        [from + 1, to.saturating_sub(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::skeleton;
    use crate::model::RepoPath;

    fn kept(path: &str, text: &str) -> String {
        let ranges = skeleton(&RepoPath::new(path).unwrap(), text.as_bytes());
        (1..)
            .zip(text.lines())
            .filter(|(number, _)| {
                ranges
                    .iter()
                    .any(|[from, to]| (*from..=*to).contains(number))
            })
            .map(|(_, line)| format!("{line}\n"))
            .collect()
    }

    #[test]
    fn script_keeps_signatures_and_types() {
        let text = "import a from 'a';\nexport interface A {\n  b: string;\n}\n\
            export function f(\n  a: A,\n): void {\n  one();\n  two();\n  three();\n}\n\
            class C {\n  m(): number {\n    const x = () => {\n      1;\n    };\n    return 2;\n  }\n  n = 1;\n}\n\
            const g = async () => {\n  1;\n  2;\n  3;\n};\nconst h = () => {\n  1;\n};\n";
        let expected = "import a from 'a';\nexport interface A {\n  b: string;\n}\n\
            export function f(\n  a: A,\n): void {\n}\n\
            class C {\n  m(): number {\n  }\n  n = 1;\n}\n\
            const g = async () => {\n};\nconst h = () => {\n  1;\n};\n";
        for path in ["a.ts", "a.tsx", "a.js"] {
            let (text, expected) = if path == "a.js" {
                (
                    "function f() {\n  1;\n  2;\n  3;\n}\n",
                    "function f() {\n}\n",
                )
            } else {
                (text, expected)
            };
            assert_eq!(kept(path, text), expected, "{path}");
        }
    }

    #[test]
    fn python_keeps_signatures_and_fields() {
        let text = "import a\n\nclass C(Base):\n    \"\"\"Doc.\"\"\"\n    x: int = 1\n\n    @property\n    \
            def m(\n        self,\n    ) -> int:\n        \"\"\"Doc.\"\"\"\n        a = 1\n        return a\n\n\
            def f(): return 1\n\ndef g():\n    pass\n";
        let expected = "import a\n\nclass C(Base):\n    \"\"\"Doc.\"\"\"\n    x: int = 1\n\n    @property\n    \
            def m(\n        self,\n    ) -> int:\n\n\
            def f(): return 1\n\ndef g():\n    pass\n";
        assert_eq!(kept("a.py", text), expected);
    }

    #[test]
    fn hostile_files_do_no_harm() {
        assert!(skeleton(&RepoPath::new("a.rs").unwrap(), b"fn a() {}").is_empty());
        for text in [
            "",
            "\n",
            "def",
            "function f() {",
            "((((((((",
            "\0",
            "def f():\n  x\n  y\n  z",
        ] {
            for path in ["a.ts", "a.py", "a.vue"] {
                kept(path, text);
            }
        }
        let deep = "function f() {".repeat(20_000);
        kept("a.ts", &deep);
    }
}
