use std::collections::BTreeMap;

use tree_sitter::{Node, Tree};

use crate::languages::literal::{Syntax, next};

use crate::languages::uses::{Uses, chain, is_field};

/// Adds what a leaf says of the use of its name; whether it stands for the name.
pub(super) fn use_of(found: &mut Uses, leaf: Node<'_>, above: &[Node<'_>], text: &[u8]) -> bool {
    let Some(parent) = above.last().copied() else {
        return false;
    };
    if leaf.kind() != "identifier" {
        return false;
    }
    let import = |node: &Node<'_>| {
        matches!(
            node.kind(),
            "import_statement" | "import_from_statement" | "future_import_statement"
        )
    };
    if above.iter().rev().take(3).any(import) {
        // The module of the statement is no place of the name.
        return !above.iter().any(|node| {
            node.parent()
                .is_some_and(|it| is_field(it, "module_name", *node))
        });
    }
    match parent.kind() {
        "attribute" if !is_field(parent, "object", leaf) => {
            found.bound |= is_own(parent, above, text);
            return false;
        }
        "keyword_argument" if is_field(parent, "name", leaf) => return false,
        "parameters" | "lambda_parameters" | "list_splat_pattern" | "dictionary_splat_pattern" => {
            found.shadowed = true;
            return false;
        }
        "default_parameter" | "typed_default_parameter" if is_field(parent, "name", leaf) => {
            found.shadowed = true;
            return false;
        }
        "typed_parameter" if parent.named_child(0) == Some(leaf) => {
            found.shadowed = true;
            return false;
        }
        "function_definition" if is_method(above) => {
            found.member = true;
            return false;
        }
        "function_definition"
        | "class_definition"
        | "as_pattern_target"
        | "pattern_list"
        | "list_pattern"
        | "tuple_pattern"
        | "delete_statement"
        | "global_statement"
        | "nonlocal_statement" => {
            found.bound = true;
            return false;
        }
        "named_expression" if is_field(parent, "name", leaf) => {
            found.bound = true;
            return false;
        }
        "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause"
            if is_field(parent, "left", leaf) =>
        {
            found.bound = true;
            return false;
        }
        _ => {}
    }
    if is_captured(above) {
        found.bound = true;
        return false;
    }
    if above.iter().any(|node| node.kind() == "type") {
        found.typed = true;
    } else {
        found.value = true;
    }
    chain(found, leaf, above, text, "attribute", |node| {
        node.kind() == "attribute"
    });
    found.called |= parent.kind() == "call" && is_field(parent, "function", leaf);
    true
}

// Whether the innermost function stands in the body of a class, as it is or decorated.
fn is_method(above: &[Node<'_>]) -> bool {
    let outer = above.iter().rev().skip(1);
    let mut outer = outer.filter(|it| !matches!(it.kind(), "decorated_definition" | "block"));
    outer
        .next()
        .is_some_and(|it| it.kind() == "class_definition")
}

// `self.name = …`: the bare name is a slip for it.
fn is_own(attribute: Node<'_>, above: &[Node<'_>], text: &[u8]) -> bool {
    let object = attribute.field("object");
    let object = object.and_then(|it| text.get(it.byte_range()));
    let statement = above.iter().rev().nth(1);
    matches!(object, Some(b"self" | b"cls"))
        && statement.is_some_and(|it| {
            matches!(it.kind(), "assignment" | "augmented_assignment")
                && is_field(*it, "left", attribute)
        })
}

// `case {"a": name}`: a name alone in a pattern is bound, that of a class is not.
fn is_captured(above: &[Node<'_>]) -> bool {
    let mut up = above.iter().rev();
    let alone = up
        .next()
        .is_some_and(|it| it.kind() == "dotted_name" && it.named_child_count() == 1);
    alone && up.next().is_some_and(|it| it.kind() == "case_pattern")
}

/// The names that a tree needs at run time and that nothing in it binds, sorted.
pub(super) fn free_names(tree: &Tree, head: &[u8]) -> Vec<String> {
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
                use_of(uses, node, &above, head);
            }
        }
        if !next(&mut cursor, true, &mut above, node) {
            let free = |uses: &Uses| uses.value && !uses.is_own() && !uses.shadowed;
            let names = found.into_iter().filter(|(_, uses)| free(uses));
            return names.map(|(name, _)| name).collect();
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
    use crate::languages::free_names;
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
