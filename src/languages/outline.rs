//! Reads the definitions of a file, to show parts of it.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use tree_sitter::{Node, Tree};

use super::facts::Code;
use super::literal::{end_line_of, line_of, next, text_of};
use super::query::{Patterns, get};
use crate::model::RepoPath;

/// What a file is made of, for showing parts of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Functions, classes, methods, types and tests in source order, outer before inner.
    pub definitions: Vec<Definition>,
    /// 1-based lines on which a statement or a member begins, with its depth, in source order.
    pub statements: Vec<(u32, u32)>,
}

impl Outline {
    /// The innermost definition around a 1-based line, by its place in the outline.
    pub fn innermost(&self, line: u32) -> Option<usize> {
        self.definitions
            .iter()
            .rposition(|one| one.lines[0] <= line && line <= one.lines[1])
    }
}

/// A named part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name; for a test that is a call, its title.
    pub name: String,
    /// First and last line, 1-based, decorators and the comment above included.
    pub lines: [u32; 2],
    /// The last line of its signature.
    pub signature_end: u32,
    /// The place of the definition around it in the outline.
    pub parent: Option<usize>,
}

/// Reads the definitions of one file and where its statements begin.
///
/// Empty for a file in no known language, and for one that cannot be parsed. Of an oversized file
/// only the head is looked at.
pub fn outline(path: &RepoPath, bytes: &[u8]) -> Outline {
    let code = Code::read(path, bytes);
    code.and_then(|code| Some(read(&code.tree()?, code.head(), &code.language.outline)))
        .unwrap_or_default()
}

// What is known of a definition before the walk comes to it.
struct Defined<'t> {
    name: Node<'t>,
    body: Option<Node<'t>>,
    titled: bool,
}

fn read(tree: &Tree, text: &[u8], query: &Patterns) -> Outline {
    let mut outline = Outline::default();
    // The definitions around the node at hand, with the depth at which each was found.
    let mut around: Vec<(usize, usize)> = Vec::new();
    // Whether each of the nodes around it holds statements.
    let mut above: Vec<bool> = Vec::new();
    let mut defined: HashMap<usize, Defined<'_>> = HashMap::new();
    let mut named: HashSet<usize> = HashSet::new();
    let mut cursor = tree.walk();
    // Where the comment above a definition begins, when one ends on the line before it.
    let mut comment: Option<[u32; 2]> = None;
    loop {
        let node = cursor.node();
        let depth = above.len();
        while around.last().is_some_and(|(at, _)| *at >= depth) {
            around.pop();
        }
        if node.kind() == "comment" {
            let lines = [line_of(node), end_line_of(node)];
            comment = match comment {
                Some([from, to]) if to + 1 == lines[0] => Some([from, lines[1]]),
                _ => Some(lines),
            };
        }
        if node.is_named() && above.last() == Some(&true) {
            outline.statements.push((line_of(node), depth as u32));
        }
        let mut holds = false;
        query.at(node, text, |_, found| {
            holds |= get(found, "statements").is_some();
            let (name, title) = (get(found, "name"), get(found, "title"));
            if let (Some(whole), Some(name)) = (get(found, "definition"), name.or(title)) {
                let (body, titled) = (get(found, "body"), title.is_some());
                let one = defined.entry(whole.id()).or_insert(Defined { name, body, titled });
                one.body = one.body.or(body);
            }
        });
        if let Some(one) = defined.remove(&node.id())
            && named.insert(one.name.start_byte())
        {
            let first = line_of(node);
            let title = comment.filter(|[_, to]| to + 1 == first);
            let lines = [title.map_or(first, |[from, _]| from), last_line(node)];
            let signature_end = match one.body {
                // A Python body starts on a line of its own.
                Some(body) if body.kind() == "block" => body.prev_sibling().map_or(0, end_line_of),
                Some(body) => line_of(body),
                None => first,
            };
            let mut name = text_of(one.name, text);
            if one.titled {
                name = String::from(name.trim_matches(['\'', '"', '`']));
            }
            let definition = Definition {
                name,
                lines,
                signature_end: signature_end.clamp(first, lines[1].max(first)),
                parent: around.last().map(|(_, at)| *at),
            };
            around.push((depth, outline.definitions.len()));
            outline.definitions.push(definition);
        }
        // Definitions inside definitions that are looked at.
        if !next(&mut cursor, depth < 200, &mut above, holds) {
            return outline;
        }
    }
}

// A Python block ends with its last statement, which may end at the start of a line.
fn last_line(node: Node<'_>) -> u32 {
    let last = end_line_of(node);
    if node.end_position().column == 0 {
        last.saturating_sub(1).max(line_of(node))
    } else {
        last
    }
}

#[cfg(test)]
mod tests {
    use super::outline;
    use crate::model::RepoPath;

    fn seen(path: &str, text: &str) -> Vec<String> {
        let outline = outline(&RepoPath::new(path).unwrap(), text.as_bytes());
        let name = |at: usize| outline.definitions[at].name.clone();
        outline
            .definitions
            .iter()
            .map(|definition| {
                let parent = definition.parent.map(name).unwrap_or_default();
                let [from, to] = definition.lines;
                format!(
                    "{parent}>{} {from}-{}-{to}",
                    definition.name, definition.signature_end
                )
            })
            .collect()
    }

    #[test]
    fn python() {
        let text = "import a\nX = 1\n\n# Says it.\n@b\ndef f(\n    a,\n):\n    return 1\n\n\
            class C(B):\n    x = 1\n    def m(self):\n        def inner():\n            pass\n        return inner\n";
        assert_eq!(
            seen("a.py", text),
            [
                ">X 2-2-2", ">f 4-8-9", ">C 11-11-16", "C>m 13-13-16", "m>inner 14-14-15"
            ]
        );
    }

    #[test]
    fn script() {
        let text = "import a from 'a';\n// Says it.\nexport function f(\n  a: A,\n): void {\n  one();\n}\n\
            export const g = async () => {\n  1;\n};\nclass C {\n  m() {\n    return 2;\n  }\n}\n\
            describe('C', () => {\n  it('adds', async () => {\n    1;\n  });\n});\n\
            export const o = {\n  k: () => 1,\n};\ninterface I {\n  a: string;\n}\n";
        assert_eq!(
            seen("a.ts", text),
            [
                ">f 2-5-7", ">g 8-8-10", ">C 11-11-15", "C>m 12-12-14", ">C 16-16-20",
                "C>adds 17-17-19", ">o 21-21-23", "o>k 22-22-22", ">I 24-24-26"
            ]
        );
    }

    #[test]
    fn hostile_files_do_no_harm() {
        for text in [
            "", "\n", "def", "class", "it('", "((((", "\0", "def f():\n  x\n  def g(:",
        ] {
            for path in ["a.ts", "a.py", "a.vue", "a.rs"] {
                seen(path, text);
            }
        }
        seen("a.ts", &"function f() {".repeat(20_000));
    }
}
