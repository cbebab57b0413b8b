use std::collections::BTreeSet;

use tree_sitter::Node;

use super::language::PYTHON;
use crate::languages::literal::Syntax;
use crate::languages::literal::text_of;
use crate::languages::tags::bound_names;

/// Statement blocks inside statement blocks that are looked into.
const MAX_BLOCKS: usize = 32;

/// The names that a module binds whatever happens while it is loaded, imports included: none that
/// stands below a branch or a loop, and none that is deleted. `None` when a star binds
/// others, or the module answers for names itself.
pub(crate) fn always_bound(module: Node<'_>, text: &[u8]) -> Option<BTreeSet<String>> {
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
            // Below one branch alone nothing is bound for certain.
            "while_statement" | "for_statement" | "match_statement" => {}
            "if_statement" => {
                let mut branches = Vec::new();
                let is_branch =
                    |kind: &str| matches!(kind, "block" | "elif_clause" | "else_clause");
                for branch in node.named().filter(|branch| is_branch(branch.kind())) {
                    let mut bound = BTreeSet::new();
                    bind_all(branch, text, blocks + 1, &mut bound)?;
                    branches.push(bound);
                }
                let is_whole = node.named().any(|branch| branch.kind() == "else_clause");
                let all = branches.into_iter().reduce(|all, one| &all & &one);
                found.extend(all.filter(|_| is_whole).into_iter().flatten());
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
                if node.named().any(|child| child.kind() == "wildcard_import") {
                    return None;
                }
            }
            "try_statement"
            | "except_clause"
            | "except_group_clause"
            | "finally_clause"
            | "else_clause"
            | "with_statement"
            | "block"
            | "ERROR" => {
                bind_all(node, text, blocks + 1, found)?;
            }
            _ => found.extend(bound_names(&PYTHON.tags, node, text)),
        }
    }
    Some(())
}
