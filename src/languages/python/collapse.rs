//! Shortens a Python file to what its module level says. Parsing is most of a cold graph, and the bodies of functions
//! are most of a file.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use memchr::{memchr_iter, memchr2, memchr3};

use crate::model::{Definition, DefinitionKind};

/// Takes definitions that import nothing from the text. Of indented ones and of those that import, names and imports
/// stay. All else but comments keeps its line: with the definitions, imports and top-level names are those of the text.
///
/// Blocks are found by indentation and strings alone. Where a bracket holds lines of less, what is left does not
/// parse, and the caller reads the whole text.
pub(super) fn collapse_definitions(text: &[u8]) -> (Vec<u8>, Vec<Definition>) {
    let mut start = 0;
    let ends = memchr_iter(b'\n', text).chain([text.len()]);
    let lines = ends.map(|end| &text[std::mem::replace(&mut start, end + 1)..end]);
    let lines: Vec<&[u8]> = lines.collect();
    let mut out: Vec<Cow<'_, [u8]>> = Vec::with_capacity(lines.len());
    let (mut definitions, mut open) = (Vec::new(), NO_STRING);
    // Whether a decorator stays, and what it decorates with it.
    let mut is_decorated = false;
    while let Some(line) = lines.get(out.len()) {
        let is_code = open == NO_STRING;
        let rest = Some(&lines[out.len()..]).filter(|_| is_code && !is_decorated);
        if let Some((kept, found)) = rest.and_then(|rest| collapse_definition(rest, out.len())) {
            out.extend(kept.into_iter().map(Cow::Owned));
            definitions.extend(found);
            continue;
        }
        let code = line.trim_ascii_start();
        let heads = [&b"def "[..], b"async ", b"class "];
        let is_head = is_code && heads.iter().any(|head| code.starts_with(head));
        is_decorated = (is_decorated || is_code && code.starts_with(b"@")) && !is_head;
        let is_comment = is_code && line.starts_with(b"#");
        out.push(if is_comment { Cow::default() } else { (*line).into() });
        let Some(next) = open_string(line, open) else {
            return (text.to_vec(), Vec::new());
        };
        open = next;
    }
    (out.join(&b"\n"[..]), definitions)
}

fn indent_of(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

// A definition by its name and the imports of its body, each on its line and at one indentation; by itself where it
// imports nothing and is not indented. None where what a class imports is lost, an import is not plain to see, or a
// string does not end.
fn collapse_definition(
    lines: &[&[u8]],
    above: usize,
) -> Option<(Vec<Vec<u8>>, Option<Definition>)> {
    let (indent, _) = lines[0].split_at(indent_of(lines[0]));
    let (start, mut open) = skip_decorators(lines, indent.len())?;
    let code = lines.get(start)?.strip_prefix(indent)?;
    let rest = code.strip_prefix(b"async ").unwrap_or(code);
    let name = rest.strip_prefix(b"def ").or(rest.strip_prefix(b"class "))?;
    let mut bytes = name.iter();
    let end = bytes.position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte < 0x80);
    let (name, signature) = name.split_at(end.unwrap_or(name.len()));
    let (mut kept, mut last, mut in_import) = (vec![Vec::new(); start], start, false);
    for (at, line) in lines.iter().enumerate().skip(start) {
        let code = line.trim_ascii();
        let in_string = open != NO_STRING;
        kept.push(Vec::new());
        // A comment belongs where it is indented to; a closing bracket to what it closes.
        let is_deep = indent_of(line) > indent.len();
        match code.first() {
            _ if in_string => last = at,
            Some(b'#') if is_deep => {
                last = at;
                continue;
            }
            None | Some(b'#') => continue,
            Some(first) if is_deep || b")]}".contains(first) => last = at,
            Some(_) if at > start => break,
            Some(_) => {}
        }
        let is_start = !in_string && !in_import && IMPORT.find(code).is_some();
        if is_start {
            let is_statement = code.starts_with(b"import ") || code.starts_with(b"from ");
            let is_plain = is_statement && !code.iter().any(|byte| b"\\;\"'".contains(byte));
            let mut before = lines[start..at].iter();
            let is_type = before.any(|line| memmem::find(line, b"TYPE_CHECKING").is_some());
            if !is_plain || !rest.starts_with(b"def ") || is_type {
                return None;
            }
        }
        if is_start || in_import {
            kept[at] = [indent, b" ", code].concat();
            in_import = (in_import || code.contains(&b'(')) && !code.contains(&b')');
        }
        open = open_string(line, open)?;
    }
    let is_cut = in_import || open != NO_STRING || last == start;
    if is_cut || name.is_empty() || signature.is_empty() {
        return None;
    }
    kept.truncate(last + 1);
    let is_bare = kept.iter().all(Vec::is_empty);
    if is_bare && indent.is_empty() {
        let is_class = rest.starts_with(b"class ");
        let definition = Definition {
            name: String::from_utf8_lossy(name).into_owned(),
            kind: if is_class {
                DefinitionKind::Class
            } else {
                DefinitionKind::Function
            },
            line: above as u32 + 1,
            end_line: (above + kept.len()) as u32,
        };
        return Some((kept, Some(definition)));
    }
    if start > 0 {
        kept[0] = [indent, b"@_"].concat();
    }
    let head = &lines[start][..lines[start].len() - signature.len()];
    kept[start] = [head, b"():"].concat();
    // It ends where it did.
    if kept[last].is_empty() {
        kept[last] = [indent, b" 0"].concat();
    }
    Some((kept, None))
}

// The line at which a definition begins below its decorators, and the string that is open above it.
fn skip_decorators(lines: &[&[u8]], indent: usize) -> Option<(usize, &'static [u8])> {
    let (mut start, mut open) = (0, NO_STRING);
    let is_decorated = lines[0].get(indent) == Some(&b'@');
    for line in lines.iter().take(if is_decorated { lines.len() } else { 0 }) {
        let first = line.trim_ascii_start().first();
        let is_inside =
            first.is_none_or(|first| indent_of(line) > indent || b"@#)]}".contains(first));
        if open == NO_STRING && !is_inside {
            break;
        }
        open = open_string(Some(line).filter(|line| IMPORT.find(line).is_none())?, open)?;
        start += 1;
    }
    Some((start, open))
}

static IMPORT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("import"));

pub(super) const NO_STRING: &[u8] = b"";

/// The quotes of the string that is open after a line. None where it has to end and does not.
pub(super) fn open_string(line: &[u8], mut open: &'static [u8]) -> Option<&'static [u8]> {
    let mut rest = line;
    while let Some(at) = match open {
        [] => memchr3(b'"', b'\'', b'#', rest),
        [quote, ..] => memchr2(*quote, b'\\', rest),
    } {
        rest = &rest[at..];
        let length = match (rest, open) {
            ([b'#', ..], []) => break,
            ([b'\\', ..], _) => 2,
            (_, []) => {
                let mut quotes = [b"\"\"\"", b"'''", &b"\""[..], b"'"].into_iter();
                open = quotes.find(|quotes| rest.starts_with(quotes))?;
                open.len()
            }
            _ if rest.starts_with(open) => std::mem::take(&mut open).len(),
            _ => 1,
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    (open.len() != 1 || line.trim_ascii_end().ends_with(b"\\")).then_some(open)
}

#[cfg(test)]
mod tests {
    use super::collapse_definitions;
    use crate::languages::parse::parse;
    use crate::languages::python::imports;
    use crate::languages::python::language::GRAMMAR;

    fn collapse(text: &str) -> String {
        String::from_utf8(collapse_definitions(text.as_bytes()).0).unwrap()
    }

    #[test]
    fn function_keeps_name_imports_and_lines() {
        let text = "import a\n@b\ndef c(d,\n):\n    \"\"\"\n    >>> import e\n    \"\"\"\n    return 1\n# f\nG = 2\n";
        let expected = "import a\n\n\n\n\n\n\n\n\nG = 2\n";
        assert_eq!(collapse(text), expected);
        let text = "@a(\n b,\n# c\n)\n@d\ndef a(b):\n    from c import (d,\n      e)\n    x = 1\n    import f\n";
        let expected = "@_\n\n\n\n\ndef a():\n from c import (d,\n e)\n\n import f\n";
        assert_eq!(collapse(text), expected);
        for text in [
            "def a():\n    if TYPE_CHECKING:\n        import b\n",
            "def a():\n    if b: import c\n",
            "@importer\nclass a: pass\n",
            "(a\n@ b)\nc = 1\ndef d():\n    from b import c; import d\n",
            "def a():\n    from b import c; import d\n",
        ] {
            assert_eq!(collapse(text), text);
        }
    }

    #[test]
    fn class_with_an_import_keeps_methods_and_what_they_import() {
        let text = "class A(B):\n    def c(self):\n        import d\n        return d\n\n    async def e(self):\n        x\n        y\nz\n";
        let expected =
            "class A(B):\n    def c():\n     import d\n     0\n\n    async def e():\n\n     0\nz\n";
        assert_eq!(collapse(text), expected);
    }

    #[test]
    fn keeps_definition_below_importing_decorator() {
        let text = "@a \\\n.b\ndef i():\n    j\n@a(\n    importer)\n# b\ndef c():\n    d\n    # e\n\n# f\ndef g():\n    import h\n";
        let expected = "@a \\\n.b\ndef i():\n    j\n@a(\n    importer)\n\ndef c():\n    d\n    # e\n\n\ndef g():\n import h\n";
        assert_eq!(collapse(text), expected);
    }

    #[test]
    fn ignores_definition_in_string() {
        let text = "def a():\n    x = '''\nimport b\n    '''\n    return x\nc = \"\\\"'''\" # '''\nimport d\n";
        let expected = "\n\n\n\n\nc = \"\\\"'''\" # '''\nimport d\n";
        assert_eq!(collapse(text), expected);
        for text in [
            "'''\ndef a():\n    b\n'''\n", "a = 'b\\\ndef c():\n d'\n", "'\ndef a():\n    b\n",
        ] {
            assert_eq!(collapse(text), text);
        }
        assert_eq!(collapse("def a(): 1\r\n\r\n"), "def a(): 1\r\n\r\n");
    }

    #[test]
    fn collapsed_file_keeps_facts() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut compared = 0;
        for folder in ["scripts", "fixtures"] {
            for entry in ignore::Walk::new(root.join(folder)).flatten() {
                let path = entry.path();
                let is_python = path.extension().is_some_and(|extension| extension == "py");
                let Some(text) = is_python.then(|| std::fs::read(path).ok()).flatten() else {
                    continue;
                };
                let read = |text: &[u8], definitions| {
                    let tree = parse(&GRAMMAR, text)?;
                    let is_valid = !tree.root_node().has_error();
                    is_valid.then(|| imports::read(&tree, text, definitions))
                };
                let (short, definitions) = collapse_definitions(&text);
                let short = read(&short, definitions);
                if let (Some(whole), Some(short)) = (read(&text, Vec::new()), short) {
                    assert_eq!(short, whole, "{}", path.display());
                    compared += 1;
                }
            }
        }
        assert!(compared > 50, "{compared} files were compared");
    }
}
