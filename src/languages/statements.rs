use std::ops::Range;

use tree_sitter::Node;

use super::literal::Syntax;

use super::facts::Code;
use super::finder::Finder;
use super::names::Names;
use crate::model::{FileFacts, Import, ImportKind, RepoPath};

/// An import statement at the top level of a file.
pub(super) struct Statement<'f> {
    /// Bytes from the first to the end of the last line, without its line end.
    pub(super) span: Range<usize>,
    /// The imports it holds; empty for `from __future__`.
    pub(super) imports: Vec<&'f Import>,
    /// The list of names that it takes.
    pub(super) names: Option<Names>,
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
    let own = |import: &&Import| {
        let kinds = [
            ImportKind::Import,
            ImportKind::From,
            ImportKind::ImportEquals,
        ];
        !import.nested && (kinds.contains(&import.kind) || import.kind == ImportKind::Require)
    };
    let editing = code.language.editing.as_ref();
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
        let line = text
            .get(..start)
            .and_then(|head| head.rfind('\n'))
            .map_or(0, |at| at + 1);
        let blank = text.get(line..start).is_some_and(|it| it.trim().is_empty());
        let row = node.start_position().row + 1;
        let imports: Vec<&Import> = facts
            .imports
            .iter()
            .filter(own)
            .filter(|it| it.line as usize == row && (it.kind == ImportKind::Require) == required)
            .collect();
        if blank && (!imports.is_empty() || kind == "future_import_statement") {
            let below = text.get(node.end_byte()..).unwrap_or_default();
            let end = below
                .find('\n')
                .map_or(text.len(), |at| node.end_byte() + at);
            found.push(Statement {
                span: start..end,
                imports,
                names: editing.and_then(|it| (it.names)(node)),
            });
        }
    }
    found
}

/// The list of names in the statement that holds the first word of a line, 1-based.
pub(super) fn names_on(file: &RepoPath, text: &str, line: u32) -> Option<Names> {
    let code = Code::read(file, text.as_bytes())?;
    let editing = code.language.editing.as_ref()?;
    let tree = code.tree()?;
    let above = text
        .split_inclusive('\n')
        .take((line as usize).checked_sub(1)?);
    let start: usize = above.map(str::len).sum();
    let rest = text.get(start..)?;
    let at = start + rest.len() - rest.trim_start().len();
    let mut finder = Finder::new(&tree);
    let mut nodes = finder.at(at)?.iter();
    nodes.find_map(|node| (editing.names)(*node))
}

/// Runs of statements with nothing but comments and single blank lines between them, as ranges of
/// their numbers; a blank line ends a block. Only the blocks that belong together from the first
/// statement on are given: code between ends the region.
pub(super) fn blocks(text: &str, statements: &[Statement<'_>]) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut last_end = None;
    for (at, statement) in statements.iter().enumerate() {
        let between = last_end.map(|end| text.get(end..statement.span.start).unwrap_or_default());
        let code = |line: &str| {
            let line = line.trim();
            !(line.is_empty()
                || ["#", "//", "/*", "*"]
                    .iter()
                    .any(|mark| line.starts_with(mark)))
        };
        match (between, blocks.last_mut()) {
            (Some(between), _) if between.lines().any(code) => break,
            (Some(between), Some(block))
                if !between.lines().skip(1).any(|line| line.trim().is_empty()) =>
            {
                block.end = at + 1;
            }
            _ => blocks.push(at..at + 1),
        }
        last_end = Some(statement.span.end);
    }
    blocks
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Names, blocks, names_on, statements};
    use crate::languages::facts;
    use crate::model::RepoPath;

    pub(in crate::languages) fn names(file: &str, text: &str) -> Names {
        names_on(&RepoPath::new(file).unwrap(), text, 1).unwrap()
    }

    #[test]
    fn statements_end_where_they_end() {
        let text = "from __future__ import annotations\n\nimport a\nfrom b import (  # x)\n    c,\n)\nfrom d \\\n    import e\n\nimport f, g\nx = 1\nimport h\n";
        let own = facts(&RepoPath::new("a.py").unwrap(), text.as_bytes());
        let found = statements(&RepoPath::new("a.py").unwrap(), text, &own);
        let texts: Vec<&str> = found.iter().map(|one| &text[one.span.clone()]).collect();
        assert_eq!(texts.len(), 6);
        assert_eq!(texts[2], "from b import (  # x)\n    c,\n)");
        assert_eq!(texts[3], "from d \\\n    import e");
        assert_eq!(blocks(text, &found), [0..1, 1..4, 4..5]);
        let text =
            "import {\n  a, // it's\n} from './a'\nimport b from 'b';\n\nconst c = require('c')\n";
        let own = facts(&RepoPath::new("a.ts").unwrap(), text.as_bytes());
        let found = statements(&RepoPath::new("a.ts").unwrap(), text, &own);
        assert_eq!(blocks(text, &found), [0..2, 2..3]);
    }
}
