use tree_sitter::{Node, TreeCursor};

/// Nodes of a tree above one byte, outermost first. Hostile nesting is cut off at this depth.
const MAX_DEPTH: usize = 600;

/// Descends to the byte at `offset`; the path starts with the root's child.
///
/// Every look-up costs the depth of the place, not the size of the tree.
pub(super) fn to_byte<'t>(
    cursor: &mut TreeCursor<'t>,
    root: Node<'t>,
    offset: usize,
    path: &mut Vec<Node<'t>>,
) {
    path.clear();
    cursor.reset(root);
    while path.len() < MAX_DEPTH && cursor.goto_first_child_for_byte(offset).is_some() {
        let node = cursor.node();
        if node.start_byte() > offset {
            return;
        }
        path.push(node);
    }
}
