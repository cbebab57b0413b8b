//! Reads the top-level names of a module by a query.

use tree_sitter::Node;

use super::literal::{Syntax, end_line_of, line_of, text_of, unescape_text};
use super::query::{Captures, Patterns, get};
use crate::model::{Definition, DefinitionKind, Export};

/// What a module has at its top level.
#[derive(Default)]
pub(super) struct Tags<'t> {
    pub(super) definitions: Vec<Definition>,
    pub(super) exports: Vec<Export>,
    /// Strings that name what it imports.
    pub(super) imports: Vec<Node<'t>>,
}

/// Statements inside statements, and patterns inside patterns, that are looked into.
const MAX_DEPTH: usize = 32;

const KINDS: [(&str, DefinitionKind); 7] = [
    ("function", DefinitionKind::Function),
    ("class", DefinitionKind::Class),
    ("interface", DefinitionKind::Interface),
    ("type", DefinitionKind::Type),
    ("enum", DefinitionKind::Enum),
    ("variable", DefinitionKind::Variable),
    ("namespace", DefinitionKind::Namespace),
];

/// Reads the top level of a module by the query of its language.
pub(super) fn read_tags<'t>(query: &Patterns, root: Node<'t>, text: &[u8]) -> Tags<'t> {
    let mut found = Tags::default();
    Reader { query, text }.read(root, 0, &mut found);
    found
}

struct Reader<'r> {
    query: &'r Patterns,
    text: &'r [u8],
}

// How a statement that holds others exports them.
#[derive(Default)]
struct Inside {
    here: bool,
    exported: bool,
    default: bool,
    erased: bool,
}

impl Reader<'_> {
    fn read<'t>(&self, parent: Node<'t>, depth: usize, tags: &mut Tags<'t>) {
        for node in parent.named() {
            let mut inside = Inside::default();
            self.query.at(node, self.text, |_, found| {
                if get(found, "inside").is_some() {
                    inside.here = true;
                    inside.exported |= get(found, "export").is_some();
                    inside.default |= get(found, "default").is_some();
                    inside.erased |= get(found, "erased").is_some();
                } else if let Some((kind, whole)) = find_defined(found) {
                    let mut names = Vec::new();
                    if let Some(pattern) = get(found, "name") {
                        collect_bound(pattern, 0, &mut names);
                    }
                    tags.definitions.extend(names.into_iter().map(|name| Definition {
                        name: text_of(name, self.text),
                        kind,
                        line: line_of(whole),
                        end_line: end_line_of(whole),
                    }));
                } else if let Some(string) = get(found, "import") {
                    tags.imports.push(string);
                } else {
                    tags.exports.extend(self.read_export(found));
                }
            });
            if !inside.here || depth == MAX_DEPTH {
                continue;
            }
            let first = tags.definitions.len();
            self.read(node, depth + 1, tags);
            let own = tags.definitions.iter().skip(first);
            let mut names = own.map(|definition| definition.name.clone());
            let line = line_of(node);
            if inside.default {
                let export = Export::new("default", names.next(), line);
                tags.exports.push(export);
            } else if inside.exported {
                tags.exports.extend(names.map(|name| Export {
                    type_only: inside.erased,
                    ..Export::new(name, None, line)
                }));
            }
        }
    }

    // An export of one name.
    fn read_export(&self, found: &Captures<'_>) -> Option<Export> {
        let star = get(found, "export.star");
        let at = star.or_else(|| get(found, "export.one"))?;
        let [from, alias, own] = ["from", "as", "local"]
            .map(|name| get(found, name).map(|node| plain_text(node, self.text)));
        let value = get(found, "value").filter(|value| value.kind() == "identifier");
        let value = value.map(|value| text_of(value, self.text));
        let (name, local) = match (star, get(found, "default"), alias) {
            (Some(_), ..) => ("*".to_owned(), None),
            (_, Some(_), _) => ("default".to_owned(), value),
            (.., Some(name)) => {
                let value = value.filter(|value| *value != name);
                (name, own.or(value))
            }
            _ => (own?, None),
        };
        Some(Export {
            from,
            type_only: get(found, "erased").is_some(),
            ..Export::new(name, local, line_of(at))
        })
    }
}

fn find_defined<'t>(found: &Captures<'t>) -> Option<(DefinitionKind, Node<'t>)> {
    found.iter().find_map(|(name, node)| {
        let (_, kind) = KINDS.iter().find(|(known, _)| known == name)?;
        Some((*kind, *node))
    })
}

// The names that a pattern binds, those of all links of `a = b = 1` included.
fn collect_bound<'t>(node: Node<'t>, depth: usize, names: &mut Vec<Node<'t>>) {
    let kind = node.kind();
    if depth > MAX_DEPTH {
        return;
    }
    let parts: Vec<Node<'t>> = match kind {
        "attribute" | "subscript" | "member_expression" | "subscript_expression" => return,
        "pair_pattern" => node.field("value").into_iter().collect(),
        "assignment_pattern" | "object_assignment_pattern" => {
            node.field("left").into_iter().collect()
        }
        "assignment" => {
            let next = node.field("right").filter(|right| right.kind() == kind);
            node.field("left").into_iter().chain(next).collect()
        }
        _ if kind.contains("identifier") => {
            names.push(node);
            return;
        }
        _ => node.named().collect(),
    };
    for part in parts {
        collect_bound(part, depth + 1, names);
    }
}

// The text of a name, or what a string holds.
fn plain_text(node: Node<'_>, text: &[u8]) -> String {
    let written = text_of(node, text);
    let is_string = matches!(node.kind(), "string" | "template_string");
    let inside = written.get(1..written.len().saturating_sub(1)).filter(|_| is_string);
    inside.map_or_else(|| written.clone(), unescape_text)
}
