use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::counter_proof::{Case, Trying};
use super::error::RepairError;
use super::session::Session;
use crate::languages::{Language, PYTHON};
use crate::model::{Disguise, RepoPath};
use crate::patch::{Change, FileState};

/// How tests ended that were called as plain functions.
#[derive(Deserialize)]
struct Said {
    passed: u64,
    failed: u64,
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
        let is_python =
            Language::of_path(path.as_str()).is_some_and(|it| std::ptr::eq(it, &raw const PYTHON));
        let (line, how) = if is_python {
            (python(&trying.line), How::Python)
        } else {
            (node(&trying.line), How::Node)
        };
        let Some(line) = line else {
            let said = "no other guise is known for how the command runs its tests";
            trying.told.not_applicable.push(said.to_owned());
            return Ok(());
        };
        // As the tests are, not as they were exchanged last.
        self.lay(trying.laid, &[])?;
        let guise = Guise { line, path, own };
        let neutral = self.in_guise(trying, &guise, how, false)?;
        let end = match neutral {
            Some(true) => Disguise::Passed,
            Some(false) if self.in_guise(trying, &guise, how, true)? == Some(true) => {
                Disguise::Failed
            }
            _ => Disguise::NotApplicable,
        };
        trying.told.disguise = end;
        if end == Disguise::NotApplicable {
            let said = "the tests need their runner: they were tried in no other guise";
            trying.told.not_applicable.push(said.to_owned());
        } else if end == Disguise::Failed {
            trying.refute(
                "the tests pass only where code can tell that it is tested: without the names and \
                 variables of the runner they fail",
            );
        }
        Ok(())
    }

    // Whether the tests pass in a guise; `None` where they cannot be run in it.
    fn in_guise(
        &mut self,
        trying: &mut Trying<'_>,
        guise: &Guise<'_>,
        how: How,
        marked: bool,
    ) -> Result<Option<bool>, RepairError> {
        let why = if marked {
            "with marks of a runner"
        } else {
            "in another guise"
        };
        match how {
            How::Python => self.as_functions(trying, guise, marked, why),
            How::Node => self.as_script(trying, guise, marked, why),
        }
    }

    fn as_functions(
        &mut self,
        trying: &mut Trying<'_>,
        guise: &Guise<'_>,
        marked: bool,
        why: &str,
    ) -> Result<Option<bool>, RepairError> {
        let folder = self.place.private().join("entry");
        let failed = |error: &std::io::Error| RepairError::write(&folder, error);
        let prefix = format!("{}/", self.setup.prefix);
        let file = guise.path.as_str();
        let file = file.strip_prefix(&prefix).unwrap_or(file);
        let text = self.place.state(&guise.path)?.map(|it| it.bytes);
        let text = text.unwrap_or_else(|| std::sync::Arc::from([]));
        let keeps = LOOKS_AT_ITSELF
            .iter()
            .any(|it| memchr::memmem::find(&text, it.as_bytes()).is_some());
        let tests: Vec<&Vec<String>> = guise.own.iter().map(|it| &it.test.names).collect();
        let spec = json!({ "file": file, "tests": tests, "marked": marked, "keeps": keeps });
        fs::create_dir_all(&folder).map_err(|it| failed(&it))?;
        let said = folder.join("said.json");
        let _ = fs::remove_file(&said);
        for (name, text) in [("main.py", DRIVER), ("spec.json", &spec.to_string())] {
            fs::write(folder.join(name), text).map_err(|it| failed(&it))?;
        }
        let main = folder.join("main.py");
        let line = format!("{} '{}'", guise.line, main.display());
        let ran = self.run_line(trying, &line, &[], why)?;
        Ok(ran.and_then(|_| read(&said)).and_then(|it| match it {
            Said { failed: 0, passed } if passed > 0 => Some(true),
            Said { failed, .. } if failed > 0 => Some(false),
            _ => None,
        }))
    }

    fn as_script(
        &mut self,
        trying: &mut Trying<'_>,
        guise: &Guise<'_>,
        marked: bool,
        why: &str,
    ) -> Result<Option<bool>, RepairError> {
        let Some(state) = self.place.state(&guise.path)? else {
            return Ok(None);
        };
        let keeps = LOOKS_AT_ITSELF
            .iter()
            .any(|it| memchr::memmem::find(&state.bytes, it.as_bytes()).is_some());
        let path = guise.path.as_str();
        let extension = path.rsplit('.').next().unwrap_or("js");
        let other = match guise.path.directory() {
            "" => format!("entry.{extension}"),
            folder => format!("{folder}/entry.{extension}"),
        };
        let other = RepoPath::new(&other).ok().filter(|_| !marked && !keeps);
        let is_free = match &other {
            Some(other) => self.place.state(other)?.is_none(),
            None => true,
        };
        let named = other.as_ref().unwrap_or(&guise.path).to_string();
        let prefix = format!("{}/", self.setup.prefix);
        let named = named.strip_prefix(&prefix).unwrap_or(&named);
        let marks = if marked {
            "NODE_TEST_CONTEXT=child "
        } else {
            ""
        };
        let line = format!("{marks}{} '{named}'", guise.line);
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
        Ok(ran.map(|it| it.observed.passed))
    }
}

// What has its tests called in another way.
#[derive(Clone, Copy)]
enum How {
    Python,
    Node,
}

struct Guise<'c> {
    line: String,
    path: RepoPath,
    own: Vec<&'c Case>,
}

const DRIVER: &str = include_str!("disguise.py");

/// Words of a test that may rest on its own name or place.
const LOOKS_AT_ITSELF: &[&str] = &[
    "__file__",
    "__name__",
    "from .",
    "inspect",
    "__filename",
    "__dirname",
    "import.meta",
    "pickle",
];

fn read(path: &Path) -> Option<Said> {
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

#[cfg(test)]
mod tests {
    use super::{node, python};

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
