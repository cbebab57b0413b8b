use std::collections::BTreeMap;

use tree_sitter::Node;

use super::facts::{head_of, prepare};
use super::parse;
use super::uses::{Uses, python};
use crate::model::{Language, RepoPath};

/// The names that a Python file needs at run time and that nothing in it binds, in no scope: those
/// of builtins are among them. Sorted. Empty for another language, and for a file with an import of
/// everything, or one that is not parsed whole.
#[must_use]
pub fn free_names(path: &RepoPath, bytes: &[u8]) -> Vec<String> {
    let Some((Language::Python, text)) = prepare(path, bytes) else {
        return Vec::new();
    };
    let (head, cut) = head_of(&text);
    let tree = parse::parse(Language::Python, head).filter(|tree| !tree.root_node().has_error());
    let (Some(tree), None) = (tree, cut) else {
        return Vec::new();
    };
    let mut found: BTreeMap<String, Uses> = BTreeMap::new();
    let mut above: Vec<Node<'_>> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "wildcard_import" {
            return Vec::new();
        }
        if node.kind() == "identifier" {
            let name = head.get(node.byte_range()).unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            let uses = found.entry(name).or_default();
            if binds(&above) {
                uses.bound = true;
            } else {
                python(uses, node, &above, head);
            }
        }
        if cursor.goto_first_child() {
            above.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                let free = |uses: &Uses| uses.value && !uses.bound && !uses.shadowed;
                let names = found.into_iter().filter(|(_, uses)| free(uses));
                return names.map(|(name, _)| name).collect();
            }
            above.pop();
        }
    }
}

// Imports, patterns, declarations of another scope: what stands there is no use.
fn binds(above: &[Node<'_>]) -> bool {
    above.iter().rev().take(6).any(|node| {
        matches!(
            node.kind(),
            "import_statement"
                | "import_from_statement"
                | "future_import_statement"
                | "as_pattern_target"
                | "case_pattern"
                | "list_pattern"
                | "pattern_list"
                | "tuple_pattern"
                | "global_statement"
                | "nonlocal_statement"
                | "type_parameter"
                | "type_alias_statement"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::free_names;
    use crate::model::RepoPath;

    #[test]
    fn what_nothing_binds_is_free() {
        for (text, expected) in [
            ("import os\nos.path\nPath(x=1)\n", &["Path"][..]),
            (
                "def f(a, *b, c=1, **d):\n    return a, b, c, d, e\n",
                &["e"],
            ),
            (
                "for i, (j, k) in zip(range(3), o): i + j + k\n",
                &["o", "range", "zip"],
            ),
            ("try: pass\nexcept E as e: print(e)\n", &["E", "print"]),
            ("with f() as g, h() as (m, n): g; m; n\n", &["f", "h"]),
            ("[x for x in y if (z := x) and z]\n", &["y"]),
            ("match a:\n    case B(c=d) as g: d, g\n", &["a"]),
            (
                "class C(D):\n    n: int = 1\n    def m(self): global G; return G\n",
                &["D"],
            ),
            ("from a import *\nb\n", &[]),
            (
                "lambda q: q + r\ns.t.u\n@v\ndef w(): del w\n",
                &["r", "s", "v"],
            ),
            ("def (:\n", &[]),
        ] {
            let found = free_names(&RepoPath::new("a.py").unwrap(), text.as_bytes());
            assert_eq!(found, expected, "{text}");
        }
        assert!(free_names(&RepoPath::new("a.ts").unwrap(), b"a()").is_empty());
    }
}
