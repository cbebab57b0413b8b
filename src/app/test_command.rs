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
    find_in(&|name| std::fs::read_to_string(app.directory().join(name)).ok())
}

/// Package managers by their lock files.
const MANAGERS: [(&str, &str); 3] = [
    ("pnpm-lock.yaml", "pnpm test"),
    ("yarn.lock", "yarn test"),
    ("bun.lock", "bun run test"),
];
/// Files that configure pytest, and the section that does.
const PYTEST: [(&str, &str); 4] = [
    ("pytest.ini", "[pytest]"),
    ("pyproject.toml", "[tool.pytest"),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
];

fn find_in(read: &dyn Fn(&str) -> Option<String>) -> Option<TestCommand> {
    let has = |name: &str| read(name).is_some();
    let holds = |name: &str, text: &str| read(name).is_some_and(|file| file.contains(text));
    let manifest = read("package.json").unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
    let script = manifest["scripts"]["test"].as_str();
    let pytest = PYTEST.iter().find(|(file, section)| holds(file, section));
    let (words, from) = if script.is_some_and(|script| !script.contains("no test specified")) {
        let manager = MANAGERS.iter().find(|(lock, _)| has(lock));
        (
            manager.map_or("npm test", |(_, words)| words),
            "package.json",
        )
    } else if has("manage.py") {
        ("python3 manage.py test", "manage.py")
    } else if has("tox.ini") && !holds("tox.ini", "[pytest]") {
        ("tox", "tox.ini")
    } else if let Some((file, _)) = pytest {
        let words = if has("uv.lock") {
            "uv run pytest"
        } else {
            "pytest"
        };
        (words, *file)
    } else {
        let makefile = read("Makefile")?;
        let mut lines = makefile.lines();
        lines.find(|line| line.starts_with("test:"))?;
        ("make test", "Makefile")
    };
    Some(TestCommand {
        words: words.split(' ').map(str::to_owned).collect(),
        from,
    })
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
            let line = found.map(|command| command.line());
            assert_eq!(line.as_deref(), expected, "{files:?}");
        }
    }
}
