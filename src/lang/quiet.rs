use std::ops::Range;

use memchr::memmem;

use super::dotted::{is_dotted, is_name};

/// Words that start a header, or a clause of one, with or without a statement behind its colon.
const CLAUSES: &[&[u8]] = &[
    b"async", b"case", b"class", b"def", b"elif", b"else", b"except", b"finally", b"for", b"if",
    b"match", b"try", b"while", b"with",
];

/// The text of a Python file with the statements inside its functions and classes blanked out that
/// say nothing of imports: no `import`, no string that could name a module. Headers stay, as do all
/// offsets and lines, so the tree of it tells the same facts for a fraction of the work. `None` when
/// the lines cannot be told apart.
pub(super) fn quieted(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = text.to_vec();
    let mut lines = Lines { text, at: 0 };
    let mut inside = false;
    // Statements of one indent that follow each other, and that indent.
    let mut run: Option<(Range<usize>, &[u8])> = None;
    while let Some(line) = lines.next()? {
        let whole = text.get(line.start..line.end)?;
        let indent = whole.get(..line.indent)?;
        let said = whole.get(line.indent..)?.trim_ascii_end();
        if said.is_empty() || said.first() == Some(&b'#') {
            continue;
        }
        let code = whole.get(line.indent..line.code - line.start)?;
        let quiet = inside && !indent.is_empty() && !is_telling(code.trim_ascii_end());
        if indent.is_empty() {
            inside = is_definition(said);
        }
        let start = line.start + line.indent;
        let end = start + said.len();
        match &mut run {
            Some((range, before)) if quiet && *before == indent => range.end = end,
            _ => {
                let ended = run.take();
                blank(&mut out, ended.map(|it| it.0))?;
                run = quiet.then_some((start..end, indent));
            }
        }
    }
    blank(&mut out, run.map(|it| it.0))?;
    Some(out)
}

// Puts an expression of the same extent in the place of statements: comments in it stay comments.
fn blank(out: &mut [u8], run: Option<Range<usize>>) -> Option<()> {
    let Some(run) = run else {
        return Some(());
    };
    let part = out.get_mut(run)?;
    let lines = memchr::memchr(b'\n', part).is_some();
    for byte in part
        .iter_mut()
        .filter(|byte| !matches!(byte, b'\n' | b'\r'))
    {
        *byte = b' ';
    }
    if lines {
        *part.first_mut()? = b'(';
        *part.last_mut()? = b')';
    } else {
        part.fill(b'0');
    }
    Some(())
}

fn is_definition(said: &[u8]) -> bool {
    ["def ", "class ", "async "]
        .iter()
        .any(|word| said.starts_with(word.as_bytes()))
}

// A header, a clause that belongs to one, or something that may be an import.
fn is_telling(said: &[u8]) -> bool {
    let end = said.iter().position(|byte| !byte.is_ascii_alphabetic());
    let word = said.get(..end.unwrap_or(said.len())).unwrap_or_default();
    said.ends_with(b":")
        || said.starts_with(b"@")
        || CLAUSES.binary_search(&word).is_ok()
        || memmem::find(said, b"import").is_some()
        || names_module(said)
}

fn names_module(said: &[u8]) -> bool {
    memchr::memchr2_iter(b'"', b'\'', said).any(|quote| {
        let rest = said.get(quote + 1..).unwrap_or_default();
        let end = rest.iter().position(|byte| !is_dotted(*byte));
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        end.and_then(|end| rest.get(end)) == said.get(quote) && is_name(name)
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
    use super::{CLAUSES, quieted};
    use crate::lang::parse::parse;
    use crate::lang::python;
    use crate::model::Language;

    #[test]
    fn what_says_nothing_of_imports_is_blanked() {
        assert!(CLAUSES.is_sorted());
        let text = "import a\nX = [\n  1]\n\ndef f(b,\n      c):\n    \"\"\"Text:\n  more\"\"\"\n    d = g(1,\n2)\n    if d:  # so\n        import e\n        h(d)\n    if e: f\n    else: g\n    return {'k':\n  i}\n\nclass C:\n    def m(self):\n        # note\n        return 'a.b'\n    n = 1\n    o = 'x' # y:\n    if '#' in o:  # z\n        p = 3\nif X:\n    p = 2\n";
        let expected = "import a\nX = [\n  1]\n\ndef f(b,\n      c):\n    (       \n         \n            \n )\n    if d:  # so\n        import e\n        0000\n    if e: f\n    else: g\n    (           \n   )\n\nclass C:\n    def m(self):\n        # note\n        return 'a.b'\n    (    \n               )\n    if '#' in o:  # z\n        00000\nif X:\n    p = 2\n";
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
                let tree = parse(Language::Python, text)?;
                (!tree.root_node().has_error()).then(|| python::read(&tree, text))
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
            assert_eq!(found.len(), text.len(), "{text}");
        }
    }
}
