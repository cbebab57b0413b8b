use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::counter_proof::{Case, Trying};
use super::error::RepairError;
use super::session::Session;
use super::test_names::names_it;
use crate::languages::{Language, PYTHON};
use crate::model::{Disguise, RepoPath};
use crate::patch::{Change, FileState};

/// How tests ended that were called as plain functions.
#[derive(Deserialize)]
struct GuiseCounts {
    passed: u64,
    failed: u64,
    /// By their runner all the same.
    partly: bool,
}

impl Session<'_> {
    /// Runs the tests of a counter-proof without what tells code that it is tested. Only where they fail so
    /// and pass in the same way with all of it, the difference is the code's.
    pub(super) fn disguise(
        &mut self,
        trying: &mut Trying<'_>,
        cases: &[Case],
    ) -> Result<(), RepairError> {
        let Some(first) = cases.first() else {
            return Ok(());
        };
        let path = first.path.clone();
        let own: Vec<&Case> = cases.iter().filter(|it| it.path == path).collect();
        let Some((line, how)) = self.guise_of(&trying.line, &path) else {
            let why = "no other guise is known for how the command runs its tests";
            trying.result.not_applicable.push(why.to_owned());
            return Ok(());
        };
        // As the tests are, not as they were exchanged last.
        self.lay(trying.laid, &[])?;
        let guise = Guise { line, path, own };
        let neutral = self.in_guise(trying, &guise, how, false)?;
        let end = match neutral {
            Some(Disguise::Failed) => match self.in_guise(trying, &guise, how, true)? {
                Some(Disguise::Passed | Disguise::Partly) => Disguise::Failed,
                _ => Disguise::NotApplicable,
            },
            end => end.unwrap_or_default(),
        };
        trying.result.disguise = end;
        if end == Disguise::Partly {
            let why = "the tests need their runner: its modules, its frames and its globals stay";
            trying.result.not_applicable.push(why.to_owned());
        }
        if end == Disguise::NotApplicable {
            let why = "the tests need their runner: they were tried in no other guise";
            trying.result.not_applicable.push(why.to_owned());
        } else if end == Disguise::Failed {
            trying.refute(
                "the tests pass only where code can tell that it is tested: without the names and \
                 variables of the runner they fail",
            );
        }
        Ok(())
    }

    /// Whether there is a guise for the tests of a counter-proof.
    pub(super) fn has_guise(&self, trying: &Trying<'_>, cases: &[Case]) -> bool {
        let first = cases.first();
        first.is_some_and(|it| self.guise_of(&trying.line, &it.path).is_some())
    }

    // The line that starts tests of a file in another guise, but for what it is to run.
    fn guise_of(&self, line: &str, path: &RepoPath) -> Option<(String, How)> {
        let language = Language::of_path(path.as_str());
        if language.is_some_and(|it| std::ptr::eq(it, &raw const PYTHON)) {
            return python(line).map(|it| (it, How::Python));
        }
        let own = self.seen_from_command(path);
        node(line)
            .map(|it| (it, How::Node))
            .or_else(|| runner(line, &own).map(|it| (it, How::Runner)))
    }

    // A path as a command names it.
    fn seen_from_command(&self, path: &RepoPath) -> String {
        let prefix = format!("{}/", self.setup.prefix);
        let path = path.as_str();
        path.strip_prefix(&prefix).unwrap_or(path).to_owned()
    }

    // How the tests end in a guise; `None` where they cannot be run in it.
    fn in_guise(
        &mut self,
        trying: &mut Trying<'_>,
        guise: &Guise<'_>,
        how: How,
        marked: bool,
    ) -> Result<Option<Disguise>, RepairError> {
        let why = if marked {
            "with marks of a runner"
        } else {
            "in another guise"
        };
        match how {
            How::Python => self.as_functions(trying, guise, marked, why),
            How::Node => self.as_script(trying, guise, marked, why),
            How::Runner => self.under_other_names(trying, guise, marked, why),
        }
    }

    fn as_functions(
        &mut self,
        trying: &mut Trying<'_>,
        guise: &Guise<'_>,
        marked: bool,
        why: &str,
    ) -> Result<Option<Disguise>, RepairError> {
        let folder = self.place.private().join("entry");
        let failed = |error: &std::io::Error| RepairError::write(&folder, error);
        let file = self.seen_from_command(&guise.path);
        let text = self.place.state(&guise.path)?.map(|it| it.bytes);
        let text = text.unwrap_or_else(|| std::sync::Arc::from([]));
        let keeps = LOOKS_AT_ITSELF
            .iter()
            .any(|it| memchr::memmem::find(&text, it.as_bytes()).is_some());
        let tests: Vec<&Vec<String>> = guise.own.iter().map(|it| &it.test.names).collect();
        let new = trying.laid.iter().filter(|it| it.before.is_none());
        let new: Vec<&str> = new.filter_map(|it| module(it.path.as_str())).collect();
        let history = !asks_history(trying);
        let spec = json!({
            "file": file, "tests": tests, "marked": marked, "keeps": keeps, "new": new, "history": history,
        });
        fs::create_dir_all(&folder).map_err(|it| failed(&it))?;
        let output = folder.join("said.json");
        let _ = fs::remove_file(&output);
        for (name, text) in [("main.py", DRIVER), ("spec.json", &spec.to_string())] {
            fs::write(folder.join(name), text).map_err(|it| failed(&it))?;
        }
        let main = folder.join("main.py");
        let line = format!("{} '{}'", guise.line, main.display());
        let ran = self.run_line(trying, &line, &[], why)?;
        Ok(ran.and_then(|_| read(&output)).and_then(|end| match end {
            end if end.failed > 0 => Some(Disguise::Failed),
            end if end.passed > 0 && end.partly => Some(Disguise::Partly),
            end if end.passed > 0 => Some(Disguise::Passed),
            _ => None,
        }))
    }

    fn as_script(
        &mut self,
        trying: &mut Trying<'_>,
        guise: &Guise<'_>,
        marked: bool,
        why: &str,
    ) -> Result<Option<Disguise>, RepairError> {
        let Some(state) = self.place.state(&guise.path)? else {
            return Ok(None);
        };
        let keeps = LOOKS_AT_ITSELF
            .iter()
            .any(|it| memchr::memmem::find(&state.bytes, it.as_bytes()).is_some());
        let path = guise.path.as_str();
        let extension = path.rsplit('.').next().unwrap_or("js");
        // Under another folder, too, where it takes nothing from its own.
        let beside = [&b"'./"[..], b"\"./", b"`./"];
        let stays = beside
            .iter()
            .any(|it| memchr::memmem::find(&state.bytes, it).is_some());
        let other = match guise.path.directory() {
            "" => format!("entry.{extension}"),
            folder if stays => format!("{folder}/entry.{extension}"),
            folder => {
                let around = folder
                    .rfind('/')
                    .map_or("", |at| folder.get(..=at).unwrap_or(""));
                format!("{around}entry/entry.{extension}")
            }
        };
        let other = RepoPath::new(&other).ok().filter(|_| !marked && !keeps);
        let is_free = match &other {
            Some(other) => self.place.state(other)?.is_none(),
            None => true,
        };
        let named = self.seen_from_command(other.as_ref().unwrap_or(&guise.path));
        let marks = match marked {
            true => "NODE_TEST_CONTEXT=child ",
            false if asks_history(trying) => "GIT_DIR=/dev/null ",
            false => "",
        };
        // By which pytest is asked for a report.
        let line = format!("unset PYTEST_ADDOPTS; {marks}{} '{named}'", guise.line);
        let extra: Vec<Change> = other
            .map(|path| {
                let after = FileState::new(state.bytes.clone(), 0o100_644);
                Change::between(path, None, Some(after))
            })
            .into_iter()
            .collect();
        if !is_free {
            return Ok(None);
        }
        let ran = self.run_line(trying, &line, &extra, why)?;
        let runner = memchr::memmem::find(&state.bytes, b"node:test").is_some();
        Ok(ran.map(|it| match (it.observed.passed, runner) {
            (true, true) => Disguise::Partly,
            (true, false) => Disguise::Passed,
            (false, _) => Disguise::Failed,
        }))
    }

    // The runner runs them, from a file of another name that first takes away what the runner set.
    fn under_other_names(
        &mut self,
        trying: &mut Trying<'_>,
        guise: &Guise<'_>,
        marked: bool,
        why: &str,
    ) -> Result<Option<Disguise>, RepairError> {
        let Some(state) = self.place.state(&guise.path)? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&state.bytes).into_owned();
        let keeps = LOOKS_AT_ITSELF.iter().any(|it| text.contains(it));
        let Some([entry, setup]) = beside(&guise.path) else {
            return Ok(None);
        };
        let free = self.place.state(&entry)?.is_none() && self.place.state(&setup)?.is_none();
        // With marks it is the file itself that runs.
        if !marked && !free {
            return Ok(None);
        }
        let mut extra = Vec::new();
        let mut named = self.seen_from_command(&guise.path);
        if !marked {
            let mut takes = TAKES_AWAY.to_owned();
            // What tells kinds of builds apart is changed only where the change itself asks for it.
            for name in ["NODE_ENV", "MODE"] {
                if trying.laid.iter().any(|it| newly_names(it, name)) {
                    takes.push_str(&format!("process.env.{name} = 'development';\n"));
                }
            }
            if asks_history(trying) {
                takes.push_str("process.env.GIT_DIR = '/dev/null';\n");
            }
            let after = FileState::new(takes.into_bytes(), 0o100_644);
            extra.push(Change::between(setup.clone(), None, Some(after)));
            let after = FileState::new(started_by(&text, &setup).into_bytes(), state.mode);
            if keeps {
                let path = guise.path.clone();
                extra.push(Change::between(path, Some(state), Some(after)));
            } else {
                named = self.seen_from_command(&entry);
                extra.push(Change::between(entry, None, Some(after)));
            }
        }
        let line = guise.line.replace(PLACE, &named);
        let Some(ran) = self.run_line(trying, &line, &extra, why)? else {
            return Ok(None);
        };
        let accounts = || ran.evidence.iter().flat_map(|it| &it.accounts);
        let is_own = |id: &str| guise.own.iter().any(|it| names_it(id, &it.test.names));
        let failed = ran.diagnosis.tests.iter().any(|it| is_own(&it.id));
        let passed: u64 = accounts().map(|it| it.counts.passed).sum();
        Ok(match (ran.observed.passed, passed, failed) {
            (true, 1.., _) => Some(Disguise::Partly),
            // A file that is not found or cannot be loaded says nothing.
            (false, _, true) => Some(Disguise::Failed),
            _ => None,
        })
    }
}

// The name by which Python imports a file, without the folders around it.
fn module(path: &str) -> Option<&str> {
    let path = path
        .strip_suffix("/__init__.py")
        .or_else(|| path.strip_suffix(".py"))?;
    path.rsplit('/').next()
}

// Whether a change may read what tests say where git keeps it.
fn asks_history(trying: &Trying<'_>) -> bool {
    trying.laid.iter().any(|it| newly_names(it, "git"))
}

// Whether a change has a name that was not there before.
fn newly_names(change: &Change, name: &str) -> bool {
    let has = |side: &Option<FileState>| {
        let bytes = side.as_ref().map(|it| it.bytes.clone());
        bytes.is_some_and(|it| memchr::memmem::find(&it, name.as_bytes()).is_some())
    };
    has(&change.after) && !has(&change.before)
}

// The file in whose name tests of another run, and what it takes first.
fn beside(path: &RepoPath) -> Option<[RepoPath; 2]> {
    let (stem, ending) = path.as_str().rsplit('/').next()?.split_once('.')?;
    let extension = ending.rsplit('.').next()?;
    let folder = match path.directory() {
        "" => String::new(),
        folder => format!("{folder}/"),
    };
    (stem != "entry").then_some(())?;
    let plain = match extension {
        "ts" | "tsx" | "jsx" => "js",
        own => own,
    };
    let entry = RepoPath::new(&format!("{folder}entry.{ending}")).ok()?;
    Some([
        entry,
        RepoPath::new(&format!("{folder}entry-first.{plain}")).ok()?,
    ])
}

// A text that takes `setup` before all else, below its own first comments.
fn started_by(text: &str, setup: &RepoPath) -> String {
    let name = setup.as_str().rsplit('/').next().unwrap_or_default();
    let is_module = text
        .lines()
        .any(|it| it.starts_with("import ") || it.starts_with("export "));
    let first = if is_module {
        format!("import './{name}';\n")
    } else {
        format!("require('./{name}');\n")
    };
    let (mut at, mut inside) = (0, false);
    for line in text.split_inclusive('\n') {
        let code = line.trim();
        inside |= code.starts_with("/*");
        let is_code =
            !(inside || code.is_empty() || code.starts_with("//") || code.starts_with("'use "));
        inside &= !code.contains("*/");
        if is_code {
            break;
        }
        at += line.len();
    }
    let (head, rest) = text.split_at(at);
    format!("{head}{first}{rest}")
}

// What runners leave for what they run.
const TAKES_AWAY: &str = "\
for (const name of Object.keys(process.env)) {
  if (/^(?:VITEST|JEST_|MOCHA|NODE_TEST|npm_)/.test(name)) delete process.env[name];
}
process.argv.splice(1);
const own = ['describe', 'context', 'suite', 'it', 'test', 'specify', 'before', 'beforeAll', 'beforeEach', 'after',
  'afterAll', 'afterEach', 'xit', 'xtest', 'xdescribe', 'fit', 'fdescribe'];
for (const name of Object.keys(globalThis)) {
  const known = Object.getOwnPropertyDescriptor(globalThis, name);
  if (name.startsWith('__') && known.configurable) Object.defineProperty(globalThis, name, { enumerable: false });
}
const hook = globalThis.beforeAll || globalThis.before;
if (typeof hook === 'function') hook(() => own.forEach((name) => delete globalThis[name]));
";

// What has its tests called in another way.
#[derive(Clone, Copy)]
enum How {
    Python,
    Node,
    Runner,
}

struct Guise<'c> {
    line: String,
    path: RepoPath,
    own: Vec<&'c Case>,
}

const DRIVER: &str = include_str!("disguise.py");

/// Words of a test that may rest on its own name or place.
const LOOKS_AT_ITSELF: &[&str] = &[
    "__file",
    "__name__",
    "from .",
    "inspect",
    "__dirname",
    "import.meta",
    "pickle",
    "Snapshot(",
];

fn read(path: &Path) -> Option<GuiseCounts> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let text = (metadata.is_file() && metadata.len() < 4096).then(|| fs::read(path).ok())??;
    serde_json::from_slice(&text).ok()
}

// The words that start the same Python, of a command that runs tests with it.
fn python(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let at = words.iter().position(|word| {
        let base = base(word);
        base.starts_with("python") || base == "pytest" || base == "py.test"
    })?;
    let (before, word) = (words.get(..at)?, *words.get(at)?);
    let name = if base(word).starts_with("python") {
        word.to_owned()
    } else {
        match word.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/python"),
            None => "python3".to_owned(),
        }
    };
    let mut found: Vec<String> = before.iter().map(|it| (*it).to_owned()).collect();
    found.push(name);
    Some(found.join(" "))
}

// The same of node's own runner, without what makes it one.
fn node(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words
        .iter()
        .position(|it| it.rsplit('/').next() == Some("node"))?;
    words.contains(&"--test").then_some(())?;
    let mut kept: Vec<&str> = words.get(..=at)?.to_vec();
    let mut rest = words.get(at + 1..)?.iter();
    while let Some(word) = rest.next() {
        if matches!(
            *word,
            "--import" | "--require" | "-r" | "--loader" | "-C" | "--conditions"
        ) {
            kept.extend([*word, rest.next()?]);
        } else if word.starts_with('-') && !word.starts_with("--test") {
            kept.push(word);
        }
    }
    Some(kept.join(" "))
}

// The line of a runner of script with a place for the file of its tests.
fn runner(line: &str, file: &str) -> Option<String> {
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let words: Vec<String> = line.split_whitespace().map(base).collect();
    let of = |name: &str| words.iter().any(|it| it == name);
    if !(of("vitest") || of("jest") || of("mocha")) {
        return None;
    }
    if line.split_whitespace().any(|it| it == file) {
        return Some(line.replacen(file, PLACE, 1));
    }
    if of("mocha") {
        return Some(format!("{line} {PLACE}"));
    }
    // An option behind it might take the file for its own.
    let mut split = line.split_whitespace();
    let is_runner = |it: &&str| matches!(base(it).as_str(), "vitest" | "jest");
    let mut found: Vec<&str> = Vec::new();
    for word in split.by_ref() {
        found.push(word);
        if is_runner(&word) {
            break;
        }
    }
    let mut rest = split.peekable();
    found.extend(rest.next_if_eq(&"run"));
    found.push(PLACE);
    found.extend(rest);
    Some(found.join(" "))
}

const PLACE: &str = "{file}";

#[cfg(test)]
mod tests {
    use super::{PLACE, beside, node, python, runner, started_by};
    use crate::model::RepoPath;

    #[test]
    fn a_runner_takes_another_file() {
        let file = "test/a.test.ts";
        for (line, expected) in [
            (
                format!("npx vitest run {file} -t '^(a b)$'"),
                Some("npx vitest run {file} -t '^(a b)$'"),
            ),
            ("npx mocha -g a".to_owned(), Some("npx mocha -g a {file}")),
            ("npx jest --ci".to_owned(), Some("npx jest {file} --ci")),
            (
                "npx vitest run -t a".to_owned(),
                Some("npx vitest run {file} -t a"),
            ),
            (format!("npm test {file}"), None),
        ] {
            assert_eq!(runner(&line, file).as_deref(), expected, "{line} {PLACE}");
        }
        let path = RepoPath::new(file).unwrap();
        let [entry, setup] = beside(&path).unwrap();
        assert_eq!(entry.as_str(), "test/entry.test.ts");
        assert_eq!(setup.as_str(), "test/entry-first.js");
        let text = "/**\n * @jest-environment node\n */\n// a\nimport a from './a';\n";
        let started = started_by(text, &setup);
        assert_eq!(
            started,
            text.replace("import a", "import './entry-first.js';\nimport a")
        );
        assert!(started_by("const a = 1\n", &setup).starts_with("require('./entry-first.js');\n"));
    }

    #[test]
    fn the_same_program_is_started_without_its_runner() {
        for (line, expected) in [
            ("python3 -m pytest -q tests/a.py::t", Some("python3")),
            ("A=1 uv run pytest tests", Some("A=1 uv run python3")),
            (".venv/bin/pytest", Some(".venv/bin/python")),
            ("tox", None),
        ] {
            assert_eq!(python(line).as_deref(), expected, "{line}");
        }
        for (line, expected) in [
            (
                "node --import tsx --test-name-pattern=a --test test/*.ts",
                Some("node --import tsx"),
            ),
            ("npx vitest run", None),
            ("node check.js", None),
        ] {
            assert_eq!(node(line).as_deref(), expected, "{line}");
        }
    }
}
