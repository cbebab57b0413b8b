use std::collections::{BTreeMap, BTreeSet};

use super::files::CommandFile;
use super::programs::PROGRAMS;
use super::shell;
use crate::model::{PathProblem, RepoPath};
use crate::source::Source;

/// Scripts that run scripts, and programs that start programs.
const MAX_DEPTH: usize = 16;
/// Longest script that is read.
const MAX_SCRIPT: usize = 1 << 20;

const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

/// Follows commands from file to file.
pub(super) struct Walk<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) files: BTreeMap<String, CommandFile>,
    pub(super) commands: Vec<Vec<String>>,
    pub(super) everywhere: Option<[String; 2]>,
    // Whether the lines are those of a shell script: what it names may be the very code under test.
    in_script: bool,
    // Whether some of the lines may not run at all.
    guessing: bool,
    seen: BTreeSet<(String, String, bool, bool)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a dyn Source) -> Self {
        Self {
            source,
            files: BTreeMap::new(),
            commands: Vec::new(),
            everywhere: None,
            in_script: false,
            guessing: false,
            seen: BTreeSet::new(),
        }
    }
}

impl Walk<'_> {
    pub(super) fn line(&mut self, line: &str, directory: &str, by: &str, depth: usize) {
        let seen = (
            directory.to_owned(),
            line.to_owned(),
            self.in_script,
            self.guessing,
        );
        if depth > MAX_DEPTH || !self.seen.insert(seen) {
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

    pub(super) fn command(&mut self, words: &[&str], directory: &str, by: &str, depth: usize) {
        let values = words.iter().map_while(|word| set_value(word));
        let values: Vec<&str> = values.collect();
        if !values.is_empty() {
            self.note(words);
        }
        // `NODE_OPTIONS="--require ./x.js"` names a file that runs.
        for word in values
            .iter()
            .flat_map(|it| it.split(['=', ' ', '\t', '\n']))
        {
            self.add(word, directory, by, false);
        }
        let words = words.get(values.len()..).unwrap_or_default();
        let Some((first, rest)) = words.split_first().filter(|_| depth <= MAX_DEPTH) else {
            return;
        };
        self.note(words);
        let own = self.add(first, directory, by, false);
        let program = first.rsplit(['/', '\\']).next().unwrap_or(first);
        let program = program.trim_end_matches(".exe").trim_end_matches(".cmd");
        match program {
            it if PROGRAMS.starts(it) => {
                // `timeout -k 5 1.5m`, `nice -n 10`: options and the numbers they take.
                let own =
                    |word: &&&str| word.starts_with(|it: char| it == '-' || it.is_ascii_digit());
                let (own, rest) = rest.split_at(rest.iter().take_while(own).count());
                self.options(own, directory, by);
                self.command(rest, directory, by, depth + 1);
            }
            "poetry" | "uv" | "pipenv" | "pdm" | "hatch" | "rye" | "pixi" | "coverage" => {
                self.after_run(rest, directory, by, depth);
            }
            "npm" | "pnpm" | "yarn" | "bun" => {
                self.package_manager((program, rest), directory, by, depth);
            }
            "turbo" | "nx" | "lerna" | "wireit" => {
                for name in rest.iter().filter(|word| !word.starts_with('-')) {
                    let name = name.rsplit(':').next().unwrap_or(name);
                    self.everywhere(name, true, depth);
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
            "just" => self.recipes(rest, directory, &JUSTFILES, depth),
            // Which of its environments run is not known.
            "tox" => self.guess(|walk| walk.settings(directory, "tox.ini", depth)),
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" => {
                self.shell(rest, directory, by, depth);
            }
            "python" | "python2" | "py" | "pypy" | "pypy3" => {
                self.python(rest, directory, by, depth);
            }
            it if it.starts_with("python3") => self.python(rest, directory, by, depth),
            "node" | "nodejs" | "tsx" | "ts-node" | "nodemon" | "deno" => {
                self.node(rest, directory, by);
            }
            it if PROGRAMS.runs_none(it) => {
                self.options(rest, directory, by);
            }
            it if PROGRAMS.tests(it) => {
                self.options(rest, directory, by);
                self.tests(rest, directory, by);
            }
            _ => {
                for word in rest {
                    self.word(word, directory, by);
                }
                if let Some(path) = own {
                    self.shell_script(&path, true, directory, by, depth);
                }
            }
        }
    }

    fn note(&mut self, words: &[&str]) {
        if !self.guessing {
            let words = words.iter().map(|it| (*it).to_owned());
            self.commands.push(words.collect());
        }
    }

    // Commands of which it is not known whether they run: their files count, they do not.
    pub(super) fn is_guessing(&self) -> bool {
        self.guessing
    }

    pub(super) fn guess(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.guessing, true);
        walk(self);
        self.guessing = before;
    }

    fn shell_script(
        &mut self,
        path: &str,
        by_shebang: bool,
        directory: &str,
        by: &str,
        depth: usize,
    ) {
        let Some(bytes) = self.read(path) else { return };
        let text = String::from_utf8_lossy(&bytes);
        let first = text.lines().next().unwrap_or_default();
        let is_shell = first.starts_with("#!") && (first.ends_with("sh") || first.contains("sh "));
        if !by_shebang || is_shell {
            let before = std::mem::replace(&mut self.in_script, true);
            self.line(&text, directory, by, depth + 1);
            self.in_script = before;
        }
    }

    pub(super) fn word(&mut self, word: &str, directory: &str, by: &str) {
        let value = word
            .split_once('=')
            .filter(|(name, _)| name.starts_with('-'))
            .map_or(word, |(_, value)| value);
        self.add(value, directory, by, false);
    }

    // Settings and plugins that are given by options.
    pub(super) fn options(&mut self, words: &[&str], directory: &str, by: &str) {
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

    pub(super) fn tests(&mut self, words: &[&str], directory: &str, by: &str) {
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
            _ => self.command(rest, directory, by, depth + 1),
        }
    }

    pub(super) fn shell(&mut self, words: &[&str], directory: &str, by: &str, depth: usize) {
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
            if let Some(path) = self.add(word, directory, by, false) {
                self.shell_script(&path, false, directory, by, depth);
            }
            return;
        }
    }

    pub(super) fn python(&mut self, words: &[&str], directory: &str, by: &str, depth: usize) {
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

    pub(super) fn node(&mut self, words: &[&str], directory: &str, by: &str) {
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

    pub(super) fn add(
        &mut self,
        word: &str,
        directory: &str,
        by: &str,
        is_test: bool,
    ) -> Option<String> {
        let path = join(directory, word)?;
        if !self.source.listing().has_file(&path) {
            return None;
        }
        if !self.in_script {
            self.files
                .entry(path.clone())
                .or_insert_with(|| CommandFile {
                    by: by.to_owned(),
                    is_test,
                });
        }
        Some(path)
    }

    pub(super) fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = RepoPath::new(path).ok()?;
        self.source
            .listing()
            .has_file(path.as_str())
            .then_some(())?;
        let bytes = self.source.read(&path).ok()?;
        (bytes.len() <= MAX_SCRIPT).then(|| bytes.to_vec())
    }
}

// What a word before a command gives to a variable.
fn set_value(word: &str) -> Option<&str> {
    let (name, value) = word.split_once('=')?;
    let is_name = |it: char| it.is_alphanumeric() || it == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(value)
}

fn is_python_file(word: &str) -> bool {
    word.rsplit_once('.')
        .is_some_and(|(_, extension)| extension == "py")
}

/// A path as a command names it, from the root; `None` when it leads out of the repository.
pub(super) fn join(directory: &str, word: &str) -> Option<String> {
    if word.is_empty() || word.starts_with(['/', '~']) {
        return None;
    }
    match RepoPath::resolve(directory, &word.replace('\\', "/")) {
        Ok(path) => Some(path.as_str().to_owned()),
        Err(PathProblem::Empty) => Some(String::new()),
        Err(_) => None,
    }
}
