//! Finds the project's test command in its files. It is only proposed: the user must confirm it, since
//! the repository is not trusted.

use super::App;

/// Package managers by their lock files.
const MANAGERS: [(&str, &str); 3] = [
    ("pnpm-lock.yaml", "pnpm test"),
    ("yarn.lock", "yarn test"),
    ("bun.lock", "bun run test"),
];
/// Files, a text that they hold, and the line that runs the tests then; the first row that fits counts.
const ROWS: [(&str, &str, &str); 7] = [
    ("manage.py", "", "python3 manage.py test"),
    ("pytest.ini", "[pytest]", "pytest"),
    ("pyproject.toml", "[tool.pytest", "pytest"),
    ("tox.ini", "[pytest]", "pytest"),
    ("setup.cfg", "[tool:pytest]", "pytest"),
    ("tox.ini", "", "tox"),
    ("Makefile", "\ntest:", "make test"),
];

/// Finds the test command that a file of the current directory names. Nothing is run: that is for a person to agree
/// to.
#[must_use]
pub fn find_test_command(app: &App) -> Option<(&'static str, &'static str)> {
    find_in(&|name| std::fs::read_to_string(app.directory().join(name)).ok())
}

fn find_in(read: &dyn Fn(&str) -> Option<String>) -> Option<(&'static str, &'static str)> {
    let manifest = read("package.json").unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
    let script = manifest["scripts"]["test"].as_str();
    if script.is_some_and(|script| !script.contains("no test specified")) {
        let manager = MANAGERS.iter().find(|(lock, _)| read(lock).is_some());
        let line = manager.map_or("npm test", |(_, line)| line);
        return Some((line, "package.json"));
    }
    let holds = |(file, text, _): &&(&str, &str, _)| {
        read(file).is_some_and(|content| format!("\n{content}").contains(text))
    };
    let (file, _, line) = ROWS.iter().find(holds)?;
    let with_uv = *line == "pytest" && read("uv.lock").is_some();
    Some((if with_uv { "uv run pytest" } else { line }, file))
}

#[cfg(test)]
mod tests {
    use super::find_in;

    #[test]
    fn test_command_comes_from_manifest() {
        let npm = r#"{"scripts": {"test": "vitest run"}}"#;
        let none = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        for (files, expected) in [
            (&[("package.json", npm)][..], Some("npm test")),
            (
                &[("package.json", npm), ("pnpm-lock.yaml", "")],
                Some("pnpm test"),
            ),
            (&[("package.json", none)], None),
            (
                &[
                    ("package.json", none),
                    ("Makefile", "all:\ntest: all\n\tpytest\n"),
                ],
                Some("make test"),
            ),
            (&[("manage.py", "")], Some("python3 manage.py test")),
            (
                &[("pyproject.toml", "[tool.pytest.ini_options]\n")],
                Some("pytest"),
            ),
            (
                &[
                    ("pyproject.toml", "[tool.pytest.ini_options]\n"),
                    ("uv.lock", ""),
                ],
                Some("uv run pytest"),
            ),
            (&[("tox.ini", "[tox]\n")], Some("tox")),
            (&[("README.md", "")], None),
        ] {
            let found = find_in(&|name| {
                let mut files = files.iter();
                let file = files.find(|(other, _)| *other == name);
                file.map(|(_, text)| (*text).to_owned())
            });
            assert_eq!(found.map(|(line, _)| line), expected, "{files:?}");
        }
    }
}
