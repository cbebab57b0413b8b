use std::ops::Range;

use tree_sitter::Tree;

use crate::languages::literal::{line_of, next};
use crate::model::ParseProblem;

/// What Python refuses of a text that its grammar takes: indents that fit no block, a header
/// without a block, and `return`, `break` and `continue` where nothing returns or loops.
pub(super) fn layout_errors(tree: &Tree, text: &[u8]) -> Vec<ParseProblem> {
    let (opaque, mut problems) = walk_lines(tree);
    let mut lines = Lines {
        text,
        opaque: &opaque,
        at: if text.starts_with("\u{feff}".as_bytes()) {
            3
        } else {
            0
        },
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
    while let Some(line) = lines.next() {
        let top = levels.last().copied().unwrap_or_default();
        let deeper = line.indent > top;
        if header.is_some() && !deeper {
            found(line.start, "an indented block is expected");
        }
        if deeper {
            if header.is_none() {
                found(line.start, "an indent that nothing asks for");
            }
            levels.push(line.indent);
        } else {
            levels.retain(|level| *level <= line.indent);
            if levels.last() != Some(&line.indent) {
                found(line.start, "the indent is that of no block above");
                levels.push(line.indent);
            }
        }
        header = line.is_header.then_some(line.start);
    }
    if let Some(at) = header {
        found(at, "an indented block is expected");
    }
    problems.sort_by_key(|problem| problem.line);
    problems
}

struct LogicalLine {
    start: usize,
    // Its width, with tabs to the next multiple of eight.
    indent: usize,
    is_header: bool,
}

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
                return Some(LogicalLine {
                    start,
                    indent,
                    is_header: last == b':',
                });
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

// The strings and comments, and the statements that stand where they mean nothing.
fn walk_lines(tree: &Tree) -> (Vec<Range<usize>>, Vec<ParseProblem>) {
    let mut opaque = Vec::new();
    let mut problems = Vec::new();
    let mut cursor = tree.walk();
    // Whether a function and a loop are around, a row for each level.
    let mut around = vec![(false, false)];
    loop {
        let node = cursor.node();
        let (function, repeats) = around.last().copied().unwrap_or_default();
        let mut stray = |is_stray: bool, message: &str| {
            if is_stray {
                problems.push(ParseProblem::new(line_of(node), message));
            }
        };
        let inside = match node.kind() {
            "string" | "comment" => {
                opaque.push(node.byte_range());
                None
            }
            "function_definition" | "lambda" => Some((true, false)),
            "class_definition" => Some((false, false)),
            "for_statement" | "while_statement" => Some((function, true)),
            "return_statement" => {
                stray(!function, "`return` outside of a function");
                Some((function, repeats))
            }
            "break_statement" | "continue_statement" => {
                stray(!repeats, "`break` or `continue` outside of a loop");
                None
            }
            _ => Some((function, repeats)),
        };
        let here = inside.unwrap_or_default();
        if !next(&mut cursor, inside.is_some(), &mut around, here) {
            return (opaque, problems);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::languages::syntax_errors;
    use crate::model::RepoPath;

    #[test]
    fn what_python_refuses_is_an_error_though_the_grammar_takes_it() {
        let path = RepoPath::new("a.py").unwrap();
        let errors = |text: &str| syntax_errors(&path, text.as_bytes());
        for (text, line, expected) in [
            ("for a in b:\nif a:\n        c()\n", 2, "expected"),
            ("if a:\n    b()\n      c()\n", 3, "nothing asks"),
            ("if a:\n        b()\n    c()\n", 3, "no block"),
            ("def f():\n", 1, "expected"),
            ("def f():\n    # only this\n", 1, "expected"),
            ("class A:\n    return 1\n", 2, "outside"),
            ("for a in b:\n    def f():\n        break\n", 3, "outside"),
            ("\u{feff}a\n b\n", 2, "nothing asks"),
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
