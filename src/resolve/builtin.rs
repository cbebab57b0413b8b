// One module a line, sorted by bytes; add a line when a release adds a module.
const NODE: &str = include_str!("node_builtins.txt");
const PYTHON: &str = include_str!("python_stdlib.txt");

/// Whether a bare specifier names a module of Node.js itself (`fs`, `fs/promises`, `node:test`).
pub(super) fn is_node(specifier: &str) -> bool {
    if specifier.starts_with("node:") {
        return true;
    }
    let first = specifier.split('/').next().unwrap_or_default();
    has_line(NODE, first)
}

/// Whether the first part of a dotted name is a module of Python's standard library.
pub(super) fn is_python(module: &str) -> bool {
    has_line(PYTHON, module)
}

// Binary search over the lines.
fn has_line(table: &str, name: &str) -> bool {
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        let head = table.as_bytes().get(..middle).unwrap_or_default();
        let start = memchr::memrchr(b'\n', head).map_or(0, |at| at + 1);
        let rest = table.get(start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        match line.cmp(name) {
            std::cmp::Ordering::Equal => return !name.is_empty(),
            std::cmp::Ordering::Less => low = start + line.len() + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{is_node, is_python};

    #[test]
    fn tables_answer_whole_names() {
        assert!(is_node("fs/promises") && is_node("node:test") && is_node("path"));
        assert!(!is_node("pat") && !is_node(""));
        for table in [super::NODE, super::PYTHON] {
            assert!(table.lines().is_sorted());
            assert!(table.lines().all(|line| super::has_line(table, line)));
        }
        assert!(is_python("os") && is_python("__future__") && !is_python("o"));
    }
}
