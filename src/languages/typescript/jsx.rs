use tree_sitter::Tree;

use super::language::TSX;
use crate::languages::parse::parse_once;

/// Reads a text once more: JSX takes a plain `&` in text and in attributes, which the grammar does
/// not, and it is read as a letter there. What turns out to be an operator is left as it is.
pub(super) fn with_ampersands(text: &[u8]) -> Option<Tree> {
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
    let in_jsx = |at: &usize| {
        let node = tree.root_node().descendant_for_byte_range(*at, at + 1);
        node.is_some_and(|node| node.kind() == "jsx_text" || node.kind().starts_with("string"))
    };
    let kept: Vec<usize> = plain.iter().copied().filter(in_jsx).collect();
    match kept.len() {
        0 => None,
        count if count == plain.len() => Some(tree),
        _ => masked(&kept),
    }
}
