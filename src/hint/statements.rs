use std::ops::Range;

use crate::model::{FileFacts, Import, ImportKind};

/// An import statement at the top level of a file.
pub(super) struct Statement<'f> {
    /// Bytes from the first to the end of the last line, without its line end.
    pub(super) span: Range<usize>,
    /// The imports it holds; empty for `from __future__`.
    pub(super) imports: Vec<&'f Import>,
}

/// The import statements at the top level, in source order. `lines` are the starts of all lines.
pub(super) fn statements<'f>(text: &str, facts: &'f FileFacts, python: bool) -> Vec<Statement<'f>> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
        .collect();
    let mut found: Vec<Statement<'f>> = Vec::new();
    if python {
        for start in &starts {
            let line = text.get(*start..).unwrap_or_default();
            if line.starts_with("from __future__") {
                found.push(Statement {
                    span: *start..end(text, *start, true),
                    imports: Vec::new(),
                });
            }
        }
    }
    let wanted = facts.imports.iter().filter(|import| {
        !import.nested
            && matches!(
                import.kind,
                ImportKind::Import
                    | ImportKind::From
                    | ImportKind::ImportEquals
                    | ImportKind::Require
            )
    });
    for import in wanted {
        let Some(start) = starts.get((import.line as usize).saturating_sub(1)) else {
            continue;
        };
        let line = text.get(*start..).unwrap_or_default();
        // The script of a component is indented as a whole.
        let bare = line.trim_start_matches([' ', '\t']);
        let indent = if python { 0 } else { line.len() - bare.len() };
        let (start, line) = (&(start + indent), line.get(indent..).unwrap_or_default());
        let heads: &[&str] = match (python, import.kind) {
            (true, _) => &["import ", "from "],
            (_, ImportKind::Require) => &["const ", "let ", "var "],
            _ => &["import ", "import{", "import*", "import\"", "import'"],
        };
        if !heads.iter().any(|head| line.starts_with(head)) {
            continue;
        }
        match found.iter_mut().find(|one| one.span.start == *start) {
            Some(one) => one.imports.push(import),
            None => found.push(Statement {
                span: *start..end(text, *start, python),
                imports: vec![import],
            }),
        }
    }
    found.sort_by_key(|one| one.span.start);
    found
}

// The end of the line on which the statement ends: no bracket is open, no backslash continues it,
// and a script's specifier has been read.
fn end(text: &str, start: usize, python: bool) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut quote, mut strings) = (0_usize, None, 0_usize);
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        match (quote, *byte) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), b'\\') => at += 1,
            (Some(_), b'\n') => quote = None,
            (None, b'"' | b'\'') => {
                quote = Some(*byte);
                strings += 1;
            }
            (None, b'(' | b'{' | b'[') => depth += 1,
            (None, b')' | b'}' | b']') => depth = depth.saturating_sub(1),
            (None, b'#') if python => at += to_line_end(rest).saturating_sub(1),
            (None, b'/') if !python && rest.starts_with(b"//") => {
                at += to_line_end(rest).saturating_sub(1);
            }
            (None, b'\n') => {
                let continued = bytes.get(..at).is_some_and(|head| head.ends_with(b"\\"));
                if depth == 0 && !continued && (python || strings > 0) {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn to_line_end(rest: &[u8]) -> usize {
    memchr::memchr(b'\n', rest).unwrap_or(rest.len()).max(1)
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
mod tests {
    use super::{blocks, statements};
    use crate::languages::facts;
    use crate::model::RepoPath;

    #[test]
    fn statements_end_where_they_end() {
        let text = "from __future__ import annotations\n\nimport a\nfrom b import (  # x)\n    c,\n)\nfrom d \\\n    import e\n\nimport f, g\nx = 1\nimport h\n";
        let facts = facts(&RepoPath::new("a.py").unwrap(), text.as_bytes());
        let found = statements(text, &facts, true);
        let texts: Vec<&str> = found.iter().map(|one| &text[one.span.clone()]).collect();
        assert_eq!(texts.len(), 6);
        assert_eq!(texts[2], "from b import (  # x)\n    c,\n)");
        assert_eq!(texts[3], "from d \\\n    import e");
        assert_eq!(blocks(text, &found), [0..1, 1..4, 4..5]);
        let text =
            "import {\n  a, // it's\n} from './a'\nimport b from 'b';\n\nconst c = require('c')\n";
        let facts = crate::languages::facts(&RepoPath::new("a.ts").unwrap(), text.as_bytes());
        let found = statements(text, &facts, false);
        assert_eq!(blocks(text, &found), [0..2, 2..3]);
    }
}
