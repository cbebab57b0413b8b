//! Inserts an import into a file, in its own style.

use super::facts::Code;
use super::language::Language;
use super::literal::Syntax;
use super::resolver::Resolver;
use super::statements::{Statement, leading_imports, statements};
use crate::model::{FileFacts, RepoPath, Suggestion};

/// A file into which an import is inserted.
pub struct Page<'p> {
    /// Its text.
    pub text: &'p str,
    /// The imports and definitions of the text.
    pub facts: &'p FileFacts,
    /// Resolves its imports.
    pub resolver: &'p Resolver<'p>,
    /// Its path.
    pub file: &'p RepoPath,
}

/// Returns the text with one more import, written as a statement of its own below the other imports
/// of the file, relative ones below relative ones; in a file without imports below its shebang,
/// license comment, docstring and directives. `None` for a component or page without imports,
/// whose script cannot be located.
pub fn inserted(page: &Page<'_>, one: &Suggestion) -> Option<String> {
    let language = Language::of_path(page.file.as_str())?;
    let line = (language.editing.as_ref()?.import_line)(page, one);
    let all = statements(page.file, page.text, page.facts);
    let leading = leading_imports(page.text, &all);
    let (Some(first), Some(last)) = (leading.first(), leading.last()) else {
        return page.with_first_import(&line);
    };
    if one.module == "__future__" {
        return Some(page.with_line_above(first, &line));
    }
    let peer = leading.iter().rfind(|statement| {
        let import = statement.imports.first();
        import
            .is_some_and(|import| import.specifier.starts_with('.') == one.module.starts_with('.'))
    });
    Some(page.with_line_below(peer.unwrap_or(last), &line))
}

impl Page<'_> {
    fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn with_line_above(&self, statement: &Statement<'_>, line: &str) -> String {
        let mut out = self.text.to_owned();
        let added = format!("{line}{}{}", self.line_end(), self.indent(statement));
        out.insert_str(statement.span.start, &added);
        out
    }

    fn with_line_below(&self, statement: &Statement<'_>, line: &str) -> String {
        let mut out = self.text.to_owned();
        let span = self.text.get(..statement.span.end).unwrap_or_default();
        let end = span.strip_suffix('\r').unwrap_or(span).len();
        let added = format!("{}{}{line}", self.line_end(), self.indent(statement));
        out.insert_str(end, &added);
        out
    }

    // The white space before a statement on its line.
    fn indent(&self, statement: &Statement<'_>) -> &str {
        let head = self.text.get(..statement.span.start).unwrap_or_default();
        let start = head.rfind('\n').map_or(0, |at| at + 1);
        head.get(start..).unwrap_or_default()
    }

    // The line below the header, with a blank line on each side that has code or comments.
    fn with_first_import(&self, line: &str) -> Option<String> {
        let at = header_end(self.file, self.text)?;
        let (head, rest) = self.text.split_at_checked(at)?;
        let end = self.line_end();
        let mut out = head.trim_end().to_owned();
        if !out.is_empty() {
            out = format!("{out}{end}{end}");
        }
        out.push_str(line);
        out.push_str(end);
        if !rest.is_empty() && !rest.starts_with(['\n', '\r']) {
            out.push_str(end);
        }
        out.push_str(rest);
        Some(out)
    }
}

// The byte below the shebang, the comments that are apart from the code, and the docstring or the
// directives of a file.
fn header_end(file: &RepoPath, text: &str) -> Option<usize> {
    let code = Code::read(file, text.as_bytes())?;
    if code.is_embedded() {
        return None;
    }
    let tree = code.tree()?;
    let nodes: Vec<_> = tree.root_node().named().collect();
    let (mut end, mut pending) = (0, 0);
    for (at, node) in nodes.iter().enumerate() {
        let below = text.get(node.end_byte()..)?;
        let line_end = node.end_byte() + below.find('\n').map_or(below.len(), |line| line + 1);
        let is_string = node
            .named_child(0)
            .is_some_and(|child| child.kind() == "string" && node.named_child_count() == 1);
        match node.kind() {
            "hash_bang_line" => end = line_end,
            "comment" => {
                pending = line_end;
                let next = nodes.get(at + 1).map(|next| next.start_position().row);
                let is_apart = next.is_none_or(|row| row > node.end_position().row + 1);
                let is_shebang = at == 0 && text.starts_with("#!");
                if is_apart || is_shebang {
                    end = line_end;
                }
            }
            "expression_statement" if is_string => end = line_end.max(pending),
            _ => break,
        }
    }
    Some(end)
}
