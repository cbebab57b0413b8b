use super::App;
use crate::exec::CommandLine;

/// The test command of a project, and the file that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCommand {
    /// The words of the command.
    pub words: Vec<String>,
    /// The file.
    pub from: &'static str,
}

impl TestCommand {
    /// The command as a line for the shell.
    #[must_use]
    pub fn line(&self) -> String {
        CommandLine::Program(self.words.iter().map(Into::into).collect()).to_string()
    }
}

/// Finds the test command that the files of the current directory name. Nothing is run: that is for a person to
/// agree to.
#[must_use]
pub fn find_test_command(app: &App) -> Option<TestCommand> {
    let read = |name: &str| std::fs::read_to_string(app.directory().join(name)).ok();
    let has = |name: &str| app.directory().join(name).is_file();
    find_in(&read, &has)
}

fn find_in(
    read: &dyn Fn(&str) -> Option<String>,
    has: &dyn Fn(&str) -> bool,
) -> Option<TestCommand> {
    let found = |words: &str, from| TestCommand {
        words: words.split(' ').map(str::to_owned).collect(),
        from,
    };
    let manifest = read("package.json");
    let manifest: Option<serde_json::Value> =
        manifest.and_then(|text| serde_json::from_str(&text).ok());
    let script = manifest
        .as_ref()
        .and_then(|it| it["scripts"]["test"].as_str());
    if script.is_some_and(|script| !script.contains("no test specified")) {
        let locks = [
            ("pnpm-lock.yaml", "pnpm test"),
            ("yarn.lock", "yarn test"),
            ("bun.lock", "bun run test"),
        ];
        let own = locks.iter().find(|(lock, _)| has(lock));
        return Some(found(
            own.map_or("npm test", |(_, words)| words),
            "package.json",
        ));
    }
    if has("manage.py") {
        return Some(found("python3 manage.py test", "manage.py"));
    }
    if has("tox.ini") && !read("tox.ini").is_some_and(|text| text.contains("[pytest]")) {
        return Some(found("tox", "tox.ini"));
    }
    let sections = [
        ("pytest.ini", "[pytest]"),
        ("pyproject.toml", "[tool.pytest"),
        ("tox.ini", "[pytest]"),
        ("setup.cfg", "[tool:pytest]"),
    ];
    for (file, section) in sections {
        if read(file).is_some_and(|text| text.contains(section)) {
            let uv = has("uv.lock");
            return Some(found(if uv { "uv run pytest" } else { "pytest" }, file));
        }
    }
    let makefile = read("Makefile")?;
    let names_test = makefile.lines().any(|line| line.starts_with("test:"));
    names_test.then(|| found("make test", "Makefile"))
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
            let text = |name: &str| {
                files
                    .iter()
                    .find(|it| it.0 == name)
                    .map(|it| it.1.to_owned())
            };
            let found = find_in(&text, &|name| text(name).is_some());
            assert_eq!(found.map(|it| it.line()).as_deref(), expected, "{files:?}");
        }
    }
}
