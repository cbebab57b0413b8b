use tree_sitter::{Node, Tree};

use super::packages::package_part;
use super::{embedded, imports, resolve, uses};
#[cfg(feature = "program")]
use super::{insert, installed};
use crate::languages::language::{Extract, FileKind, Grammar, Language, has_line};
use crate::languages::literal::Syntax;
use crate::languages::outline::source;
use crate::languages::parse::parse_once;

// One module a line, sorted by bytes; add a line when a release adds a module.
const NODE_MODULES: &str = include_str!("node_builtins.txt");

/// TypeScript and JavaScript in all their forms.
pub static TYPESCRIPT: Language = Language {
    name: "typescript",
    files: &[
        kind(&["ts", "mts", "cts"], &PLAIN, 0),
        kind(&["tsx"], &TSX, 1),
        holding(&["vue"], embedded::component, 3),
        holding(&["svelte"], embedded::component, 4),
        holding(&["astro"], embedded::astro, 5),
        kind(&["js", "jsx", "mjs", "cjs"], &TSX, 6),
        holding(&["mdx"], embedded::mdx, 7),
    ],
    declares_exports: true,
    families: &["js", "ts"],
    #[cfg(feature = "program")]
    library: include_str!("node_names.txt"),
    #[cfg(feature = "program")]
    everyday: include_str!("everyday.txt"),
    globals: include_str!("globals.txt"),
    package: |module| {
        let bare = module.strip_prefix("node:").unwrap_or(module);
        package_part(bare).unwrap_or(bare)
    },
    last_part: |specifier| {
        let last = specifier.rsplit('/').next().unwrap_or(specifier);
        last.split('.').next().unwrap_or(last)
    },
    is_standard: is_node,
    may_import: |line| line.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`')),
    layout: |_, _| Vec::new(),
    facts: imports::facts,
    defined,
    use_of: uses::use_of,
    free_names: |_, _| Vec::new(),
    #[cfg(feature = "program")]
    shows: installed::shows,
    #[cfg(feature = "program")]
    names: insert::names,
    #[cfg(feature = "program")]
    specifier_in: |rest, import| {
        let quoted = ['"', '\'', '`'].map(|it| rest.find(&format!("{it}{}{it}", import.specifier)));
        Some(quoted.into_iter().flatten().min()? + 1)
    },
    #[cfg(feature = "program")]
    inserter: |page, _| Box::new(insert::Groups::of(page)),
    resolve: resolve::resolve,
    implicit: |_, _| Vec::new(),
};

pub(super) static PLAIN: Grammar = Grammar {
    of: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    mended: None,
};

/// Reads JavaScript as well.
pub(super) static TSX: Grammar = Grammar {
    of: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    mended: Some(with_ampersands),
};

const fn kind(
    extensions: &'static [&'static str],
    grammar: &'static Grammar,
    reading: u8,
) -> FileKind {
    FileKind {
        extensions,
        grammar,
        code: None,
        reading,
    }
}

const fn holding(extensions: &'static [&'static str], code: Extract, reading: u8) -> FileKind {
    FileKind {
        extensions,
        grammar: &PLAIN,
        code: Some(code),
        reading,
    }
}

/// Whether a bare specifier names a module of Node.js itself (`fs`, `fs/promises`, `node:test`).
pub(super) fn is_node(specifier: &str) -> bool {
    let first = specifier.split('/').next().unwrap_or_default();
    specifier.starts_with("node:") || has_line(NODE_MODULES, first)
}

/// Reads a text once more: JSX takes a plain `&` in text and in attributes, which the grammar does
/// not, and it is read as a letter there. What turns out to be an operator is left as it is.
fn with_ampersands(text: &[u8]) -> Option<Tree> {
    let plain = memchr::memchr_iter(b'&', text).filter(|at| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let end = rest.iter().take(32).position(|byte| *byte == b';');
        let name = rest.get(..end.unwrap_or_default()).unwrap_or_default();
        let (mark, name) = match name.strip_prefix(b"#") {
            Some(digits) => (true, digits),
            None => (false, name),
        };
        let entity = |byte: &u8| {
            byte.is_ascii_alphanumeric() && (!mark || byte.is_ascii_hexdigit() || *byte == b'x')
        };
        name.is_empty() || !name.iter().all(entity)
    });
    let plain: Vec<usize> = plain.collect();
    let masked = |places: &[usize]| {
        let mut text = text.to_vec();
        for at in places {
            *text.get_mut(*at)? = b'_';
        }
        parse_once(&TSX, &text)
    };
    let tree = (!plain.is_empty()).then(|| masked(&plain))??;
    let kept = in_text(&tree, &plain);
    match kept.len() {
        0 => None,
        count if count == plain.len() => Some(tree),
        _ => masked(&kept),
    }
}

// The places that stand in the text of JSX or in a string, found in one walk: from the root to each of them
// it is far in a tree that is deep.
fn in_text(tree: &Tree, places: &[usize]) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut left = places.iter().copied().peekable();
    let mut cursor = tree.walk();
    loop {
        if cursor.goto_first_child() {
            continue;
        }
        let leaf = cursor.node();
        let is_text = leaf.kind() == "jsx_text" || leaf.kind().starts_with("string");
        while let Some(at) = left.next_if(|at| *at < leaf.end_byte()) {
            if is_text && at >= leaf.start_byte() {
                kept.push(at);
            }
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return kept;
            }
        }
    }
}

/// The name of a definition: of an exported one by its `export`.
fn defined(node: Node<'_>, parent: &str, text: &[u8]) -> Option<String> {
    match node.kind() {
        "export_statement" => {
            let declaration = node.field("declaration")?;
            name_of(declaration, true, text)
        }
        _ if parent == "export_statement" => None,
        _ => name_of(node, parent == "program", text),
    }
}

fn name_of(node: Node<'_>, outermost: bool, text: &[u8]) -> Option<String> {
    match node.kind() {
        "function_declaration"
        | "generator_function_declaration"
        | "function_signature"
        | "class_declaration"
        | "abstract_class_declaration"
        | "interface_declaration"
        | "type_alias_declaration"
        | "enum_declaration"
        | "internal_module"
        | "method_definition"
        | "public_field_definition" => Some(source(node.field("name")?, text)),
        "lexical_declaration" | "variable_declaration" => {
            let value = declared_value(node);
            let is_function = value.is_some_and(is_function);
            let declarator = node.named_child(0)?;
            let name = declarator.field("name")?;
            (outermost || is_function).then(|| source(name, text))
        }
        "pair" => {
            let value = node.field("value")?;
            is_function(value)
                .then(|| node.field("key"))
                .flatten()
                .map(|key| source(key, text))
        }
        // `it('adds', () => …)`, `describe.each(…)('adds', …)`.
        "expression_statement" => {
            let call = node.named_child(0)?;
            let call = match call.kind() {
                "await_expression" => call.named_child(0)?,
                _ => call,
            };
            let arguments = (call.kind() == "call_expression")
                .then(|| call.field("arguments"))
                .flatten()?;
            let mut walk = arguments.walk();
            let children: Vec<Node<'_>> = arguments.named_children(&mut walk).collect();
            let title = children.first()?;
            let is_text = matches!(title.kind(), "string" | "template_string");
            (is_text && children.iter().copied().any(is_function)).then(|| {
                let title = source(*title, text);
                title.trim_matches(['\'', '"', '`']).to_owned()
            })
        }
        _ => None,
    }
}

fn declared_value(node: Node<'_>) -> Option<Node<'_>> {
    let node = match node.kind() {
        "export_statement" => node.field("declaration")?,
        _ => node,
    };
    match node.kind() {
        "lexical_declaration" | "variable_declaration" => node.named_child(0)?.field("value"),
        _ => None,
    }
}

fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "arrow_function" | "function_expression" | "generator_function" | "class"
    )
}
