//! Lists the import statements of a file.

use std::ops::Range;

use tree_sitter::Node;

use super::literal::Syntax;

use super::facts::Code;
use crate::model::{FileFacts, Import, ImportKind, RepoPath};

/// An import statement at the top level of a file.
pub(super) struct Statement<'f> {
    /// Bytes from the first to the end of the last line, without its line end.
    pub(super) span: Range<usize>,
    /// The imports it holds; empty for `from __future__`.
    pub(super) imports: Vec<&'f Import>,
}

/// The import statements at the top level, in source order.
pub(super) fn statements<'f>(
    file: &RepoPath,
    text: &str,
    facts: &'f FileFacts,
) -> Vec<Statement<'f>> {
    let Some(code) = Code::read(file, text.as_bytes()) else {
        return Vec::new();
    };
    let Some(tree) = code.tree() else {
        return Vec::new();
    };
    let mut found: Vec<Statement<'f>> = Vec::new();
    let root = tree.root_node();
    // What an error holds at the top level counts as well.
    let mut nodes: Vec<Node<'_>> = Vec::new();
    for node in root.named() {
        if node.is_error() {
            nodes.extend(node.named_children(&mut node.walk()));
        } else {
            nodes.push(node);
        }
    }
    for node in nodes {
        let kind = node.kind();
        let required = matches!(kind, "lexical_declaration" | "variable_declaration");
        if !required && !kind.starts_with("import_") && kind != "future_import_statement" {
            continue;
        }
        let start = node.start_byte();
        let line = text.get(..start).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
        let blank = text.get(line..start).is_some_and(|head| head.trim().is_empty());
        let row = node.start_position().row + 1;
        let imports: Vec<&Import> = facts
            .imports
            .iter()
            .filter(|import| {
                let kinds = [
                    ImportKind::Import,
                    ImportKind::From,
                    ImportKind::ImportEquals,
                ];
                !import.nested
                    && (kinds.contains(&import.kind) || import.kind == ImportKind::Require)
            })
            .filter(|one| one.line as usize == row && (one.kind == ImportKind::Require) == required)
            .collect();
        if blank && (!imports.is_empty() || kind == "future_import_statement") {
            let below = text.get(node.end_byte()..).unwrap_or_default();
            let end = below.find('\n').map_or(text.len(), |at| node.end_byte() + at);
            found.push(Statement {
                span: start..end,
                imports,
            });
        }
    }
    found
}

/// Returns the statements from the first one on that only comments and blank lines separate.
pub(super) fn leading_imports<'s, 'f>(
    text: &str,
    statements: &'s [Statement<'f>],
) -> &'s [Statement<'f>] {
    const COMMENTS: &[&str] = &["#", "//", "/*", "*"];
    let end = statements.windows(2).position(|pair| match pair {
        [above, below] => {
            let between = text.get(above.span.end..below.span.start);
            between.unwrap_or_default().lines().any(|line| {
                let line = line.trim();
                !line.is_empty() && !COMMENTS.iter().any(|mark| line.starts_with(mark))
            })
        }
        _ => false,
    });
    let end = end.map_or(statements.len(), |at| at + 1);
    statements.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{leading_imports, statements};
    use crate::languages::facts;
    use crate::model::RepoPath;

    #[test]
    fn finds_ends_of_statements() {
        let text = "from __future__ import annotations\n\nimport a\nfrom b import (  # x)\n    c,\n)\nfrom d \\\n    import e\n\nimport f, g\nx = 1\nimport h\n";
        let own = facts(&RepoPath::new("a.py").unwrap(), text.as_bytes());
        let found = statements(&RepoPath::new("a.py").unwrap(), text, &own);
        let texts: Vec<&str> = found.iter().map(|one| &text[one.span.clone()]).collect();
        assert_eq!(texts.len(), 6);
        assert_eq!(texts[2], "from b import (  # x)\n    c,\n)");
        assert_eq!(texts[3], "from d \\\n    import e");
        assert_eq!(leading_imports(text, &found).len(), 5);
        let text =
            "import {\n  a, // it's\n} from './a'\nimport b from 'b';\n\nconst c = require('c')\n";
        let own = facts(&RepoPath::new("a.ts").unwrap(), text.as_bytes());
        let found = statements(&RepoPath::new("a.ts").unwrap(), text, &own);
        assert_eq!(leading_imports(text, &found).len(), 3);
    }
}
