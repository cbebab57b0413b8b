use tree_sitter::Node;

use super::literal::{Syntax, text_of};
use super::test_file::is_literal;

/// The tree of a node as text: the same for the same code, however it is laid out.
pub(super) fn code_of(node: Node<'_>, text: &[u8]) -> String {
    code_without(node, text, &[])
}

pub(super) fn code_without(node: Node<'_>, text: &[u8], without: &[Node<'_>]) -> String {
    let mut out = String::new();
    write_code(node, text, without, &mut out, 0);
    out
}

/// What stands around a body of a statement; its siblings in an object or among attributes do not.
pub(super) fn way_to(body: Node<'_>, node: Node<'_>, text: &[u8], bodies: &[Node<'_>]) -> String {
    let mut out = String::new();
    let mut at = node;
    while at != body {
        let is_loose = matches!(
            at.kind(),
            "object" | "jsx_opening_element" | "jsx_self_closing_element"
        );
        let mut next = None;
        for child in at.all() {
            if child.start_byte() <= body.start_byte() && body.end_byte() <= child.end_byte() {
                next = Some(child);
                out.push_str("<>");
            } else if !matches!(child.kind(), "," | "(" | ")")
                && (!is_loose || child.kind() == "identifier")
            {
                write_code(child, text, bodies, &mut out, 0);
            }
        }
        let Some(next) = next else {
            break;
        };
        at = next;
    }
    out
}

fn write_code(node: Node<'_>, text: &[u8], without: &[Node<'_>], out: &mut String, depth: usize) {
    const MAX_CODE_DEPTH: usize = 400;
    if without.contains(&node) {
        out.push_str("{}");
        return;
    }
    let kind = node.kind();
    if matches!(
        kind,
        "comment" | "line_continuation" | ";" | "empty_statement"
    ) {
        return;
    }
    if let Some(inner) = same_as(node) {
        write_code(inner, text, without, out, depth + 1);
        return;
    }
    if node.child_count() == 0 || is_plain_string(node) || depth > MAX_CODE_DEPTH {
        out.push_str(&token(node, &text_of(node, text)));
        out.push('\u{1f}');
        return;
    }
    // Brackets that only group say nothing: the tree does.
    let groups = matches!(kind, "parenthesized_expression" | "with_clause");
    let is_bare = groups || kind == "expression_statement";
    let is_tuple = matches!(
        kind,
        "tuple" | "tuple_pattern" | "expression_list" | "pattern_list"
    );
    if is_tuple {
        out.push_str("(,\u{1f}");
    } else if !is_bare {
        out.push_str(&format!("({}\u{1f}", node.kind_id()));
    }
    let children: Vec<Node<'_>> = node.all().collect();
    for (at, child) in children.iter().enumerate() {
        let next = children.get(at + 1).map(Node::kind);
        let is_last = next.is_none() && is_tuple;
        let closes = is_last || matches!(next, Some(")" | "]" | "}" | ">"));
        let is_group = (groups || is_tuple) && matches!(child.kind(), "(" | ")");
        if is_group || child.kind() == "," && closes || says_nothing(node, *child) {
            continue;
        }
        match plain_key(node, *child, text) {
            Some(name) => {
                out.push_str(&name);
                out.push('\u{1f}');
            }
            None => write_code(*child, text, without, out, depth + 1),
        }
    }
    if !is_bare {
        out.push_str(")\u{1f}");
    }
}

// What a node is but for how it is written: one parameter in brackets, a type beside a literal.
fn same_as(node: Node<'_>) -> Option<Node<'_>> {
    let only = || (node.named_child_count() == 1).then(|| node.named_child(0))?;
    match node.kind() {
        "formal_parameters" => {
            let inner = only()?;
            let name = inner.named_child(0).filter(|_| inner.child_count() == 1);
            name.filter(|it| it.kind() == "identifier")
        }
        "as_expression" | "satisfies_expression" => {
            let inner = node.named_child(0)?;
            is_literal(inner).then_some(inner)
        }
        _ => None,
    }
}

// The message of an assertion, the type of a name that is bound to a literal, empty brackets of `new`.
fn says_nothing(node: Node<'_>, child: Node<'_>) -> bool {
    match node.kind() {
        "assert_statement" => node.named_child(0) != Some(child) && child.kind() != "assert",
        "assignment" => {
            let typed = node.field("type").is_some_and(|it| it == child) || child.kind() == ":";
            typed && node.field("right").is_some_and(is_literal)
        }
        "variable_declarator" => {
            child.kind() == "type_annotation" && node.field("value").is_some_and(is_literal)
        }
        "new_expression" => child.kind() == "arguments" && child.named_child_count() == 0,
        _ => false,
    }
}

pub(super) fn is_plain_string(node: Node<'_>) -> bool {
    let substituted = |it: Node<'_>| matches!(it.kind(), "interpolation" | "template_substitution");
    matches!(node.kind(), "string" | "template_string") && !node.named().any(substituted)
}

// The key of an object in a script, which says the same with and without quotes.
fn plain_key(pair: Node<'_>, key: Node<'_>, text: &[u8]) -> Option<String> {
    let is_key = pair.kind() == "pair" && key.kind() == "string" && pair.field("key") == Some(key);
    // A string of Python begins with a token of that name.
    let is_script = is_key && key.child(0).is_some_and(|it| it.kind() != "string_start");
    let plain = is_script.then(|| plain_string(&text_of(key, text)))?;
    let name = plain.trim_matches('"');
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '$';
    let is_plain = !name.is_empty() && name.chars().all(is_name);
    is_plain.then(|| name.to_owned())
}

// A token by what it means.
fn token(node: Node<'_>, said: &str) -> String {
    match node.kind() {
        "string" => plain_string(said),
        "template_string" => plain_string(&format!("\"{}\"", said.trim_matches('`'))),
        "string_start" => {
            let prefix = said.trim_end_matches(['"', '\'']).to_ascii_lowercase();
            format!("{}\"", prefix.replace('u', ""))
        }
        "string_end" => "\"".to_owned(),
        "number" => number(said).map_or_else(|| said.to_owned(), |it| it.to_string()),
        "float" => number(said).map_or_else(|| said.to_owned(), |it| format!("{it:?}")),
        "integer" => said.replace('_', "").to_ascii_lowercase(),
        _ => said.to_owned(),
    }
}

fn number(said: &str) -> Option<f64> {
    let plain = said.replace('_', "").to_ascii_lowercase();
    // `010` is eight where it is anything.
    let is_octal = plain.len() > 1 && plain.bytes().all(|it| it.is_ascii_digit());
    if is_octal && plain.starts_with('0') {
        return None;
    }
    match plain.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(f64::from),
        None => plain.parse().ok(),
    }
}

// Without the escapes of quotes, and with small letters in hexadecimal ones.
fn plain_escapes(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside.chars();
    let mut digits = 0;
    while let Some(one) = rest.next() {
        if one != '\\' {
            out.push(if digits > 0 {
                one.to_ascii_lowercase()
            } else {
                one
            });
            digits = if one.is_ascii_hexdigit() {
                usize::max(digits, 1) - 1
            } else {
                0
            };
            continue;
        }
        let escaped = rest.next();
        digits = match escaped {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        out.extend(Some('\\').filter(|_| !matches!(escaped, Some('\'' | '"'))));
        out.extend(escaped);
    }
    out
}

// A string by what is in it, in whichever quotes.
fn plain_string(said: &str) -> String {
    let at = said.find(['"', '\'']).unwrap_or_default();
    let (prefix, quoted) = said.split_at(at);
    let inside = ["\"\"\"", "'''", "\"", "'"].iter().find_map(|quote| {
        let rest = quoted.strip_prefix(quote)?;
        rest.strip_suffix(quote)
    });
    let inside = inside.unwrap_or(quoted);
    let inside = if prefix.contains(['r', 'R']) {
        inside.to_owned()
    } else {
        plain_escapes(inside)
    };
    let lines: Vec<&str> = inside.split('\n').map(str::trim_end).collect();
    let prefix = prefix.to_ascii_lowercase().replace('u', "");
    format!("{prefix}\"{}\"", lines.join("\n"))
}
