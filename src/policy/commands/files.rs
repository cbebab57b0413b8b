//! The files and programs that a command line names: its own words, those of scripts in
//! `package.json` that it runs, and nothing that other files name in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;

use super::shell::split_commands;
use crate::model::{PathProblem, RepoPath};
use crate::source::Source;

// Programs that start programs, and scripts that run scripts.
const MAX_DEPTH: usize = 16;

/// The files of a repository that commands run.
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
    /// Where it is named: `the command`, or the path of the file with the script.
    pub by: String,
    /// Whether a test runner runs it as a test.
    pub is_test: bool,
}

impl CommandFiles {
    /// Reads commands, lines for a shell, that start in `directory` (`""` is the root).
    pub fn find(lines: &[String], directory: &str, source: &dyn Source) -> Self {
        let mut reader = Reader {
            source,
            found: Self::default(),
        };
        for line in lines {
            let place = Place {
                directory: directory.to_owned(),
                by: "the command",
                depth: 0,
            };
            reader.read_line(line, place);
        }
        reader.found
    }

    /// Adds files that the failure itself lies in: a repair may change them.
    pub fn with_evidence(mut self, paths: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(paths);
        self
    }

    /// Returns the file that a command runs at this path.
    pub fn get(&self, path: &str) -> Option<&CommandFile> {
        self.files.get(path)
    }

    /// Returns the words of every simple command, of those inside `sh -c`, `npx` and the like too, in
    /// their order.
    pub fn commands(&self) -> &[Vec<String>] {
        &self.commands
    }

    /// Returns a package manager and the script that it runs in each package of a workspace.
    pub fn everywhere(&self) -> Option<&[String; 2]> {
        self.everywhere.as_ref()
    }

    /// Whether the failure itself lies in this file.
    pub fn is_evidence(&self, path: &str) -> bool {
        self.evidence.contains(path)
    }
}

/// Where a command starts, what names it, and how many programs start it.
#[derive(Clone)]
struct Place<'a> {
    directory: String,
    by: &'a str,
    depth: usize,
}

impl Place<'_> {
    fn deeper(&self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self.clone()
        }
    }

    fn enter(&mut self, to: &str) {
        if let Some(directory) = join_path(&self.directory, to) {
            self.directory = directory;
        }
    }
}

struct Reader<'a> {
    source: &'a dyn Source,
    found: CommandFiles,
}

impl Reader<'_> {
    fn read_line(&mut self, line: &str, mut place: Place<'_>) {
        for words in split_commands(line) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["cd" | "pushd", to, ..] => place.enter(to),
                words => self.read_command(words, &place),
            }
        }
    }

    fn read_command(&mut self, words: &[&str], place: &Place<'_>) {
        let Some((first, rest)) = words.split_first().filter(|_| place.depth <= MAX_DEPTH) else {
            return;
        };
        self.found.commands.push(words.iter().map(|word| (*word).to_owned()).collect());
        // `NODE_OPTIONS="--require ./x.js"` names a file that runs.
        let values: Vec<&str> = words.iter().map_while(|word| assigned_value(word)).collect();
        if !values.is_empty() {
            let parts = values.iter().flat_map(|value| value.split(['=', ' ', '\t', '\n']));
            self.add_words(&parts.collect::<Vec<_>>(), place, false);
            return self.read_command(&words[values.len()..], &place.deeper());
        }
        self.add(first, place, false);
        let program = first.rsplit(['/', '\\']).next().unwrap_or(first);
        let program = program.trim_end_matches(".exe").trim_end_matches(".cmd");
        match program {
            _ if has_word(&PROGRAMS.starters, program) => {
                // `timeout -k 5 1.5m`, `nice -n 10`: options and the numbers they take.
                let mut words = rest.iter();
                let end = words.position(|w| !w.starts_with(|c: char| c == '-' || c.is_numeric()));
                let (own, started) = rest.split_at(end.unwrap_or(rest.len()));
                self.add_words(own, place, false);
                self.read_command(started, &place.deeper());
            }
            _ if has_word(&PROGRAMS.run_tools, program) => {
                let run = rest.iter().position(|word| *word == "run");
                match run.map_or(&[][..], |at| skip_options(&rest[at + 1..])) {
                    started @ ["-m", ..] => self.read_python(started, place),
                    started => self.read_command(started, &place.deeper()),
                }
            }
            "npm" | "pnpm" | "yarn" | "bun" => self.read_package_manager(program, rest, place),
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" => self.read_shell(rest, place),
            "py" | "pypy" | "pypy3" => self.read_python(rest, place),
            _ if program.starts_with("python") => self.read_python(rest, place),
            _ => self.read_arguments(program, rest, place),
        }
    }

    fn read_arguments(&mut self, program: &str, words: &[&str], place: &Place<'_>) {
        let only_options = has_word(&PROGRAMS.readers, program);
        let is_test = has_word(&PROGRAMS.test_runners, program) || words.contains(&"--test");
        for (at, word) in words.iter().enumerate() {
            let is_value = at > 0 && has_word(&PROGRAMS.take_files, words[at - 1]);
            let is_option = is_value || word.starts_with('-');
            if is_option || !only_options {
                self.add_words(&[word], place, is_test && !is_option);
            }
        }
    }

    fn read_package_manager(&mut self, manager: &str, words: &[&str], place: &Place<'_>) {
        let mut place = place.deeper();
        let mut rest = words;
        if let ["--prefix" | "-C" | "--dir" | "--cwd", to, after @ ..] = words {
            place.enter(to);
            rest = after;
        }
        // With a workspace filter it is not known which package is meant.
        if has_option(&["-w", "--workspace", "--filter", "-F", "workspace"], words) {
            return;
        }
        let started = match skip_options(rest) {
            ["exec" | "x" | "dlx", started @ ..] => {
                return self.read_command(skip_options(started), &place);
            }
            ["t" | "tst", ..] => &["test"][..],
            ["run" | "run-script", started @ ..] => skip_options(started),
            started => started,
        };
        let name = started.first().copied().unwrap_or_default();
        if has_option(&["-r", "--recursive", "--workspaces", "-ws"], words) {
            self.found.everywhere = Some([manager.to_owned(), name.to_owned()]);
        } else if !self.read_script(name, &place) {
            self.read_command(started, &place);
        }
    }

    /// Reads a script of the nearest `package.json`, with those that run before and after it.
    fn read_script(&mut self, name: &str, place: &Place<'_>) -> bool {
        let folders = std::iter::successors(Some(place.directory.as_str()), |folder| {
            let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
            (!folder.is_empty()).then_some(above)
        });
        let mut manifests = folders.filter_map(|folder| {
            let path = RepoPath::new(&join_path(folder, "package.json")?).ok()?;
            Some((folder, self.source.read(&path).ok()?, path))
        });
        let Some((folder, bytes, path)) = manifests.next() else {
            return false;
        };
        let manifest = serde_json::from_slice::<Value>(&bytes).unwrap_or_default();
        let names = [format!("pre{name}"), name.to_owned(), format!("post{name}")];
        let scripts = names.iter().filter_map(|name| manifest.get("scripts")?.get(name)?.as_str());
        let scripts: Vec<&str> = scripts.collect();
        for script in &scripts {
            let inner = Place {
                directory: folder.to_owned(),
                by: path.as_str(),
                depth: place.depth,
            };
            if place.depth <= MAX_DEPTH && self.found.commands.len() < 1000 {
                self.read_line(script, inner);
            }
        }
        !scripts.is_empty()
    }

    fn read_shell(&mut self, words: &[&str], place: &Place<'_>) {
        let at = words.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
        match at.and_then(|at| words.get(at + 1)) {
            Some(line) if place.depth < MAX_DEPTH => self.read_line(line, place.deeper()),
            _ => self.add_words(words, place, false),
        }
    }

    fn read_python(&mut self, words: &[&str], place: &Place<'_>) {
        match words {
            ["-m", module, rest @ ..] => {
                let path = module.replace('.', "/");
                let is_own = self.add_program(&path, place, false)
                    || self.add_program(&format!("src/{path}"), place, false);
                if !is_own {
                    self.read_command(&[&[*module], rest].concat(), &place.deeper());
                }
            }
            ["-W" | "-X", _, rest @ ..] => self.read_python(rest, place),
            [option, rest @ ..] if option.starts_with('-') => self.read_python(rest, place),
            words => self.add_words(words, place, false),
        }
    }

    /// Adds the files that words name: as values of options, with the name of a test behind them, and
    /// as modules with a class and a method.
    fn add_words(&mut self, words: &[&str], place: &Place<'_>, is_test: bool) {
        for word in words {
            let value = word.split_once('=').map_or(*word, |(_, value)| value);
            let file = value.split("::").next().unwrap_or(value);
            if !self.add_program(file, place, is_test) && is_test {
                let parts: Vec<&str> = file.split('.').collect();
                let mut modules = (1..=parts.len()).rev().map(|end| parts[..end].join("/"));
                modules.any(|module| self.add_program(&module, place, true));
            }
        }
    }

    fn add_program(&mut self, path: &str, place: &Place<'_>, is_test: bool) -> bool {
        const ENDS: [&str; 7] = ["", ".py", "/__main__.py", ".js", ".mjs", ".cjs", ".ts"];
        let mut names = ENDS.iter().map(|end| format!("{path}{end}"));
        names.any(|name| self.add(&name, place, is_test))
    }

    fn add(&mut self, word: &str, place: &Place<'_>, is_test: bool) -> bool {
        let path = join_path(&place.directory, word);
        let Some(path) = path.filter(|path| self.source.listing().has_file(path)) else {
            return false;
        };
        let file = CommandFile {
            by: place.by.to_owned(),
            is_test,
        };
        self.found.files.entry(path).or_insert(file);
        true
    }
}

fn has_option(options: &[&str], words: &[&str]) -> bool {
    let mut names = words.iter().filter_map(|word| word.split('=').next());
    names.any(|name| options.contains(&name))
}

/// Returns the value that a word before a command gives to a variable.
fn assigned_value(word: &str) -> Option<&str> {
    let (name, value) = word.split_once('=')?;
    (!name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_'))
        .then_some(value)
}

fn skip_options<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    &words[words.iter().take_while(|word| word.starts_with('-') && **word != "-m").count()..]
}

/// Resolves a path as a command names it, from the root; `None` when it leads out of the repository.
fn join_path(directory: &str, word: &str) -> Option<String> {
    if word.is_empty() || word.starts_with(['/', '~']) {
        return None;
    }
    match RepoPath::resolve(directory, &word.replace('\\', "/")) {
        Ok(path) => Some(path.as_str().to_owned()),
        Err(PathProblem::Empty) => Some(String::new()),
        Err(_) => None,
    }
}

/// What programs do with the files they are given: `programs.toml`, which a test reads.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    starters: Vec<String>,
    readers: Vec<String>,
    test_runners: Vec<String>,
    take_files: Vec<String>,
    run_tools: Vec<String>,
}

static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    crate::model::read_table(embedded!("policy/commands/programs.toml")).unwrap_or_default()
});

fn has_word(words: &[String], name: &str) -> bool {
    words.iter().any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::{CommandFiles, PROGRAMS};
    use crate::source::Memory;

    #[test]
    fn finds_files_that_a_command_line_names() {
        assert!(!PROGRAMS.starters.is_empty());
        let package = serde_json::json!({"scripts": {
            "pretest": "node tools/pre.js", "test": "npm run unit && sh ci.sh",
            "unit": "cross-env CI=1 mocha -r ./hook.js lib/check.js", "lint": "eslint src/app.js",
            "loop": "npm run loop",
        }});
        let package = package.to_string();
        let inner = serde_json::json!({"scripts": {"test": "node ../../tools/a"}}).to_string();
        let source = Memory::named([
            ("package.json", package.as_str()),
            ("packages/a/package.json", &inner),
            ("Makefile", "test:\n\tsh other.sh\n"),
            ("ci.sh", "#!/bin/sh\nnode ./deep.js\n"),
            ("tools/pre.js", ""),
            ("tools/a.js", ""),
            ("hook.js", ""),
            ("lib/check.js", ""),
            ("sub/deep.js", ""),
            ("src/app.js", ""),
            ("src/app.py", ""),
            ("run_tests.py", ""),
            ("other.sh", ""),
            ("pkg/__main__.py", ""),
            ("tests/test_a.py", ""),
            ("conf.toml", ""),
        ]);
        for (line, directory, expected) in [
            ("npm test", "", "ci.sh hook.js lib/check.js* tools/pre.js"),
            ("npm run lint", "", ""),
            ("npm run loop", "", ""),
            ("npm --prefix packages/a t", "", "tools/a.js"),
            ("npm test", "packages/a", "tools/a.js"),
            ("make test", "", ""),
            ("cd packages && node ../lib/check", "", "lib/check.js"),
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
            ("node ../../etc/passwd", "", ""),
            ("true", "", ""),
        ] {
            let found = CommandFiles::find(&[line.to_owned()], directory, &source);
            let files = found
                .files
                .iter()
                .map(|(path, file)| format!("{path}{}", if file.is_test { "*" } else { "" }));
            assert_eq!(files.collect::<Vec<_>>().join(" "), expected, "{line}");
        }
    }

    #[test]
    fn ends_with_programs_that_start_each_other() {
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
