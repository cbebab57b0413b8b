//! Shortens a Python file to what its module level says. Parsing is four fifths of a cold graph, and the bodies of
//! functions are most of a file.

use memchr::memmem;

/// The text with each definition that imports nothing collapsed to its name, on as many lines, so that all else keeps
/// its line: imports and top-level names of it are those of the text.
///
/// Blocks are found by indentation alone. Where a string or a bracket holds lines of less, what is left does not
/// parse, and the caller reads the whole text.
pub(super) fn collapse_definitions(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut out = Vec::with_capacity(text.len() / 2);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let body = lines.get(at..).unwrap_or_default();
        if let Some((header, length)) = find_definition(line, body) {
            out.extend_from_slice(header);
            out.push(b'(');
            out.resize(out.len() + length - 1, b'\n');
            out.extend_from_slice(b"):0");
            at += length;
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

// The header of a definition up to its name, and its lines where they import nothing.
fn find_definition<'t>(line: &'t [u8], lines: &[&[u8]]) -> Option<(&'t [u8], usize)> {
    let indent = indent_of(line);
    let code = line.get(indent..)?;
    let rest = code.strip_prefix(b"async ").unwrap_or(code);
    let name = rest
        .strip_prefix(b"def ")
        .or(rest.strip_prefix(b"class "))?;
    let end = name
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80))
        .filter(|end| *end > 0)?;
    let mut length = 1;
    for (at, line) in lines.iter().enumerate().skip(1) {
        let code = line.get(indent_of(line)..)?.trim_ascii_end();
        // A comment belongs to what follows; a closing bracket to what it closes.
        match code.first() {
            None | Some(b'#') => {}
            Some(first) if indent_of(line) > indent || b")]}".contains(first) => length = at + 1,
            Some(_) => break,
        }
    }
    let body = lines.get(..length)?;
    let is_whole = [b"\"\"\"", b"'''"].iter().all(|quote| {
        let count = |line: &&[u8]| memmem::find_iter(line, quote).count();
        body.iter().map(count).sum::<usize>() % 2 == 0
    });
    let header = line.get(..line.len() - name.len() + end)?;
    (length > 1 && is_whole && !body.iter().any(|line| may_import(line)))
        .then_some((header, length))
}

fn indent_of(line: &[u8]) -> usize {
    line.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\x0c'))
        .count()
}

// Examples of doctest import nothing.
fn may_import(line: &[u8]) -> bool {
    let code = line.trim_ascii_start();
    memmem::find(code, b"import").is_some()
        && !code.starts_with(b">>>")
        && !code.starts_with(b"...")
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
    fn definition_without_imports_keeps_name_and_lines() {
        let text = "import a\n@b\ndef c(d,\n):\n    \"\"\"\n    >>> import e\n    \"\"\"\n    return 1\n# f\nG = 2\n";
        let expected = "import a\n@b\ndef c(\n\n\n\n\n):0\n# f\nG = 2\n";
        assert_eq!(collapse(text), expected);
    }

    #[test]
    fn class_with_an_import_keeps_only_the_method_that_imports() {
        let text = "class A(B):\n    def c(self):\n        import d\n        return d\n\n    async def e(self):\n        x\n        y\nz\n";
        let expected = "class A(B):\n    def c(self):\n        import d\n        return d\n\n    async def e(\n\n):0\nz\n";
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
