//! Finds indentation errors that the grammar accepts and Python refuses.

use std::ops::Range;

use tree_sitter::Tree;

use crate::languages::literal::{line_of, next};
use crate::model::ParseProblem;

/// What Python refuses of a text that its grammar takes: indents that fit no block, a header
/// without a block, and `return` where nothing returns.
pub(super) fn layout_errors(tree: &Tree, text: &[u8]) -> Vec<ParseProblem> {
    let (opaque, mut problems) = walk_lines(tree);
    let mut lines = Lines {
        text,
        opaque: &opaque,
        at: 3 * usize::from(text.starts_with("\u{feff}".as_bytes())),
    };
    let mut levels = vec![0];
    let mut header = None;
    let (mut line, mut counted) = (1, 0);
    let mut found = |at: usize, message: &str| {
        let between = text.get(counted..at).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', between).count() as u32;
        counted = counted.max(at);
        problems.push(ParseProblem::new(line, message));
    };
    while let Some((start, indent, is_header)) = lines.next() {
        let top = levels.last().copied().unwrap_or_default();
        let deeper = indent > top;
        if header.is_some() && !deeper {
            found(start, "expected an indented block");
        }
        if deeper {
            if header.is_none() {
                found(start, "unexpected indent");
            }
            levels.push(indent);
        } else {
            levels.retain(|level| *level <= indent);
            if levels.last() != Some(&indent) {
                found(start, "the dedent matches no outer block");
                levels.push(indent);
            }
        }
        header = is_header.then_some(start);
    }
    if let Some(at) = header {
        found(at, "expected an indented block");
    }
    problems.sort_by_key(|problem| problem.line);
    problems
}

// Where a line starts, the width of its indent, with tabs to the next multiple of eight, and whether it is a header.
type LogicalLine = (usize, usize, bool);

// Lines as Python counts them: without what is blank, and with what brackets and backslashes join.
struct Lines<'t> {
    text: &'t [u8],
    // Strings and comments from `at` on, in order.
    opaque: &'t [Range<usize>],
    at: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<LogicalLine> {
        loop {
            let mut indent = 0;
            loop {
                match self.text.get(self.at)? {
                    b' ' => indent += 1,
                    b'\t' => indent = indent / 8 * 8 + 8,
                    b'\x0c' => indent = 0,
                    _ => break,
                }
                self.at += 1;
            }
            let start = self.at;
            if let Some(last) = self.rest() {
                return Some((start, indent, last == b':'));
            }
        }
    }

    // Reads to the end of the logical line; the last byte of code in it, if there is code.
    fn rest(&mut self) -> Option<u8> {
        let mut depth = 0_usize;
        let mut last = None;
        while let Some(&byte) = self.text.get(self.at) {
            if let Some(range) = self.opaque.first().filter(|range| range.start <= self.at) {
                if byte != b'#' {
                    last = Some(b'"');
                }
                self.at = self.at.max(range.end);
                self.opaque = self.opaque.get(1..).unwrap_or_default();
                continue;
            }
            self.at += 1;
            match byte {
                b'\n' if depth == 0 => break,
                b'\r' if depth == 0 && self.text.get(self.at) != Some(&b'\n') => break,
                b'\\' => {
                    self.at += usize::from(self.text.get(self.at) == Some(&b'\r'));
                    self.at += usize::from(self.text.get(self.at) == Some(&b'\n'));
                }
                _ if byte.is_ascii_whitespace() => continue,
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            last = Some(byte);
        }
        last
    }
}

const OUTSIDE: &str = "`return` outside of a function";

// The strings and comments, and each `return` without a function around it.
fn walk_lines(tree: &Tree) -> (Vec<Range<usize>>, Vec<ParseProblem>) {
    let mut opaque = Vec::new();
    let mut problems = Vec::new();
    let mut cursor = tree.walk();
    // Whether a function is around, a row for each level.
    let mut around = vec![false];
    loop {
        let node = cursor.node();
        let function = around.last().copied().unwrap_or_default();
        let kind = node.kind();
        let is_opaque = matches!(kind, "string" | "comment");
        opaque.extend(is_opaque.then(|| node.byte_range()));
        if kind == "return_statement" && !function {
            problems.push(ParseProblem::new(line_of(node), OUTSIDE));
        }
        let inside = match kind {
            "function_definition" | "lambda" => true,
            "class_definition" => false,
            _ => function,
        };
        if !next(&mut cursor, !is_opaque, &mut around, inside) {
            return (opaque, problems);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::languages::syntax_errors;
    use crate::model::RepoPath;

    #[test]
    fn reports_errors_grammar_accepts() {
        let path = RepoPath::new("a.py").unwrap();
        let errors = |text: &str| syntax_errors(&path, text.as_bytes());
        for (text, line, expected) in [
            ("for a in b:\nif a:\n        c()\n", 2, "expected"),
            ("if a:\n    b()\n      c()\n", 3, "unexpected indent"),
            ("if a:\n        b()\n    c()\n", 3, "matches no outer"),
            ("def f():\n", 1, "expected"),
            ("def f():\n    # only this\n", 1, "expected"),
            ("class A:\n    return 1\n", 2, "outside"),
            ("\u{feff}a\n b\n", 2, "unexpected indent"),
        ] {
            let found = errors(text);
            let first = found.first().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(first.line, line, "{text}{first:?}");
            assert!(first.message.contains(expected), "{text}{first:?}");
        }
        for text in [
            "if a:\n\tb()\n\n# c\n\telse_()\nelse: c()\nx = {\n'a':\n1}\n",
            "def f(a,\nb):  # c:\n  '''d:\n e'''\n  return \\\n a\n",
            "for a in b:\n    if a: break\n    while c:\n        continue\nelse:\n    pass\n",
            "x = lambda: (yield)\r\nif x:\r\n    y = f'{x!r:>3}'\r\n",
            "\x0cdef f():\n    return 1\n\x0c\nclass B: pass\n",
            "    # c\nif x:\n    y  # z:\n  # w\n    z",
        ] {
            assert_eq!(errors(text), [], "{text}");
        }
    }
}
