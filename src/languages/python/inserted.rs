use crate::languages::files::join;

/// Directories that a file's code puts on the import path, where they are written with literals:
/// `sys.path.insert(0, os.path.join(os.path.dirname(__file__), "x"))`,
/// `monkeypatch.syspath_prepend(Path(__file__).parent / "x")`. `directory` is the file's own.
pub(super) fn directories(text: &str, directory: &str) -> Vec<String> {
    let mut found = Vec::new();
    for marker in ["sys.path.insert(", "sys.path.append(", "syspath_prepend("] {
        for (at, _) in text.match_indices(marker).take(16) {
            let arguments = arguments(text.get(at + marker.len()..).unwrap_or_default());
            found.extend(directory_of(arguments, directory));
        }
    }
    found
}

// Up to the closing parenthesis.
fn arguments(text: &str) -> &str {
    let mut depth = 1;
    for (at, c) in text.char_indices().take(400) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(..at).unwrap_or_default();
        }
    }
    ""
}

fn directory_of(expression: &str, directory: &str) -> Option<String> {
    let of_file = expression.contains("__file__");
    let index = expression
        .split_once(".parents[")
        .and_then(|(_, rest)| rest.split(']').next()?.trim().parse::<usize>().ok());
    let above = expression.matches("dirname(").count() + expression.matches(".parent").count()
        - expression.matches(".parents[").count()
        + index.map_or(0, |index| index + 1);
    let literals: Vec<&str> = expression.split(['"', '\'']).skip(1).step_by(2).collect();
    if !of_file {
        let [literal] = literals.as_slice() else {
            return None;
        };
        return join("", literal);
    }
    let mut place = directory.to_owned();
    for _ in 1..above {
        place = join(&place, "..")?;
    }
    join(&place, &literals.join("/"))
}

#[cfg(test)]
mod tests {
    use super::directories;

    #[test]
    fn literal_insertions_are_read() {
        for (text, expected) in [
            (
                "sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'apps'))",
                "a/b/apps",
            ),
            (
                "monkeypatch.syspath_prepend(Path(__file__).parent / \"x\")",
                "a/b/x",
            ),
            (
                "sys.path.append(str(Path(__file__).resolve().parents[1]))",
                "a",
            ),
            (
                "sys.path.append(os.path.dirname(os.path.dirname(__file__)) + '/src')",
                "a/src",
            ),
            ("sys.path.insert(0, 'lib')", "lib"),
            (
                "sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'src'))",
                "a/src",
            ),
        ] {
            assert_eq!(directories(text, "a/b"), [expected], "{text}");
        }
        assert!(directories("sys.path.insert(0, root)", "a").is_empty());
    }
}
