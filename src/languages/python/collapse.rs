//! Shortens a Python file to what its module level says. Parsing is four fifths of a cold graph, and the bodies of
//! functions are most of a file.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr2};

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
        if open == NO_STRING
            && let Some((header, kept)) = find_definition(line, &lines[at..])
        {
            out.extend_from_slice(header);
            out.extend_from_slice(b"():");
            for code in &kept {
                out.push(b'\n');
                out.extend_from_slice(code);
            }
            at += 1 + kept.len();
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

// The header of a definition up to its name, and the imports of its body, each on its line and at one indentation. None
// where what a class imports is lost, an import is not plain to see, or a string does not end.
fn find_definition<'t>(line: &'t [u8], lines: &[&[u8]]) -> Option<(&'t [u8], Vec<Vec<u8>>)> {
    let (indent, code) = line.split_at(indent_of(line));
    let rest = code.strip_prefix(b"async ").unwrap_or(code);
    let name = rest.strip_prefix(b"def ").or(rest.strip_prefix(b"class "))?;
    let end = name
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte >= 0x80)
        .count();
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
    // It ends where it did.
    if let Some(last) = kept.last_mut().filter(|last| last.is_empty()) {
        *last = [indent, b" 0"].concat();
    }
    let header = line.get(..line.len() - name.len() + end)?;
    let is_whole = length > 0 && (1..name.len()).contains(&end) && !in_import && open == NO_STRING;
    is_whole.then(|| (header, kept.split_off(1)))
}

static IMPORT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("import"));

const NO_STRING: &[u8] = b"";

// The quotes of the string that is open after a line. None where it has to end and does not.
fn open_string(line: &[u8], mut open: &'static [u8]) -> Option<&'static [u8]> {
    let is_same = match open {
        [] => memchr2(b'"', b'\'', line).is_none(),
        [quote, _, _] => memchr(*quote, line).is_none(),
        _ => false,
    };
    let mut rest = if is_same { &[] } else { line };
    while let Some(byte) = rest.first() {
        let mut length = if *byte == b'\\' { 2 } else { 1 };
        if open != NO_STRING && rest.starts_with(open) {
            length = open.len();
            open = NO_STRING;
        } else if open == NO_STRING {
            if *byte == b'#' {
                break;
            }
            let mut quotes = [b"\"\"\"", b"'''", &b"\""[..], b"'"].into_iter();
            open = quotes.find(|quotes| rest.starts_with(quotes)).unwrap_or_default();
            length = length.max(open.len());
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    (open.len() != 1 || line.trim_ascii_end().ends_with(b"\\")).then_some(open)
}

fn indent_of(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
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
        let expected = "import a\n@b\ndef c():\n\n\n\n\n 0\n\nG = 2\n";
        assert_eq!(collapse(text), expected);
        let text = "def a(b):\n    from c import (d,\n      e)\n    x = 1\n    import f\n";
        let expected = "def a():\n from c import (d,\n e)\n\n import f\n";
        assert_eq!(collapse(text), expected);
        for text in [
            "def a():\n    if TYPE_CHECKING:\n        import b\n",
            "def a():\n    if b: import c\n",
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
    fn definition_in_a_string_is_none() {
        let text = "def a():\n    x = '''\nimport b\n    '''\n    return x\nc = \"\\\"'''\" # '''\nimport d\n";
        let expected = "def a():\n\n\n\n 0\nc = \"\\\"'''\" # '''\nimport d\n";
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
