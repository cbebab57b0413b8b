use std::collections::HashMap;

use tree_sitter::Node;

use super::imports::{has_token, named, script_string};
use crate::languages::bindings;
use crate::languages::literal::{Syntax, end_line_of, line_of, text_of};
use crate::model::{Definition, DefinitionKind, Export, FileFacts, ImportKind};

/// Reads an `export` statement at the top level.
pub(super) fn statement(node: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    let from = node
        .field("source")
        .and_then(|source| script_string(source, text));
    let line = line_of(node);
    let erased = has_token(node, "type");
    if let Some(inner) = node.field("declaration") {
        let declared = inner.kind() == "ambient_declaration";
        let first = facts.definitions.len();
        declaration(inner, text, facts);
        let is_default = has_token(node, "default");
        let names: Vec<String> = facts
            .definitions
            .iter()
            .skip(first)
            .map(|definition| definition.name.clone())
            .collect();
        if is_default {
            facts
                .exports
                .push(Export::new("default", names.into_iter().next(), line));
        } else {
            facts.exports.extend(names.into_iter().map(|name| Export {
                type_only: declared,
                ..Export::new(name, None, line)
            }));
        }
        return;
    }
    if let Some(value) = node.field("value") {
        facts
            .exports
            .push(Export::new("default", identifier(value, text), line));
        return;
    }
    for child in node.all() {
        match child.kind() {
            "export_clause" => clause(child, text, from.as_ref(), erased, facts),
            "namespace_export" => facts
                .exports
                .extend(child.named_child(0).map(|name| Export {
                    from: from.clone(),
                    type_only: erased,
                    ..Export::new(text_of(name, text), Some("*".into()), line)
                })),
            "*" if from.is_some() => facts.exports.push(Export {
                from: from.clone(),
                type_only: erased,
                ..Export::new("*", None, line)
            }),
            // `export = x`
            "identifier" => {
                let local = Some(text_of(child, text));
                facts.exports.push(Export::new("default", local, line));
            }
            _ => {}
        }
    }
}

fn clause(
    clause: Node<'_>,
    text: &[u8],
    from: Option<&String>,
    erased: bool,
    facts: &mut FileFacts,
) {
    for specifier in clause.named() {
        if let Some(name) = named(specifier, text) {
            let (name, local) = match name.alias {
                Some(alias) => (alias, Some(name.name)),
                None => (name.name, None),
            };
            facts.exports.push(Export {
                from: from.cloned(),
                type_only: erased || has_token(specifier, "type"),
                ..Export::new(name, local, line_of(specifier))
            });
        }
    }
}

fn identifier(node: Node<'_>, text: &[u8]) -> Option<String> {
    (node.kind() == "identifier").then(|| text_of(node, text))
}

/// Reads a declaration at the top level; anything else is passed over.
pub(super) fn declaration(node: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    let kind = match node.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            DefinitionKind::Function
        }
        "class_declaration" | "abstract_class_declaration" | "class" => DefinitionKind::Class,
        "interface_declaration" => DefinitionKind::Interface,
        "type_alias_declaration" => DefinitionKind::Type,
        "enum_declaration" => DefinitionKind::Enum,
        "internal_module" | "module" => DefinitionKind::Namespace,
        "lexical_declaration" | "variable_declaration" => {
            variables(node, text, facts);
            return;
        }
        "ambient_declaration" => {
            // `declare declare …` is an error, of any depth.
            for child in node.named().filter(|it| it.kind() != node.kind()) {
                declaration(child, text, facts);
            }
            return;
        }
        "expression_statement" => {
            expression(node, text, facts);
            return;
        }
        _ => return,
    };
    let Some(name) = node.field("name") else {
        return;
    };
    if name.kind() == "string" {
        return;
    }
    define(text_of(name, text), kind, node, facts);
}

fn variables(node: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    for declarator in node.named() {
        if let Some(pattern) = declarator.field("name") {
            for name in bindings::bound(pattern, text) {
                define(name, DefinitionKind::Variable, node, facts);
            }
        }
    }
}

fn define(name: String, kind: DefinitionKind, node: Node<'_>, facts: &mut FileFacts) {
    facts.definitions.push(Definition {
        name,
        kind,
        line: line_of(node),
        end_line: end_line_of(node),
    });
}

// `namespace X {}` and the CommonJS forms `exports.a = …`, `module.exports = …`.
fn expression(node: Node<'_>, text: &[u8], facts: &mut FileFacts) {
    let Some(inner) = node.named_child(0) else {
        return;
    };
    if inner.kind() == "internal_module" {
        declaration(inner, text, facts);
        return;
    }
    if inner.kind() != "assignment_expression" {
        return;
    }
    let (Some(left), Some(right)) = (inner.field("left"), inner.field("right")) else {
        return;
    };
    if left.kind() != "member_expression" || left.byte_range().len() > 200 {
        return;
    }
    let target = text_of(left, text);
    let line = line_of(node);
    if target == "module.exports" {
        whole_module(right, text, line, facts);
    } else if let Some(name) = target
        .strip_prefix("module.exports.")
        .or(target.strip_prefix("exports."))
        && !name.contains('.')
    {
        facts.exports.push(Export::new(
            name.to_owned(),
            identifier(right, text).filter(|local| local != name),
            line,
        ));
    }
}

fn whole_module(value: Node<'_>, text: &[u8], line: u32, facts: &mut FileFacts) {
    facts
        .exports
        .push(Export::new("default", identifier(value, text), line));
    if value.kind() == "call_expression" {
        let function = value.field("function");
        let argument = value
            .field("arguments")
            .and_then(|arguments| arguments.named_child(0));
        if let (Some(function), Some(argument)) = (function, argument)
            && text_of(function, text) == "require"
            && let Some(from) = script_string(argument, text)
        {
            facts.exports.push(Export {
                from: Some(from),
                ..Export::new("*", None, line)
            });
        }
    }
    if value.kind() != "object" {
        return;
    }
    for property in value.named() {
        let (name, local) = match property.kind() {
            "shorthand_property_identifier" => (text_of(property, text), None),
            "pair" => {
                let Some(key) = property.field("key") else {
                    continue;
                };
                let value = property.field("value");
                let name = script_string(key, text).unwrap_or_else(|| text_of(key, text));
                let local = value.and_then(|value| identifier(value, text));
                (name.clone(), local.filter(|local| *local != name))
            }
            _ => continue,
        };
        facts
            .exports
            .push(Export::new(name, local, line_of(property)));
    }
}

/// Names the module behind each export that merely passes on an import:
/// `import { a } from './x'; export { a }` exports `a` from `./x`.
pub(super) fn trace(facts: &mut FileFacts) {
    let mut imported: HashMap<&str, (&str, &str, bool)> = HashMap::new();
    for import in &facts.imports {
        if import.nested || import.kind == ImportKind::ExportFrom {
            continue;
        }
        for name in &import.names {
            let local = name.local();
            imported.insert(local, (&import.specifier, &name.name, import.type_only));
        }
    }
    let defined: std::collections::HashSet<&str> = facts
        .definitions
        .iter()
        .map(|definition| definition.name.as_str())
        .collect();
    for export in &mut facts.exports {
        if export.from.is_some() {
            continue;
        }
        let local = export.local.as_ref().unwrap_or(&export.name);
        let Some((from, name, erased)) = imported.get(local.as_str()) else {
            continue;
        };
        // `const { a } = require('x')` both defines and imports: the import says more.
        if defined.contains(local.as_str()) && !from.starts_with(['.', '#', '@', '~']) {
            continue;
        }
        export.type_only |= erased;
        export.from = Some((*from).to_owned());
        export.local = (*name != export.name).then(|| (*name).to_owned());
    }
}
