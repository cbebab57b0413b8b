//! Finds the syntax node at a byte. Look-ups are bounded together, so that hostile nesting cannot stall
//! a parse.

use tree_sitter::{Node, Tree, TreeCursor};

use crate::model::ParseProblem;

/// Finds what is at a byte of a tree. A look-up costs the depth of the place, not the size of
/// the tree, and all look-ups together are bounded.
pub(super) struct Finder<'t> {
    root: Node<'t>,
    cursor: TreeCursor<'t>,
    nodes: Vec<Node<'t>>,
    steps: usize,
}

impl<'t> Finder<'t> {
    pub(super) fn new(tree: &'t Tree) -> Self {
        Self {
            root: tree.root_node(),
            cursor: tree.walk(),
            nodes: Vec::new(),
            steps: 0,
        }
    }

    /// The nodes that contain the byte, outermost first, without the root. `None` when the limit of
    /// look-ups is reached.
    pub(super) fn at(&mut self, offset: usize) -> Option<&[Node<'t>]> {
        // Steps down one tree; a large hand-written file needs a hundredth of it.
        if self.steps > 3_000_000 {
            return None;
        }
        self.nodes.clear();
        self.cursor.reset(self.root);
        // Nodes looked at above one byte. Deeper nesting is cut off.
        while self.nodes.len() < 400 && self.cursor.goto_first_child_for_byte(offset).is_some() {
            self.steps += 1;
            let node = self.cursor.node();
            if node.start_byte() > offset {
                break;
            }
            self.nodes.push(node);
        }
        Some(&self.nodes)
    }

    /// What to say when [`Finder::at`] gave up.
    pub(super) fn exhausted() -> ParseProblem {
        ParseProblem::new(
            0,
            "too many import-like words at too great a depth: some were not read",
        )
    }
}
