//! Shortens a Python file to what its module level says. Parsing is four fifths of a cold graph, and the bodies of
//! functions are most of a file.

use memchr::memmem;

/// The text with each function reduced to its name and what it imports, and each class that imports nothing to its
/// name. All else keeps its line: imports and top-level names of it are those of the text.
///
/// Blocks are found by indentation alone. Where a string or a bracket holds lines of less, what is left does not
/// parse, and the caller reads the whole text.
pub(super) fn collapse_definitions(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut out = Vec::with_capacity(text.len() / 2);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some((header, kept)) = find_definition(line, &lines[at..]) {
            out.extend_from_slice(header);
            out.extend_from_slice(b"():");
            for code in &kept {
                out.push(b'\n');
                out.extend_from_slice(code);
            }
            at += 1 + kept.len();
        } else {
            out.extend_from_slice(line);
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
    let indent_of = |line: &[u8]| line.len() - line.trim_ascii_start().len();
    let (indent, code) = line.split_at(indent_of(line));
    let rest = code.strip_prefix(b"async ").unwrap_or(code);
    let name = rest.strip_prefix(b"def ").or(rest.strip_prefix(b"class "))?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let end = name.iter().take_while(|byte| is_name(byte)).count();
    let (mut kept, mut length) = (Vec::new(), 0);
    let (mut in_import, mut open_quotes) = (false, [false; 2]);
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_ascii();
        kept.push(Vec::new());
        // A comment belongs to what follows; a closing bracket to what it closes.
        match code.first() {
            None | Some(b'#') => continue,
            Some(first) if indent_of(line) > indent.len() || b")]}".contains(first) => length = at,
            Some(_) if at > 0 => break,
            Some(_) => {}
        }
        let is_example = code.starts_with(b">>>") || code.starts_with(b"...");
        let may_import = !is_example && memmem::find(code, b"import").is_some();
        let is_start = may_import && !in_import;
        let is_statement = code.starts_with(b"import ") || code.starts_with(b"from ");
        let is_plain = is_statement && !code.iter().any(|byte| b"\\;\"'".contains(byte));
        let is_kept = is_plain && rest.starts_with(b"def ") && open_quotes == [false; 2];
        if is_start && !is_kept || memmem::find(code, b"TYPE_CHECKING").is_some() {
            return None;
        }
        if is_start || in_import {
            kept[at] = [indent, b" ", code].concat();
            in_import = (in_import || code.contains(&b'(')) && !code.contains(&b')');
        }
        for (quote, open) in [b"\"\"\"", b"'''"].iter().zip(&mut open_quotes) {
            *open ^= memmem::find_iter(line, quote).count() % 2 == 1;
        }
    }
    kept.truncate(length + 1);
    // It ends where it did.
    if let Some(last) = kept.last_mut().filter(|last| last.is_empty()) {
        *last = [indent, b" 0"].concat();
    }
    let header = line.get(..line.len() - name.len() + end)?;
    let is_whole =
        length > 0 && (1..name.len()).contains(&end) && !in_import && open_quotes == [false; 2];
    is_whole.then(|| (header, kept.split_off(1)))
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
        let expected = "import a\n@b\ndef c():\n\n\n\n\n 0\n# f\nG = 2\n";
        assert_eq!(collapse(text), expected);
        let text = "def a(b):\n    from c import (d,\n      e)\n    x = 1\n    import f\n";
        let expected = "def a():\n from c import (d,\n e)\n\n import f\n";
        assert_eq!(collapse(text), expected);
        for text in [
            "def a():\n    '''\n    import b\n    '''\n    c\n",
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
    fn string_that_leaves_the_indentation_is_kept() {
        let text = "def a():\n    x = '''\nb\n    '''\n    return x\n";
        assert_eq!(collapse(text), text);
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
