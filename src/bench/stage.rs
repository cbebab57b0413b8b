//! Writes the repository of a fixture to disk (secrets filled in, one commit), and runs its hidden tests in a fresh
//! copy, so that a patch cannot prepare for them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{BenchError, Fixture, HIDDEN_PASSED};
use crate::exec::{CommandLine, Discard, Environment, Job, Limits, Stop, run};
use crate::git::first_commit;
use crate::model::AtPath as _;
use crate::patch::{Change, JudgeOptions, judge, write_worktree};
use crate::policy::Allowed;
use crate::source::{Source, Untracked, Worktree};

/// What the hidden tests of a fixture came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hidden {
    /// All of them ran and passed.
    Passed,
    /// They did not, and how it ended.
    Failed(String),
}

/// Reads the patch of a run. A reference may change what a reply may not, such as a test that is wrong.
pub(super) fn read_patch(patch: &[u8], source: &dyn Source) -> Result<Vec<Change>, Hidden> {
    let options = JudgeOptions {
        allowed: Allowed::new(&["**".to_owned()]).unwrap_or_default(),
        ..JudgeOptions::default()
    };
    let judged = judge(patch, source, &options);
    if judged.changes.is_empty() {
        let feedback = judged.verdict.feedback;
        return Err(Hidden::Failed(format!(
            "its patch does not apply: {feedback}"
        )));
    }
    Ok(judged.changes)
}

/// Runs the hidden tests in a fresh copy below `home` that has `patch` in it. The copy is gone
/// afterwards, so that nothing else ever sees them. A fixture without hidden tests passes.
///
/// # Errors
/// [`BenchError`] when something could not be run or written.
pub(super) fn hidden_tests(
    fixture: &Fixture,
    patch: Option<&[u8]>,
    home: &Path,
    stop: &Stop,
) -> Result<Hidden, BenchError> {
    let Some(line) = &fixture.hidden_test else {
        return Ok(Hidden::Passed);
    };
    std::fs::create_dir_all(home).at(home)?;
    let home = tempfile::tempdir_in(home).at(home)?;
    let root = materialise(fixture, home.path())?;
    if let Some(patch) = patch {
        let source = Worktree::open(&root, Box::new(Untracked), 1).map_err(BenchError::Source)?;
        match read_patch(patch, &source) {
            Ok(changes) => write_worktree(&root, home.path(), &changes)?,
            Err(failed) => return Ok(failed),
        }
    }
    copy_files(fixture, &hidden_folder(fixture), &root)?;
    let job = Job {
        limits: Limits::within(fixture.timeout()),
        environment: Environment::with(vec![temporary_name(home.path())?]),
        ..Job::new(CommandLine::Shell(line.clone()), &root)
    };
    let outcome = run(&job, stop, &mut Discard)?;
    let text = outcome.output.text();
    let reported = text.lines().any(|line| line.trim() == HIDDEN_PASSED);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.unwrap_or("no output").trim();
    Ok(match (outcome.passed(), reported) {
        (true, true) => Hidden::Passed,
        (true, false) => Hidden::Failed(format!("it never printed `{HIDDEN_PASSED}`")),
        (false, _) => Hidden::Failed(format!("{}, `{last}`", outcome.end)),
    })
}

/// Lays a fixture's repository out in `home`, which is made: secrets filled in,
/// one commit. Gives the root of its worktree.
///
/// # Errors
/// [`BenchError`] when the disk refuses.
pub fn materialise(fixture: &Fixture, home: &Path) -> Result<PathBuf, BenchError> {
    // The name that a log shows, and what tools of the test may look at.
    let root = home.join(&fixture.id);
    copy_files(fixture, &fixture.directory.join("repo"), &root)?;
    let files = Worktree::open(&root, Box::new(Untracked), 1).map_err(BenchError::Source)?;
    first_commit(&root, &files)?;
    Ok(root)
}

/// The folder with the hidden tests of a fixture: beside its repository, never in it.
pub(super) fn hidden_folder(fixture: &Fixture) -> PathBuf {
    fixture.directory.join("hidden")
}
/// A directory below `home` for temporary files, as a variable for commands: what a test leaves
/// there is seen by no other fixture and by no later run.
pub(super) fn temporary_name(home: &Path) -> Result<String, BenchError> {
    let path = home.join("tmp");
    fs::create_dir_all(&path).at(&path)?;
    Ok(format!("TMPDIR={}", path.display()))
}

fn copy_files(fixture: &Fixture, from: &Path, to: &Path) -> Result<(), BenchError> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        fs::create_dir_all(&to).at(&to)?;
        for entry in fs::read_dir(&from).at(&from)? {
            let entry = entry.at(&from)?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type().at(&from)?;
            if kind.is_dir() {
                open.push((source, target));
            } else if kind.is_file() {
                let bytes = fs::read(&source).at(&source)?;
                let mode = entry.metadata().at(&from)?.permissions();
                fs::write(&target, fill_bytes(fixture, bytes))
                    .and_then(|()| fs::set_permissions(&target, mode))
                    .at(&target)?;
            }
        }
    }
    Ok(())
}

// Bytes that are no text hold no name of a secret.
fn fill_bytes(fixture: &Fixture, bytes: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) if !fixture.secrets.is_empty() => fixture.fill(&text).into_bytes(),
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    }
}
