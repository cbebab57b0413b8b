use memchr::memmem;

use super::dotted::{is_dotted, is_name};

/// The text of a Python file without what its functions and classes hold that says nothing of
/// imports: no `import`, no string that could name a module. What stands around a line that does
/// stays. All lines keep their numbers, so the tree of it tells the same facts for a fraction of
/// the work. `None` when the lines cannot be told apart.
pub(super) fn quieted(text: &[u8]) -> Option<Vec<u8>> {
    let mut statements = statements(text)?;
    keep_what_is_around(&mut statements);
    keep_what_belongs_together(&mut statements);
    let mut out = Vec::with_capacity(text.len());
    let mut written = 0;
    let mut statements = statements.iter().peekable();
    while let Some(first) = statements.next() {
        if first.kept {
            continue;
        }
        let (start, mut end) = (first.start, first.end);
        while let Some(next) = statements.next_if(|it| !it.kept && it.indent >= first.indent) {
            end = next.end;
        }
        // One expression in the place of all, as many lines long.
        out.extend_from_slice(text.get(written..start)?);
        let breaks = memchr::memchr_iter(b'\n', text.get(start..end)?).count();
        if breaks == 0 {
            out.push(b'0');
        } else {
            out.push(b'(');
            out.resize(out.len() + breaks, b'\n');
            out.push(b')');
        }
        written = end;
    }
    out.extend_from_slice(text.get(written..)?);
    Some(out)
}

/// A statement, or the header of one.
struct Statement<'t> {
    start: usize,
    end: usize,
    indent: usize,
    text: &'t [u8],
    kept: bool,
}

fn statements(text: &[u8]) -> Option<Vec<Statement<'_>>> {
    let mut lines = Lines { text, at: 0 };
    let mut inside = false;
    let mut found = Vec::new();
    while let Some(line) = lines.next()? {
        let start = line.start + line.indent;
        let statement = text.get(start..line.end)?.trim_ascii_end();
        if statement.is_empty() || statement.first() == Some(&b'#') {
            continue;
        }
        let code = text.get(start..line.code)?;
        if line.indent == 0 {
            inside = is_definition(statement);
        }
        found.push(Statement {
            start,
            end: start + statement.len(),
            indent: line.indent,
            text: statement,
            kept: !inside || line.indent == 0 || is_telling(code),
        });
    }
    Some(found)
}

// The headers above what is kept, and the clauses before a clause.
fn keep_what_is_around(statements: &mut [Statement<'_>]) {
    let mut inner = 0;
    let mut clauses: Vec<usize> = Vec::new();
    for one in statements.iter_mut().rev() {
        clauses.retain(|indent| *indent <= one.indent);
        let opens = clauses.last() == Some(&one.indent);
        if one.kept || opens || one.indent < inner {
            one.kept = true;
            inner = one.indent;
            clauses.retain(|indent| *indent != one.indent);
            if is_clause(one.text) {
                clauses.push(one.indent);
            }
        }
    }
}

// The clauses behind a header, and what a decorator decorates.
fn keep_what_belongs_together(statements: &mut [Statement<'_>]) {
    let mut headers: Vec<usize> = Vec::new();
    let mut decorated = false;
    for one in statements {
        headers.retain(|indent| *indent <= one.indent);
        let belongs = headers.last() == Some(&one.indent) && is_clause(one.text);
        one.kept |= belongs || decorated;
        headers.retain(|indent| *indent != one.indent);
        if one.kept {
            headers.push(one.indent);
        }
        decorated = one.kept && one.text.first() == Some(&b'@');
    }
}

fn is_clause(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| !byte.is_ascii_alphabetic());
    let word = text.get(..end.unwrap_or(text.len()));
    matches!(
        word,
        Some(b"elif" | b"else" | b"except" | b"finally" | b"case")
    )
}

fn is_definition(text: &[u8]) -> bool {
    ["def ", "class ", "async "]
        .iter()
        .any(|word| text.starts_with(word.as_bytes()))
}

// What may be an import.
fn is_telling(code: &[u8]) -> bool {
    memmem::find(code, b"import").is_some() || names_module(code)
}

fn names_module(code: &[u8]) -> bool {
    memchr::memchr2_iter(b'"', b'\'', code).any(|quote| {
        let rest = code.get(quote + 1..).unwrap_or_default();
        let end = rest.iter().position(|byte| !is_dotted(*byte));
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        end.and_then(|end| rest.get(end)) == code.get(quote) && is_name(name)
    })
}

// Logical lines: strings, brackets and escaped line ends hold physical lines together.
struct Lines<'t> {
    text: &'t [u8],
    at: usize,
}

struct Line {
    start: usize,
    // Without its line end.
    end: usize,
    // Without the comment at its end.
    code: usize,
    indent: usize,
}

impl Lines<'_> {
    // The outer option is the failure to tell lines apart, the inner one the end.
    #[expect(clippy::option_option, reason = "no line, no end, in one")]
    fn next(&mut self) -> Option<Option<Line>> {
        let text = self.text;
        let start = self.at;
        if start >= text.len() {
            return Some(None);
        }
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0c');
        let indent = text
            .get(start..)?
            .iter()
            .take_while(|byte| blank(byte))
            .count();
        let mut depth = 0_usize;
        let mut comment = None;
        let mut at = start + indent;
        while let Some(byte) = text.get(at) {
            match byte {
                b'\n' if depth == 0 => break,
                b'\\' => {
                    at += if text.get(at + 1) == Some(&b'\r') {
                        2
                    } else {
                        1
                    }
                }
                b'#' => {
                    if depth == 0 {
                        comment = Some(at);
                    }
                    at = memchr::memchr(b'\n', text.get(at..)?).map_or(text.len(), |it| at + it);
                    continue;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
                b'"' | b'\'' => {
                    at = string_end(text, at)?;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        if depth > 0 {
            return None;
        }
        let end = at.min(text.len());
        self.at = end + 1;
        Some(Some(Line {
            start,
            end,
            code: comment.unwrap_or(end),
            indent,
        }))
    }
}

// Behind the string that starts at a quote. `None` when it does not end.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let quote = *text.get(start)?;
    let triple = [quote; 3];
    let long = text.get(start..)?.starts_with(&triple);
    let mut at = start + if long { 3 } else { 1 };
    loop {
        let found = memchr::memchr3(quote, b'\\', b'\n', text.get(at..)?)?;
        at += found;
        match text.get(at)? {
            b'\\' => at += 2,
            b'\n' if !long => return None,
            b'\n' => at += 1,
            _ if !long => return Some(at + 1),
            _ if text.get(at..)?.starts_with(&triple) => return Some(at + 3),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::quieted;
    use crate::languages::parse::parse;
    use crate::languages::python::imports;
    use crate::languages::python::language::GRAMMAR;

    #[test]
    fn what_says_nothing_of_imports_is_left_out() {
        let text = "import a\nX = [\n  1]\n\ndef f(b,\n      c):\n    \"\"\"Text:\n  more\"\"\"\n    d = g(1,\n2)\n    if d:  # so\n        import e\n        h(d)\n    elif e:\n        f\n    return {'k':\n  i}\n\nclass C:\n    @d\n    def m(self):\n        # note\n        for n in o:\n            p(n)\n        q\n        return 'a.b'\n    n = 1\n    try:\n        o = 'x' # y:\n        import p\n    except E:\n        if '#' in o:  # z\n            p = 3\n    @d('a.b')\n    def n(self):\n        pass\nif X:\n    p = 2\n";
        let expected = "import a\nX = [\n  1]\n\ndef f(b,\n      c):\n    (\n\n\n)\n    if d:  # so\n        import e\n        0\n    elif e:\n        0\n    (\n)\n\nclass C:\n    0\n    def m(self):\n        # note\n        (\n\n)\n        return 'a.b'\n    0\n    try:\n        0\n        import p\n    except E:\n        (\n)\n    @d('a.b')\n    def n(self):\n        0\nif X:\n    p = 2\n";
        let found = quieted(text.as_bytes()).map(|it| String::from_utf8(it).unwrap());
        assert_eq!(found.as_deref(), Some(expected));
    }

    #[test]
    fn a_file_says_the_same_without_them() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut open = vec![root.join("scripts"), root.join("fixtures")];
        let mut count = 0;
        while let Some(path) = open.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(path).unwrap();
                open.extend(entries.map(|entry| entry.unwrap().path()));
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "py") {
                continue;
            }
            let Ok(text) = std::fs::read(&path) else {
                continue;
            };
            let read = |text: &[u8]| {
                let tree = parse(&GRAMMAR, text)?;
                (!tree.root_node().has_error()).then(|| imports::read(&tree, text))
            };
            if let (Some(plain), Some(quiet)) = (read(&text), quieted(&text)) {
                assert_eq!(read(&quiet), Some(plain), "{}", path.display());
                count += 1;
            }
        }
        assert!(count > 100, "{count} files were read");
    }

    #[test]
    fn lines_that_cannot_be_told_apart_are_left() {
        for text in ["a = 'open\n", "f(\n", "a)\n", "'''\n", "x = \"\"\"a"] {
            assert!(quieted(text.as_bytes()).is_none(), "{text}");
        }
        for text in [
            "",
            "\n",
            "a",
            "a\\\n b\n",
            "def f():\r\n    x\r\n",
            "'\\''\n",
        ] {
            let found = quieted(text.as_bytes()).unwrap();
            let lines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count();
            assert_eq!(lines(&found), lines(text.as_bytes()), "{text}");
        }
    }
}
