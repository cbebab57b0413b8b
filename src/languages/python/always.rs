use std::collections::BTreeSet;

use tree_sitter::Node;

use super::language::PYTHON;
use crate::languages::literal::Syntax;
use crate::languages::literal::text_of;
use crate::languages::tags::names;

/// Statement blocks inside statement blocks that are looked into.
const MAX_BLOCKS: usize = 32;

/// The names that a module binds whatever happens while it is loaded, imports included: not those
/// that stand below one branch of an `if` alone, and none that is deleted. `None` when a star binds
/// others, or the module answers for names itself.
pub(crate) fn always(module: Node<'_>, text: &[u8]) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    bind_all(module, text, 0, &mut found)?;
    (!found.contains("__getattr__")).then_some(found)
}

fn bind_all(
    parent: Node<'_>,
    text: &[u8],
    blocks: usize,
    found: &mut BTreeSet<String>,
) -> Option<()> {
    if blocks > MAX_BLOCKS {
        return None;
    }
    for node in parent.named() {
        match node.kind() {
            "if_statement" => {
                let condition = node.field_text("condition", text);
                let never = condition.ends_with("TYPE_CHECKING") || condition.contains("__name__");
                let mut branches = Vec::new();
                for branch in node.named() {
                    if matches!(branch.kind(), "block" | "elif_clause" | "else_clause") {
                        let mut bound = BTreeSet::new();
                        bind_all(branch, text, blocks + 1, &mut bound)?;
                        branches.push((branch.kind(), bound));
                    }
                }
                let whole = branches.iter().any(|(kind, _)| *kind == "else_clause");
                let mut branches = branches
                    .into_iter()
                    .filter(|(kind, _)| !(never && *kind == "block"))
                    .map(|(_, bound)| bound);
                if whole && let Some(first) = branches.next() {
                    let all = branches.fold(first, |all, one| &all & &one);
                    found.extend(all);
                }
            }
            "delete_statement" => {
                for target in node.named() {
                    for one in target.named().chain([target]) {
                        found.remove(&text_of(one, text));
                    }
                }
            }
            "import_statement" | "import_from_statement" => {
                for taken in node.fields("name") {
                    let name = taken.field("alias").unwrap_or(taken);
                    let name = text_of(name, text);
                    found.extend(name.split('.').next().map(str::to_owned));
                }
                if node.named().any(|it| it.kind() == "wildcard_import") {
                    return None;
                }
            }
            "try_statement"
            | "except_clause"
            | "except_group_clause"
            | "finally_clause"
            | "else_clause"
            | "elif_clause"
            | "while_statement"
            | "with_statement"
            | "block"
            | "match_statement"
            | "case_clause"
            | "ERROR" => {
                bind_all(node, text, blocks + 1, found)?;
            }
            _ => {
                found.extend(names(&PYTHON.tags, node, text));
                if node.kind() == "for_statement" {
                    bind_all(node, text, blocks + 1, found)?;
                }
            }
        }
    }
    Some(())
}
