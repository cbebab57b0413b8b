use std::collections::{BTreeMap, BTreeSet};

use super::walk::Walk;
use crate::source::Source;

/// The files of a repository that commands run: those that a command names, and those that the
/// scripts of `package.json` and the rules of a Makefile name in turn.
#[derive(Debug, Clone, Default)]
pub struct CommandFiles {
    files: BTreeMap<String, CommandFile>,
    commands: Vec<Vec<String>>,
    everywhere: Option<[String; 2]>,
    evidence: BTreeSet<String>,
}

/// A file that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFile {
    /// What names it: `the command`, or the path of the file that has the script.
    pub by: String,
    /// Whether a test runner is told to run it as a test.
    pub is_test: bool,
}

impl CommandFiles {
    /// Follows commands, lines for a shell, that start in `directory` (`""` is the root).
    #[must_use]
    pub fn find(lines: &[String], directory: &str, source: &dyn Source) -> Self {
        let mut walk = Walk::new(source);
        for line in lines {
            walk.line(line, directory, "the command", 0);
        }
        Self {
            files: walk.files,
            commands: walk.commands,
            everywhere: walk.everywhere,
            evidence: BTreeSet::new(),
        }
    }

    /// The same where the failure itself lies in these files: a repair may change them.
    #[must_use]
    pub fn with_evidence(mut self, paths: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(paths);
        self
    }

    /// The file that a command runs at this path.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&CommandFile> {
        self.files.get(path)
    }

    /// The words of every simple command that runs, of those inside `sh -c`, `npx` and the like too,
    /// in their order; not those of which it is not known whether they run.
    #[must_use]
    pub fn commands(&self) -> &[Vec<String>] {
        &self.commands
    }

    /// A package manager and the script that it runs in each package of a workspace.
    #[must_use]
    pub fn everywhere(&self) -> Option<&[String; 2]> {
        self.everywhere.as_ref()
    }

    /// Whether the failure itself lies in this file.
    #[must_use]
    pub fn is_evidence(&self, path: &str) -> bool {
        self.evidence.contains(path)
    }
}

#[cfg(test)]
mod tests {
    use super::CommandFiles;
    use crate::source::Memory;

    #[test]
    fn follows_what_a_command_runs() {
        let package = r#"{"scripts":{"pretest":"node tools/pre.js","test":"npm run unit && sh ci.sh",
            "unit":"run-s a:b","a:b":"cross-env CI=1 mocha -r ./hook.js lib/check.js","lint":"eslint src/app.js",
            "loop":"npm run loop"}}"#;
        let makefile = "all: test\n.PHONY: test\ntest: build\n\t@python3 run_tests.py \\\n\t\t--fast\nbuild:\n\t./build.sh\nother:\n\tsh other.sh\n";
        let source = Memory::named([
            ("package.json", package),
            (
                "packages/a/package.json",
                r#"{"scripts":{"test":"node ../../tools/a"}}"#,
            ),
            ("Makefile", makefile),
            ("ci.sh", "#!/bin/sh\ncd sub && node ./deep.js\n"),
            ("build.sh", "#!/bin/bash\n. ./env.sh\n"),
            (
                "tox.ini",
                "[testenv]\ncommands =\n    python run_tests.py {posargs}\n",
            ),
            ("tools/pre.js", ""),
            ("tools/a.js", ""),
            ("hook.js", ""),
            ("lib/check.js", ""),
            ("sub/deep.js", ""),
            ("src/app.js", ""),
            ("src/app.py", ""),
            ("run_tests.py", ""),
            ("other.sh", ""),
            ("env.sh", ""),
            ("pkg/__main__.py", ""),
            ("tests/test_a.py", ""),
            ("conf.toml", ""),
        ]);
        for (line, directory, expected) in [
            ("npm test", "", "ci.sh hook.js lib/check.js* tools/pre.js"),
            ("npm run lint", "", ""),
            ("npm run loop", "", ""),
            (
                "pnpm -r test",
                "",
                "ci.sh hook.js lib/check.js* tools/a.js tools/pre.js",
            ),
            ("npm --prefix packages/a t", "", "tools/a.js"),
            ("npm test", "packages/a", "tools/a.js"),
            ("make", "", "Makefile build.sh run_tests.py"),
            ("make other", "", "Makefile other.sh"),
            (
                "cd .. && make -C .. other",
                "packages/a",
                "Makefile other.sh",
            ),
            ("node lib/check", "", "lib/check.js"),
            ("node --test lib/check.js", "", "lib/check.js*"),
            ("NODE_OPTIONS='--require ./hook.js' jest", "", "hook.js"),
            ("sh -c 'cd sub; node deep.js'", "", "sub/deep.js"),
            ("timeout 5 bash ci.sh", "", "ci.sh"),
            ("python3 -W error run_tests.py", "", "run_tests.py"),
            ("python -m pkg", "", "pkg/__main__.py"),
            (
                "python -m unittest tests.test_a.T.test_b",
                "",
                "tests/test_a.py*",
            ),
            (
                "python -m pytest -c conf.toml tests/test_a.py::T",
                "",
                "conf.toml tests/test_a.py*",
            ),
            ("uv run --frozen run_tests.py", "", "run_tests.py"),
            ("poetry run python run_tests.py", "", "run_tests.py"),
            ("ruff check --config conf.toml src/app.py", "", "conf.toml"),
            ("tsc -p . && ./other.sh", "", "other.sh"),
            ("tox -e py", "", "run_tests.py"),
            ("node ../../etc/passwd", "", ""),
            ("true", "", ""),
        ] {
            let found = CommandFiles::find(&[line.to_owned()], directory, &source);
            let files: Vec<String> = found
                .files
                .iter()
                .map(|(path, file)| format!("{path}{}", if file.is_test { "*" } else { "" }))
                .collect();
            assert_eq!(files.join(" "), expected, "{line}");
        }
    }
    #[test]
    fn programs_that_start_each_other_end() {
        for word in ["env ", "A=1 ", "uv run ", "python -m ", "npm exec "] {
            let line = word.repeat(20_000) + "jest";
            let found = CommandFiles::find(&[line], "", &Memory::named([("a", "")]));
            assert!((1..40).contains(&found.commands().len()), "{word}");
        }
        let line = "A=1 timeout 5 npx cross-env B=2 mocha".to_owned();
        let found = CommandFiles::find(&[line], "", &Memory::named([("a", "")]));
        assert_eq!(found.commands().last(), Some(&vec!["mocha".to_owned()]));
    }
}
