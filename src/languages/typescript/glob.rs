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

#[cfg(test)]
mod tests {
    use super::matches;

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
            ("p/{a,b}/{c,d}", "p/b/c", true),
            ("p/{a,b}", "p/c", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}
