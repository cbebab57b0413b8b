use std::fs;
use std::io;
use std::path::Path;

use super::BenchError;
use super::materialise::write;
use crate::diagnose::{LogFacts, diagnose_in};
use crate::exec::{CommandLine, Discard, Job, Limits, Outcome, Stop, run};
use crate::model::Diagnosis;
use crate::policy::{Redactor, sanitize_log};
use crate::source::{EntryKind, Source};

/// What a fixture is made from.
pub struct Skeleton<'a> {
    /// The files of the failing repository.
    pub files: &'a dyn Source,
    /// Where they stand.
    pub root: &'a Path,
    /// The test that fails.
    pub test: &'a str,
    /// Its limits.
    pub limits: Limits,
    /// The fixture's folder, which must not be there yet.
    pub to: &'a Path,
}

/// What was made.
pub struct Made {
    /// What the log of the test says.
    pub diagnosis: Diagnosis,
    /// How the test ended.
    pub outcome: Outcome,
}

/// Writes a fixture from a failing repository: its files, the log, and a `fixture.toml` filled with
/// what the failing test shows. The reference patch and the replies are the author's. `None` when the
/// test passes; then nothing is written.
///
/// # Errors
/// [`BenchError`] when the test cannot be run or the folder cannot be written.
pub fn new_fixture(skeleton: &Skeleton<'_>, stop: &Stop) -> Result<Option<Made>, BenchError> {
    if skeleton.to.exists() {
        let error = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(BenchError::write(skeleton.to, &error));
    }
    let job = Job {
        limits: skeleton.limits,
        ..Job::new(CommandLine::Shell(skeleton.test.to_owned()), skeleton.root)
    };
    let outcome = run(&job, stop, &mut Discard)?;
    if outcome.passed() {
        return Ok(None);
    }
    let facts = LogFacts::of(&outcome, skeleton.test);
    let listing = skeleton.files.listing();
    let diagnosis = diagnose_in(&outcome.output.text(), &facts, skeleton.files);
    let repo = skeleton.to.join("repo");
    for entry in listing.entries() {
        let EntryKind::File { executable } = entry.kind else {
            continue;
        };
        let path = repo.join(entry.path.as_str());
        let bytes = skeleton.files.read(&entry.path).map_err(BenchError::List)?;
        write(&path, &bytes)?;
        if executable {
            let from = skeleton.root.join(entry.path.as_str());
            let mode = fs::metadata(&from).map(|it| it.permissions());
            mode.and_then(|mode| fs::set_permissions(&path, mode))
                .map_err(|error| BenchError::write(&path, &error))?;
        }
    }
    let replies = skeleton.to.join("replies");
    fs::create_dir_all(&replies).map_err(|error| BenchError::write(&replies, &error))?;
    write(
        &skeleton.to.join("failure.log"),
        log(skeleton, &outcome).as_bytes(),
    )?;
    let text = manifest(skeleton, &diagnosis);
    write(&skeleton.to.join("fixture.toml"), text.as_bytes())?;
    Ok(Some(Made { diagnosis, outcome }))
}

// Paths as they are on any machine, nothing secret: a fixture is made to be handed on.
fn log(skeleton: &Skeleton<'_>, outcome: &Outcome) -> String {
    let root = skeleton.root.to_string_lossy();
    let text = outcome
        .output
        .text()
        .replace(&format!("{root}/"), "")
        .replace(root.as_ref(), ".");
    let text = sanitize_log(text.as_bytes());
    let redactor = Redactor::new(std::iter::empty::<(String, String)>());
    redactor.redact(&text).text.into_owned()
}

fn manifest(skeleton: &Skeleton<'_>, diagnosis: &Diagnosis) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let program = skeleton
        .test
        .split_whitespace()
        .find(|word| !word.contains('='))
        .unwrap_or("sh");
    let needed: Vec<String> = diagnosis
        .files
        .iter()
        .filter(|file| file.in_repository)
        .map(|file| quoted(&file.path))
        .collect();
    let mut text = format!(
        "title = {}\nlanguage = {}\ntest = {}\nneeds = [{}]\n",
        quoted(&diagnosis.explanation),
        quoted(language(skeleton.files)),
        quoted(skeleton.test),
        quoted(program),
    );
    text.push_str(
        "# Every file without which nobody can write the repair; here, those of the log.\n",
    );
    text.push_str(&format!("needed = [{}]\n", needed.join(", ")));
    text.push_str(
        "# The lowest level whose packet holds them: `mendit bench FIXTURE --agent oracle` shows it.\n",
    );
    text.push_str("level = 0\nheal-safe = false\n\n[expect]\n");
    text.push_str(&format!("kind = {}\n", quoted(&diagnosis.kind.to_string())));
    if let Some(subkind) = &diagnosis.subkind {
        text.push_str(&format!("subkind = {}\n", quoted(&subkind.to_string())));
    }
    text.push_str("status = \"fixed\"\nstop-reason = \"fixed\"\n");
    text
}

fn language(files: &dyn Source) -> &'static str {
    const LANGUAGES: [(&str, &[&str]); 3] = [
        ("python", &[".py"]),
        ("typescript", &[".ts", ".tsx", ".mts", ".cts"]),
        ("javascript", &[".js", ".jsx", ".mjs", ".cjs"]),
    ];
    let count = |endings: &[&str]| {
        let paths = files.listing().files().map(|it| it.path.as_str());
        paths
            .filter(|path| endings.iter().any(|end| path.ends_with(end)))
            .count()
    };
    LANGUAGES
        .iter()
        .map(|(name, endings)| (count(endings), *name))
        .max_by_key(|(count, _)| *count)
        .map_or("other", |(_, name)| name)
}
