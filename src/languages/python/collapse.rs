//! Shortens a Python file to what its module level says. Parsing is four fifths of a cold graph, and the bodies of
//! functions are most of a file.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use memchr::{memchr2, memchr3};

/// The text with each function reduced to its name and what it imports, and each class that imports nothing to its
/// name, without comments. All else keeps its line: imports and top-level names of it are those of the text.
///
/// Blocks are found by indentation and strings alone. Where a bracket holds lines of less, what is left does not
/// parse, and the caller reads the whole text.
pub(super) fn collapse_definitions(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut out = Vec::with_capacity(text.len() / 2);
    let (mut at, mut open) = (0, NO_STRING);
    while let Some(line) = lines.get(at) {
        let rest = &lines[at..];
        if open == NO_STRING
            && let Some(kept) = collapse_decorator(rest).or_else(|| collapse_definition(rest))
        {
            out.extend_from_slice(&kept.join(&b"\n"[..]));
            at += kept.len();
        } else {
            if open != NO_STRING || !line.trim_ascii_start().starts_with(b"#") {
                out.extend_from_slice(line);
            }
            let Some(next) = open_string(line, open) else {
                return text.to_vec();
            };
            open = next;
            at += 1;
        }
        if at < lines.len() {
            out.push(b'\n');
        }
    }
    out
}

fn indent_of(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

// A decorator that imports nothing, on as many lines. What follows it is another or a definition.
fn collapse_decorator(lines: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let (indent, code) = lines[0].split_at(indent_of(lines[0]));
    let mut open = NO_STRING;
    code.strip_prefix(b"@")?;
    for (at, line) in lines.iter().enumerate() {
        let next = line.strip_prefix(indent).filter(|_| at > 0 && open == NO_STRING);
        let starts = [&b"@"[..], b"def ", b"async def ", b"class "];
        if next.is_some_and(|next| starts.iter().any(|start| next.starts_with(start))) {
            let mut kept = vec![Vec::new(); at];
            kept[0] = [indent, b"@_"].concat();
            return Some(kept);
        }
        if IMPORT.find(line).is_some() {
            break;
        }
        open = open_string(line, open)?;
    }
    None
}

// A definition by its name and the imports of its body, each on its line and at one indentation. None where what a
// class imports is lost, an import is not plain to see, or a string does not end.
fn collapse_definition(lines: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let (indent, code) = lines[0].split_at(indent_of(lines[0]));
    let rest = code.strip_prefix(b"async ").unwrap_or(code);
    let name = rest.strip_prefix(b"def ").or(rest.strip_prefix(b"class "))?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let end = name.iter().take_while(|byte| is_name(byte)).count();
    let (mut kept, mut length) = (Vec::new(), 0);
    let (mut in_import, mut open) = (false, NO_STRING);
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_ascii();
        let in_string = open != NO_STRING;
        kept.push(Vec::new());
        // A comment belongs to what follows; a closing bracket to what it closes.
        match code.first() {
            _ if in_string => length = at,
            None | Some(b'#') => continue,
            Some(first) if indent_of(line) > indent.len() || b")]}".contains(first) => length = at,
            Some(_) if at > 0 => break,
            Some(_) => {}
        }
        let is_start = !in_string && !in_import && IMPORT.find(code).is_some();
        if is_start {
            let is_statement = code.starts_with(b"import ") || code.starts_with(b"from ");
            let is_plain = is_statement && !code.iter().any(|byte| b"\\;\"'".contains(byte));
            let is_type = |line: &&[u8]| memmem::find(line, b"TYPE_CHECKING").is_some();
            if !is_plain || !rest.starts_with(b"def ") || lines[..at].iter().any(is_type) {
                return None;
            }
        }
        if is_start || in_import {
            kept[at] = [indent, b" ", code].concat();
            in_import = (in_import || code.contains(&b'(')) && !code.contains(&b')');
        }
        open = open_string(line, open)?;
    }
    kept.truncate(length + 1);
    let is_bare = kept.iter().all(Vec::is_empty);
    let head = &lines[0][..lines[0].len() - name.len() + end];
    kept[0] = [head, if is_bare { b"(" } else { b"():" }].concat();
    // It ends where it did.
    match kept.last_mut()? {
        last if is_bare => *last = b"):0".to_vec(),
        last if last.is_empty() => *last = [indent, b" 0"].concat(),
        _ => {}
    }
    let is_whole = length > 0 && (1..name.len()).contains(&end) && !in_import && open == NO_STRING;
    is_whole.then_some(kept)
}

static IMPORT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("import"));

const NO_STRING: &[u8] = b"";

// The quotes of the string that is open after a line. None where it has to end and does not.
fn open_string(line: &[u8], mut open: &'static [u8]) -> Option<&'static [u8]> {
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
        String::from_utf8(collapse_definitions(text.as_bytes())).unwrap()
    }

    #[test]
    fn function_keeps_name_imports_and_lines() {
        let text = "import a\n@b\ndef c(d,\n):\n    \"\"\"\n    >>> import e\n    \"\"\"\n    return 1\n# f\nG = 2\n";
        let expected = "import a\n@_\ndef c(\n\n\n\n\n):0\n\nG = 2\n";
        assert_eq!(collapse(text), expected);
        let text = "@a(\nb,\n# c\n)\n@d\ndef a(b):\n    from c import (d,\n      e)\n    x = 1\n    import f\n";
        let expected = "@_\n\n\n\n@_\ndef a():\n from c import (d,\n e)\n\n import f\n";
        assert_eq!(collapse(text), expected);
        for text in [
            "def a():\n    if TYPE_CHECKING:\n        import b\n",
            "def a():\n    if b: import c\n",
            "@importer\nclass a: pass\n",
            "def a():\n    from b import c; import d\n",
        ] {
            assert_eq!(collapse(text), text);
        }
    }

    #[test]
    fn class_with_an_import_keeps_methods_and_what_they_import() {
        let text = "class A(B):\n    def c(self):\n        import d\n        return d\n\n    async def e(self):\n        x\n        y\nz\n";
        let expected =
            "class A(B):\n    def c():\n     import d\n     0\n\n    async def e(\n\n):0\nz\n";
        assert_eq!(collapse(text), expected);
    }

    #[test]
    fn definition_in_a_string_is_none() {
        let text = "def a():\n    x = '''\nimport b\n    '''\n    return x\nc = \"\\\"'''\" # '''\nimport d\n";
        let expected = "def a(\n\n\n\n):0\nc = \"\\\"'''\" # '''\nimport d\n";
        assert_eq!(collapse(text), expected);
        for text in [
            "'''\ndef a():\n    b\n'''\n", "a = 'b\\\ndef c():\n d'\n", "'\ndef a():\n    b\n",
        ] {
            assert_eq!(collapse(text), text);
        }
        assert_eq!(collapse("def a(): 1\r\n\r\n"), "def a(): 1\r\n\r\n");
    }

    #[test]
    fn facts_of_collapsed_files_are_those_of_the_whole() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut compared = 0;
        for folder in ["scripts", "fixtures"] {
            for entry in ignore::Walk::new(root.join(folder)).flatten() {
                let path = entry.path();
                let is_python = path.extension().is_some_and(|extension| extension == "py");
                let Some(text) = is_python.then(|| std::fs::read(path).ok()).flatten() else {
                    continue;
                };
                let read = |text: &[u8]| {
                    let tree = parse(&GRAMMAR, text)?;
                    (!tree.root_node().has_error()).then(|| imports::read(&tree, text))
                };
                let short = collapse_definitions(&text);
                if let (Some(whole), Some(short)) = (read(&text), read(&short)) {
                    assert_eq!(short, whole, "{}", path.display());
                    compared += 1;
                }
            }
        }
        assert!(compared > 50, "{compared} files were compared");
    }
}
