use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::shell;
use crate::model::RepoPath;
use crate::source::Source;

/// The files of a repository that commands run: those that a command names, and those that the
/// scripts of `package.json`, the rules of a Makefile and shell scripts it runs name in turn.
#[derive(Debug, Clone, Default)]
pub struct CommandFiles {
    files: BTreeMap<String, CommandFile>,
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
    pub fn of(lines: &[String], directory: &str, source: &dyn Source) -> Self {
        let mut walk = Walk {
            source,
            files: BTreeMap::new(),
            seen: BTreeSet::new(),
        };
        for line in lines {
            walk.line(line, directory, "the command", 0);
        }
        Self {
            files: walk.files,
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

    /// Whether the failure itself lies in this file.
    #[must_use]
    pub fn is_evidence(&self, path: &str) -> bool {
        self.evidence.contains(path)
    }

    /// Every file, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &CommandFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }
}

/// Scripts that run scripts.
const MAX_DEPTH: usize = 12;
/// Packages of a workspace whose scripts are read.
const MAX_PACKAGES: usize = 300;
/// Longest script that is read.
const MAX_SCRIPT: usize = 1 << 20;

// Programs that only start another one.
const STARTERS: &[&str] = &[
    "env",
    "command",
    "exec",
    "time",
    "nice",
    "nohup",
    "sudo",
    "xvfb-run",
    "npx",
    "bunx",
    "pnpx",
    "cross-env",
    "cross-env-shell",
    "dotenv",
    "c8",
    "nyc",
    "busybox",
    "stdbuf",
    "setsid",
    "winpty",
];

// Programs that look at the files they are given and run none of them.
const CHECKERS: &[&str] = &[
    "ruff",
    "flake8",
    "mypy",
    "pyright",
    "basedpyright",
    "pylint",
    "black",
    "isort",
    "bandit",
    "py_compile",
    "compileall",
    "pyflakes",
    "pycodestyle",
    "eslint",
    "tsc",
    "vue-tsc",
    "tsgo",
    "prettier",
    "biome",
    "oxlint",
    "stylelint",
    "standard",
    "xo",
    "ls",
    "cat",
    "test",
    "[",
    "echo",
    "git",
    "rm",
    "mkdir",
    "cp",
    "mv",
    "grep",
    "pip",
    "pip3",
];

// Programs that run the files they are given as tests.
const TEST_RUNNERS: &[&str] = &[
    "pytest",
    "py.test",
    "unittest",
    "nose2",
    "nosetests",
    "trial",
    "jest",
    "vitest",
    "mocha",
    "_mocha",
    "ava",
    "tap",
    "uvu",
    "jasmine",
    "playwright",
    "bats",
];

struct Walk<'a> {
    source: &'a dyn Source,
    files: BTreeMap<String, CommandFile>,
    seen: BTreeSet<(String, String)>,
}

impl Walk<'_> {
    fn line(&mut self, line: &str, directory: &str, by: &str, depth: usize) {
        if depth > MAX_DEPTH || !self.seen.insert((directory.to_owned(), line.to_owned())) {
            return;
        }
        let mut directory = directory.to_owned();
        for words in shell::commands(line) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if let ["cd" | "pushd", to, ..] = words.as_slice() {
                if let Some(to) = join(&directory, to) {
                    directory = to;
                }
                continue;
            }
            self.command(&words, &directory, by, depth);
        }
    }

    fn command(&mut self, words: &[&str], directory: &str, by: &str, depth: usize) {
        let Some((first, rest)) = words.split_first() else {
            return;
        };
        if let Some((name, value)) = first.split_once('=')
            && !name.is_empty()
            && name.chars().all(|it| it.is_alphanumeric() || it == '_')
        {
            // `NODE_OPTIONS="--require ./x.js"` names a file that runs.
            for word in value.split_whitespace().flat_map(|word| word.split('=')) {
                self.add(word, directory, by, false);
            }
            return self.command(rest, directory, by, depth);
        }
        self.program(first, directory, by, depth);
        let program = first.rsplit(['/', '\\']).next().unwrap_or(first);
        let program = program.trim_end_matches(".exe").trim_end_matches(".cmd");
        match program {
            "timeout" => self.command(rest.get(1..).unwrap_or_default(), directory, by, depth),
            it if STARTERS.contains(&it) => {
                let from = rest.iter().position(|word| !word.starts_with('-'));
                self.options(
                    rest.get(..from.unwrap_or(rest.len())).unwrap_or_default(),
                    directory,
                    by,
                );
                self.command(
                    rest.get(from.unwrap_or(rest.len())..).unwrap_or_default(),
                    directory,
                    by,
                    depth,
                );
            }
            "poetry" | "uv" | "pipenv" | "pdm" | "hatch" | "rye" | "coverage" => {
                self.after_run(rest, directory, by, depth);
            }
            "npm" | "pnpm" | "yarn" | "bun" => self.package_manager(rest, directory, by, depth),
            "turbo" | "nx" | "lerna" | "wireit" => {
                for name in rest.iter().filter(|word| !word.starts_with('-')) {
                    let name = name.rsplit(':').next().unwrap_or(name);
                    self.everywhere(name, depth);
                }
            }
            "run-s" | "run-p" | "npm-run-all" | "npm-run-all2" => {
                for name in rest.iter().filter(|word| !word.starts_with('-')) {
                    self.script(name.trim_end_matches(":*"), directory, depth);
                }
            }
            "concurrently" => {
                for word in rest.iter().filter(|word| !word.starts_with('-')) {
                    match word.strip_prefix("npm:") {
                        Some(name) => {
                            self.script(name, directory, depth);
                        }
                        None => self.line(word, directory, by, depth + 1),
                    }
                }
            }
            "make" | "gmake" => self.make(rest, directory, depth),
            "just" => self.recipes(
                rest,
                directory,
                &["justfile", "Justfile", ".justfile"],
                depth,
            ),
            "tox" => self.settings(directory, "tox.ini", depth),
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" => {
                self.shell(rest, directory, by, depth)
            }
            "python" | "python2" | "py" | "pypy" | "pypy3" => {
                self.python(rest, directory, by, depth)
            }
            it if it.starts_with("python3") => self.python(rest, directory, by, depth),
            "node" | "nodejs" | "tsx" | "ts-node" | "nodemon" | "deno" => {
                self.node(rest, directory, by)
            }
            it if CHECKERS.contains(&it) => self.options(rest, directory, by),
            it if TEST_RUNNERS.contains(&it) => {
                self.options(rest, directory, by);
                self.tests(rest, directory, by);
            }
            _ => {
                for word in rest {
                    self.word(word, directory, by);
                }
            }
        }
    }

    // A program that is a file of the repository, read on when it is a shell script.
    fn program(&mut self, word: &str, directory: &str, by: &str, depth: usize) {
        let Some(path) = self.add(word, directory, by, false) else {
            return;
        };
        let Some(bytes) = self.read(&path) else {
            return;
        };
        let is_shell = [".sh", ".bash"].iter().any(|end| path.ends_with(end))
            || bytes
                .split(|byte| *byte == b'\n')
                .next()
                .is_some_and(|line| line.starts_with(b"#!") && line.ends_with(b"sh"));
        if is_shell {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.line(&text, directory, &path, depth + 1);
        }
    }

    fn word(&mut self, word: &str, directory: &str, by: &str) {
        let value = word
            .split_once('=')
            .filter(|(name, _)| name.starts_with('-'))
            .map_or(word, |(_, value)| value);
        self.add(value, directory, by, false);
    }

    // Settings and plugins that are given by options.
    fn options(&mut self, words: &[&str], directory: &str, by: &str) {
        const TAKE_FILES: &[&str] = &[
            "-c",
            "--config",
            "--config-file",
            "--rcfile",
            "-r",
            "--require",
            "--import",
            "--loader",
            "--setupFiles",
            "--setupFilesAfterEnv",
            "--globalSetup",
            "--environment",
            "--reporter",
            "--plugin",
            "-p",
            "--project",
            "--file",
            "--rootdir",
            "--confcutdir",
            "--env-file",
        ];
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word.starts_with('-') && word.contains('=') {
                self.word(word, directory, by);
            } else if TAKE_FILES.contains(word)
                && let Some(value) = words.next()
            {
                self.add(value, directory, by, false);
            }
        }
    }

    fn tests(&mut self, words: &[&str], directory: &str, by: &str) {
        for word in words.iter().filter(|word| !word.starts_with('-')) {
            let file = word.split("::").next().unwrap_or(word);
            if self.add(file, directory, by, true).is_none() && !file.contains('/') {
                // unittest names modules, perhaps with class and method behind them.
                let parts: Vec<&str> = file.split('.').collect();
                for end in (1..=parts.len()).rev() {
                    let module = parts.get(..end).unwrap_or_default().join("/");
                    if self
                        .add(&format!("{module}.py"), directory, by, true)
                        .is_some()
                    {
                        break;
                    }
                }
            }
        }
    }

    fn after_run(&mut self, words: &[&str], directory: &str, by: &str, depth: usize) {
        let Some(at) = words.iter().position(|word| *word == "run") else {
            return;
        };
        let mut rest = words.get(at + 1..).unwrap_or_default();
        while let Some((first, others)) = rest.split_first()
            && first.starts_with('-')
            && *first != "-m"
        {
            rest = others;
        }
        match rest {
            ["-m", ..] => self.python(rest, directory, by, depth),
            [file, ..] if is_python_file(file) => self.python(rest, directory, by, depth),
            _ => self.command(rest, directory, by, depth),
        }
    }

    fn shell(&mut self, words: &[&str], directory: &str, by: &str, depth: usize) {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word.starts_with('-') {
                if word.ends_with('c')
                    && !word.starts_with("--")
                    && let Some(text) = words.next()
                {
                    return self.line(text, directory, by, depth + 1);
                }
                continue;
            }
            let Some(path) = self.add(word, directory, by, false) else {
                return;
            };
            if let Some(bytes) = self.read(&path) {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.line(&text, directory, &path, depth + 1);
            }
            return;
        }
    }

    fn python(&mut self, words: &[&str], directory: &str, by: &str, depth: usize) {
        let mut words = words;
        while let Some((first, rest)) = words.split_first() {
            match *first {
                "-c" => return,
                "-m" => {
                    let Some((module, rest)) = rest.split_first() else {
                        return;
                    };
                    let path = module.replace('.', "/");
                    let candidates = [
                        format!("{path}.py"),
                        format!("{path}/__main__.py"),
                        format!("src/{path}.py"),
                        format!("src/{path}/__main__.py"),
                    ];
                    let own = candidates
                        .iter()
                        .find_map(|path| self.add(path, directory, by, false));
                    if own.is_none() {
                        let mut inner = vec![*module];
                        inner.extend(rest);
                        self.command(&inner, directory, by, depth + 1);
                    }
                    return;
                }
                "-W" | "-X" => words = rest.get(1..).unwrap_or_default(),
                option if option.starts_with('-') => words = rest,
                file => {
                    self.add(file, directory, by, false);
                    for word in rest {
                        self.word(word, directory, by);
                    }
                    return;
                }
            }
        }
    }

    fn node(&mut self, words: &[&str], directory: &str, by: &str) {
        self.options(words, directory, by);
        let is_test = words
            .iter()
            .any(|word| *word == "--test" || *word == "test");
        for word in words.iter().filter(|word| !word.starts_with('-')) {
            let endings = ["", ".js", ".mjs", ".cjs", ".ts", "/index.js"];
            let found = endings
                .iter()
                .find_map(|ending| self.add(&format!("{word}{ending}"), directory, by, is_test));
            if found.is_some() && !is_test {
                return;
            }
        }
    }

    fn package_manager(&mut self, words: &[&str], directory: &str, by: &str, depth: usize) {
        let mut directory = directory.to_owned();
        let mut everywhere = false;
        let mut plain: Vec<&str> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--prefix" | "-C" | "--dir" | "--cwd" => {
                    let to = words.next().and_then(|to| join(&directory, to));
                    directory = to.unwrap_or(directory);
                }
                "-w" | "--workspace" | "--filter" | "-F" => {
                    everywhere = true;
                    words.next();
                }
                "-r" | "--recursive" | "--workspaces" | "-ws" => everywhere = true,
                "--" => break,
                option if option.starts_with('-') => {
                    everywhere |=
                        option.starts_with("--workspace=") || option.starts_with("--filter=");
                }
                word => plain.push(word),
            }
        }
        let (name, rest) = match plain.as_slice() {
            ["workspace", _, rest @ ..] | ["workspaces", "foreach" | "run", rest @ ..] => {
                everywhere = true;
                match rest {
                    ["run", name, rest @ ..] | [name, rest @ ..] => (*name, rest),
                    [] => return,
                }
            }
            ["run" | "run-script" | "rum" | "urn", name, rest @ ..] => (*name, rest),
            ["exec" | "x" | "dlx", rest @ ..] => {
                return self.command(rest, &directory, by, depth + 1);
            }
            ["t" | "tst", rest @ ..] => ("test", rest),
            [name, rest @ ..] => (*name, rest),
            [] => return,
        };
        if everywhere {
            self.everywhere(name, depth);
        } else if !self.script(name, &directory, depth) {
            let mut inner = vec![name];
            inner.extend(rest);
            self.command(&inner, &directory, by, depth + 1);
        }
    }

    // Runs a script of the nearest package.json, with what runs before and after it.
    fn script(&mut self, name: &str, directory: &str, depth: usize) -> bool {
        let mut at = Some(directory);
        while let Some(directory) = at {
            if let Some(found) = self.package(directory, name, depth) {
                return found;
            }
            at = (!directory.is_empty())
                .then(|| directory.rsplit_once('/').map_or("", |(above, _)| above));
        }
        false
    }

    fn package(&mut self, directory: &str, name: &str, depth: usize) -> Option<bool> {
        let path = join(directory, "package.json")?;
        let manifest: Value = serde_json::from_slice(&self.read(&path)?).ok()?;
        let mut found = false;
        for name in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
            let script = manifest
                .pointer("/scripts")
                .and_then(|all| all.get(&name)?.as_str());
            if let Some(script) = script {
                self.line(script, directory, &path, depth + 1);
                found = true;
            }
        }
        Some(found)
    }

    fn everywhere(&mut self, name: &str, depth: usize) {
        let packages: Vec<String> = self
            .source
            .listing()
            .files()
            .map(|entry| entry.path.as_str())
            .filter(|path| *path == "package.json" || path.ends_with("/package.json"))
            .take(MAX_PACKAGES)
            .map(|path| {
                path.rsplit_once('/')
                    .map_or("", |(above, _)| above)
                    .to_owned()
            })
            .collect();
        for directory in packages {
            self.package(&directory, name, depth);
        }
    }

    fn make(&mut self, words: &[&str], directory: &str, depth: usize) {
        let mut directory = directory.to_owned();
        let mut files = vec!["GNUmakefile", "makefile", "Makefile"];
        let mut targets = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "-C" | "--directory" => {
                    let to = words.next().and_then(|to| join(&directory, to));
                    directory = to.unwrap_or(directory);
                }
                "-f" | "--file" | "--makefile" => {
                    files = words.next().copied().into_iter().collect()
                }
                word if word.starts_with('-') || word.contains('=') => {}
                word => targets.push(word),
            }
        }
        self.recipes(&targets, &directory, &files, depth);
    }

    // Rules of a Makefile or a justfile: `target: what is needed`, and indented lines below it.
    fn recipes(&mut self, targets: &[&str], directory: &str, names: &[&str], depth: usize) {
        let Some((path, bytes)) = names.iter().find_map(|name| {
            let path = join(directory, name)?;
            let bytes = self.read(&path)?;
            Some((path, bytes))
        }) else {
            return;
        };
        self.add(&path, "", "the command", false);
        let text = String::from_utf8_lossy(&bytes).replace("\\\n", " ");
        let mut rules: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
        let mut current: Vec<&str> = Vec::new();
        let mut first = None;
        for line in text.lines() {
            if line.starts_with(['\t', ' ']) {
                for rule in &current {
                    rules.entry(rule).or_default().1.push(line.trim());
                }
            } else if let Some((heads, needs)) = line.split_once(':')
                && !needs.starts_with('=')
                && !line.starts_with('#')
            {
                current = heads.split_whitespace().collect();
                let plain = current.iter().find(|head| !head.starts_with('.'));
                first = first.or(plain.copied());
                for rule in &current {
                    let needs = needs.split(';').next().unwrap_or_default();
                    rules
                        .entry(rule)
                        .or_default()
                        .0
                        .extend(needs.split_whitespace());
                }
            } else if !line.trim().is_empty() {
                current.clear();
            }
        }
        let mut open: Vec<&str> = targets.to_vec();
        open.retain(|target| rules.contains_key(target));
        if open.is_empty() {
            open.extend(first);
        }
        let mut seen = BTreeSet::new();
        while let Some(target) = open.pop() {
            let Some((needs, lines)) = rules.get(target).filter(|_| seen.insert(target)) else {
                continue;
            };
            open.extend(needs);
            for line in lines {
                let line = line.trim_start_matches(['@', '-', '+']);
                let line = line.replace("$(MAKE)", "make").replace("${MAKE}", "make");
                self.line(&line, directory, &path, depth + 1);
            }
        }
    }

    // Commands that stand in a settings file, one a line.
    fn settings(&mut self, directory: &str, name: &str, depth: usize) {
        let Some(path) = join(directory, name) else {
            return;
        };
        let Some(bytes) = self.read(&path) else {
            return;
        };
        let text = String::from_utf8_lossy(&bytes).replace("{posargs}", "");
        for line in text.lines() {
            let line = line.split_once('=').map_or(line, |(name, rest)| {
                if name.trim().starts_with("commands") {
                    rest
                } else {
                    ""
                }
            });
            self.line(line.trim(), directory, &path, depth + 1);
        }
    }

    fn add(&mut self, word: &str, directory: &str, by: &str, is_test: bool) -> Option<String> {
        let path = join(directory, word)?;
        if !self.source.listing().has_file(&path) {
            return None;
        }
        self.files
            .entry(path.clone())
            .or_insert_with(|| CommandFile {
                by: by.to_owned(),
                is_test,
            });
        Some(path)
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = RepoPath::new(path).ok()?;
        self.source
            .listing()
            .has_file(path.as_str())
            .then_some(())?;
        let bytes = self.source.read(&path).ok()?;
        (bytes.len() <= MAX_SCRIPT).then(|| bytes.to_vec())
    }
}

fn is_python_file(word: &str) -> bool {
    word.rsplit_once('.')
        .is_some_and(|(_, extension)| extension == "py")
}

// A path as a command names it, from the root; `None` when it leads out of the repository.
fn join(directory: &str, word: &str) -> Option<String> {
    if word.is_empty() || word.starts_with(['/', '~']) {
        return None;
    }
    let mut parts: Vec<&str> = directory
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in word.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::CommandFiles;
    use crate::model::RepoPath;
    use crate::source::Memory;

    #[test]
    fn follows_what_a_command_runs() {
        let package = r#"{"scripts":{"pretest":"node tools/pre.js","test":"npm run unit && sh ci.sh",
            "unit":"run-s a:b","a:b":"cross-env CI=1 mocha -r ./hook.js lib/check.js","lint":"eslint src/app.js",
            "loop":"npm run loop"}}"#;
        let makefile = "all: test\n.PHONY: test\ntest: build\n\t@python3 run_tests.py \\\n\t\t--fast\nbuild:\n\t./build.sh\nother:\n\tsh other.sh\n";
        let source = Memory::new(
            [
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
            ]
            .map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec())),
        );
        for (line, directory, expected) in [
            (
                "npm test",
                "",
                "ci.sh hook.js lib/check.js* sub/deep.js tools/pre.js",
            ),
            ("npm run lint", "", ""),
            ("npm run loop", "", ""),
            (
                "pnpm -r test",
                "",
                "ci.sh hook.js lib/check.js* sub/deep.js tools/a.js tools/pre.js",
            ),
            ("npm --prefix packages/a t", "", "tools/a.js"),
            ("npm test", "packages/a", "tools/a.js"),
            ("make", "", "Makefile build.sh env.sh run_tests.py"),
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
            ("timeout 5 bash ci.sh", "", "ci.sh sub/deep.js"),
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
            let found = CommandFiles::of(&[line.to_owned()], directory, &source);
            let files: Vec<String> = found
                .iter()
                .map(|(path, file)| format!("{path}{}", if file.is_test { "*" } else { "" }))
                .collect();
            assert_eq!(files.join(" "), expected, "{line}");
        }
    }
}
