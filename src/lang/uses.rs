use std::collections::BTreeSet;

use memchr::memmem;
use tree_sitter::Node;

use super::facts::{head_of, prepare};
use super::parse;
use super::path::Finder;
use crate::model::{Language, RepoPath};

/// Places of one name that are looked at.
const MAX_PLACES: usize = 2_000;
/// Parts of a dotted chain below the name.
const MAX_CHAIN: usize = 4;

/// How a file uses one name, read from its syntax tree: what stands in strings and comments, keys
/// and members of other things are no uses.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a use of its own")]
pub struct Uses {
    /// What follows `name.`, sorted.
    pub members: BTreeSet<String>,
    /// Dotted chains that start with the name, up to four parts below it.
    pub chains: BTreeSet<String>,
    /// It stands somewhere without a member.
    pub bare: bool,
    /// It is called, built, or used as a tag.
    pub called: bool,
    /// It is needed at run time.
    pub value: bool,
    /// It stands where types do.
    pub typed: bool,
    /// Something in the file declares or assigns it.
    pub bound: bool,
    /// A parameter, a key or an export bears the name as well.
    pub shadowed: bool,
    /// Byte offsets where it stands for what it means, imports included, ascending.
    pub places: Vec<usize>,
}

/// Reads how a file uses a name. `None` when the file cannot be parsed or nowhere holds it as a
/// word.
#[must_use]
pub fn uses(path: &RepoPath, bytes: &[u8], name: &str) -> Option<Uses> {
    let (language, text) = prepare(path, bytes)?;
    let (head, _) = head_of(&text);
    let tree = parse::parse(language, head)?;
    let mut finder = Finder::new(&tree);
    let mut found = Uses::default();
    let mut any = false;
    for at in words(head, name).take(MAX_PLACES) {
        let Some(nodes) = finder.at(at) else { break };
        let Some((leaf, above)) = nodes.split_last() else {
            continue;
        };
        let quoted = leaf.kind().starts_with("string");
        if quoted || leaf.start_byte() != at || leaf.end_byte() != at + name.len() {
            if language == Language::Python && nodes.iter().any(|node| node.kind() == "type") {
                // A quoted annotation.
                (found.typed, found.bare, any) = (true, true, true);
            }
            continue;
        }
        any = true;
        let stands = if language == Language::Python {
            python(&mut found, *leaf, above, head)
        } else {
            script(&mut found, *leaf, above, head)
        };
        if stands {
            found.places.push(at);
        }
    }
    any.then_some(found)
}

fn words<'t>(text: &'t [u8], name: &'t str) -> impl Iterator<Item = usize> + use<'t> {
    let part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80
        })
    };
    memmem::find_iter(text, name.as_bytes()).filter(move |at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        !name.is_empty() && !part(before) && !part(text.get(at + name.len()))
    })
}

fn is_field(parent: Node<'_>, field: &str, child: Node<'_>) -> bool {
    parent.child_by_field_name(field) == Some(child)
}

fn declares(leaf: Node<'_>, parent: Node<'_>) -> bool {
    match (leaf.kind(), parent.kind()) {
        ("shorthand_property_identifier_pattern", _)
        | (
            _,
            "function_declaration"
            | "generator_function_declaration"
            | "class_declaration"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "internal_module"
            | "type_parameter",
        ) => true,
        (_, "type_alias_declaration") | ("identifier", "variable_declarator") => {
            is_field(parent, "name", leaf)
        }
        (
            "identifier",
            "assignment_expression" | "augmented_assignment_expression" | "for_in_statement",
        ) => is_field(parent, "left", leaf),
        _ => false,
    }
}

fn is_parameter(leaf: Node<'_>, parent: Node<'_>, kind: &str) -> bool {
    matches!(
        kind,
        "required_parameter" | "optional_parameter" | "rest_pattern"
    ) || (kind == "arrow_function" && is_field(parent, "parameter", leaf))
}

// Whether the leaf stands for the name.
fn script(found: &mut Uses, leaf: Node<'_>, above: &[Node<'_>], text: &[u8]) -> bool {
    let Some(parent) = above.last().copied() else {
        return false;
    };
    match (leaf.kind(), parent.kind()) {
        (
            _,
            "import_specifier" | "import_clause" | "namespace_import" | "import_require_clause",
        ) => {}
        ("property_identifier" | "statement_identifier", _) => return false,
        _ if declares(leaf, parent) => found.bound = true,
        ("type_identifier", _) | ("identifier", "type_query") => {
            (found.typed, found.bare) = (true, true);
        }
        ("shorthand_property_identifier", _) => {
            (found.value, found.bare, found.shadowed) = (true, true, true);
        }
        // Parameters are the function's own.
        ("identifier", kind) if is_parameter(leaf, parent, kind) => found.shadowed = true,
        ("identifier", "export_specifier") => (found.bare, found.shadowed) = (true, true),
        ("identifier", _) => {
            let in_type = above
                .iter()
                .rev()
                .take(MAX_CHAIN + 1)
                .any(|node| matches!(node.kind(), "type_query" | "nested_type_identifier"));
            if in_type {
                found.typed = true;
            } else {
                found.value = true;
            }
            let field = if parent.kind() == "member_expression" {
                "property"
            } else {
                "name"
            };
            chain(found, leaf, above, text, field, |node| {
                matches!(
                    node.kind(),
                    "member_expression" | "nested_type_identifier" | "nested_identifier"
                )
            });
            found.called |= match parent.kind() {
                "call_expression" => is_field(parent, "function", leaf),
                "new_expression" => is_field(parent, "constructor", leaf),
                kind => kind.starts_with("jsx_"),
            };
        }
        _ => return false,
    }
    true
}

// Whether the leaf stands for the name.
pub(super) fn python(found: &mut Uses, leaf: Node<'_>, above: &[Node<'_>], text: &[u8]) -> bool {
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
        "attribute" if !is_field(parent, "object", leaf) => return false,
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
        "function_definition"
        | "class_definition"
        | "as_pattern_target"
        | "pattern_list"
        | "tuple_pattern" => {
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

// The members below the name, outermost last.
fn chain(
    found: &mut Uses,
    leaf: Node<'_>,
    above: &[Node<'_>],
    text: &[u8],
    field: &str,
    is_member: impl Fn(&Node<'_>) -> bool,
) {
    let mut parts: Vec<String> = Vec::new();
    let mut below = leaf;
    for node in above
        .iter()
        .rev()
        .filter(|node| !matches!(node.kind(), "type"))
    {
        if !is_member(node) || parts.len() == MAX_CHAIN || node.named_child(0) != Some(below) {
            break;
        }
        let named = node
            .child_by_field_name(field)
            .or_else(|| node.named_child(1));
        let Some(part) = named.and_then(|part| part.utf8_text(text).ok()) else {
            break;
        };
        parts.push(part.to_owned());
        below = *node;
    }
    match parts.first() {
        None => found.bare = true,
        Some(first) => {
            found.members.insert(first.clone());
            for end in 1..=parts.len() {
                let chain = parts.get(..end).unwrap_or_default();
                found.chains.insert(chain.join("."));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Uses, uses};
    use crate::model::RepoPath;

    fn read(path: &str, text: &str) -> Uses {
        uses(&RepoPath::new(path).unwrap(), text.as_bytes(), "Name").unwrap_or_default()
    }

    #[test]
    fn values_and_types_are_told_apart() {
        for (text, value, typed) in [
            ("class A extends Name<T> {}", true, false),
            ("interface A extends Name {}", false, true),
            ("class A implements Name {}", false, true),
            ("const a: Name = b as Name", false, true),
            ("let a: typeof Name", false, true),
            ("let a: Name.Inner", false, true),
            ("new Name()", true, false),
            ("x instanceof Name", true, false),
            ("@Name() class A {}", true, false),
            ("f({ Name })", true, false),
            ("f<Name>(x)", false, true),
            ("f({ Name: 1 }, a.Name, 'Name') // Name", false, false),
        ] {
            let found = read("a.ts", text);
            assert_eq!((found.value, found.typed), (value, typed), "{text}");
        }
        assert!(read("a.tsx", "const a = <Name.Part />").value);
        assert!(read("a.py", "x: 'Name' = 1").typed);
        assert!(read("a.py", "def f(x: Name[int]) -> Name: ...").typed);
        assert!(read("a.py", "class A(Name): ...").value);
    }

    #[test]
    fn members_calls_and_bindings_are_read() {
        let found = read(
            "a.py",
            "Name.path.join(Name.sep)\na.Name\nf(Name=1)\n'Name.x'\n",
        );
        assert_eq!(
            found.chains.iter().collect::<Vec<_>>(),
            ["path", "path.join", "sep"]
        );
        assert!(!found.bare && !found.called && !found.bound);
        let found = read("a.ts", "Name.a.b()\nName?.c\n<b>Name.d\n");
        assert_eq!(found.members.iter().collect::<Vec<_>>(), ["a", "c", "d"]);
        for (path, text) in [
            ("a.ts", "const Name = 1"),
            ("a.ts", "const { Name } = x"),
            ("a.ts", "Name = 1"),
            ("a.ts", "function Name() {}"),
            ("a.ts", "type Name = 1"),
            ("a.py", "Name = 1"),
            ("a.py", "for Name in x: pass"),
            ("a.py", "with a as Name: pass"),
            ("a.py", "def Name(): pass"),
            ("a.py", "a, Name = b"),
        ] {
            assert!(read(path, text).bound, "{text}");
        }
        for (path, text) in [
            ("a.ts", "f(Name => 1)"),
            ("a.ts", "type A = Name"),
            ("a.ts", "f(y as Name)"),
            ("a.py", "f(Name=1)"),
            ("a.py", "def f(Name, b=Name): pass"),
            ("a.py", "Name == 1"),
        ] {
            assert!(!read(path, text).bound, "{text}");
        }
        assert!(read("a.py", "Name(1)").called && read("a.ts", "new Name()").called);
    }
}
