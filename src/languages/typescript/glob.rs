/// Whether `path` matches `pattern`: `*` and `?` stay inside a component, `**` spans components.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    // Brackets are letters here, as in the names of routes.
    let pattern = plain_path(pattern).replace('[', "\\[");
    fast_glob::glob_match(pattern, plain_path(path))
}

// Without components that say nothing.
fn plain_path(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.collect::<Vec<_>>().join("/")
}

/// The patterns a pattern with `{a,b}` stands for.
pub(super) fn expand_glob(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        let group = pattern.find('{').and_then(|start| {
            let end = start + pattern.get(start..)?.find('}')?;
            Some((start, end))
        });
        match group {
            Some((start, end)) if open.len() + done.len() < 64 => {
                let (head, tail) = (&pattern[..start], &pattern[end + 1..]);
                let choices = pattern[start + 1..end].split(',').rev();
                open.extend(choices.map(|choice| format!("{head}{choice}{tail}")));
            }
            _ => done.push(pattern),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::{expand_glob, matches};

    #[test]
    fn stars_know_components() {
        for (pattern, path, expected) in [
            ("packages/*", "packages/a", true),
            ("packages/*", "packages/a/b", false),
            ("packages/**", "packages/a/b", true),
            ("**/*.ts", "a.ts", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/*.spec.?s", "a/x.spec.ts", true),
            ("./a/*", "a/x", true),
            ("a", "b", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn braces_are_choices() {
        assert_eq!(
            expand_glob("p/{a,b}/{c,d}"),
            ["p/a/c", "p/a/d", "p/b/c", "p/b/d"]
        );
        assert_eq!(expand_glob("p/{a"), ["p/{a"]);
    }
}
