//! Prepares a checkout and an environment for a commit of a real history.

use std::fmt::Write as _;
use std::fs;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::environment::with_environment;
use crate::bench::BenchError;
use crate::exec::{CommandLine, Discard, Environment, Job, Limits, Sandbox, Stop, run};
use crate::git::{Repository, first_commit, remove_entry, write_entry};
use crate::model::{AtPath as _, BlobId, RealEnvironment, RepoPath, SandboxMode, file_name};
use crate::source::{Entry, EntryKind, Source};

/// A working folder of one environment: the files of one state at a time, and what the set-up created. The
/// repository there has one commit, so no history reveals the fix. Locked until this value is dropped.
#[derive(Debug)]
pub(crate) struct Checkout {
    home: PathBuf,
    name: String,
    // Held, since its lock ends with it.
    _lock: File,
}

impl Checkout {
    /// Takes the first checkout below `work` for an environment of a repository that nobody uses, set up or not:
    /// neither this process nor another.
    ///
    /// # Errors
    /// [`BenchError::Disk`] when the disk refuses.
    pub(super) fn take(
        work: &Path,
        repository: &str,
        environment: &RealEnvironment,
    ) -> Result<Self, BenchError> {
        let shelf = work.join(repository.replace('/', "+")).join(&environment.name);
        make_folder(&shelf)?;
        let mut number = 1;
        loop {
            let path = shelf.join(format!("{number}.lock"));
            let lock = File::create(&path).at(&path)?;
            match lock.try_lock() {
                Ok(()) => {
                    return Ok(Self {
                        home: shelf.join(number.to_string()),
                        name: file_name(repository).to_owned(),
                        _lock: lock,
                    });
                }
                Err(TryLockError::WouldBlock) => number += 1,
                Err(TryLockError::Error(error)) => Err(error).at(&path)?,
            }
        }
    }

    /// The worktree.
    pub(super) fn root(&self) -> PathBuf {
        self.home.join("tree").join(&self.name)
    }

    /// The environment's own folder, outside the worktree.
    pub(super) fn environment(&self) -> PathBuf {
        self.home.join("env")
    }

    /// A folder for isolated copies.
    pub(super) fn slot(&self) -> PathBuf {
        self.home.join("place")
    }

    /// Runs the set-up, unless it was run here before in the same words.
    ///
    /// # Errors
    /// [`BenchError::SetUp`] when a command fails.
    pub(super) fn set_up(
        &self,
        environment: &RealEnvironment,
        clone: &Repository,
        stop: &Stop,
    ) -> Result<(), BenchError> {
        let ready = self.home.join("ready");
        let wanted = serde_json::to_string(&(
            &environment.setup, &environment.commit, &environment.variables,
        ))
        .unwrap_or_default();
        let is_whole = self.root().join(".git").is_dir();
        if is_whole && fs::read_to_string(&ready).is_ok_and(|text| text == wanted) {
            return Ok(());
        }
        remove_entry(&self.home).at(&self.home)?;
        make_folder(&self.environment())?;
        let files = clone.tree(&environment.commit).map_err(|error| {
            let commit = &environment.commit;
            BenchError::Lacking(format!("the clone lacks the commit {commit}: {error}"))
        })?;
        self.lay_files(&files)?;
        let log = self.home.join("setup.log");
        let mut outputs = String::new();
        for line in &environment.setup {
            let job = Job {
                environment: Environment::with(self.variables(environment)),
                limits: Limits::within(SETUP_TIMEOUT),
                sandbox: Sandbox {
                    mode: SandboxMode::Off,
                    ..Sandbox::default()
                },
                ..Job::new(
                    CommandLine::Shell(with_environment(line, &self.environment())),
                    self.root(),
                )
            };
            let outcome = run(&job, stop, &mut Discard)?;
            let _ = writeln!(outputs, "$ {line}\n{}", outcome.output.text());
            fs::write(&log, &outputs).at(&log)?;
            if !outcome.passed() {
                let (name, end, log) = (&environment.name, outcome.end, log.display());
                let message = format!(
                    "the setup of `{name}` failed at `{line}`: {end}; `{log}` has its output"
                );
                return Err(BenchError::SetUp(message));
            }
        }
        Ok(fs::write(&ready, wanted).at(&ready)?)
    }

    /// The environment's variables, with its folder in them.
    pub(super) fn variables(&self, environment: &RealEnvironment) -> Vec<String> {
        let own = self.environment();
        environment.variables.iter().map(|text| with_environment(text, &own)).collect()
    }

    /// Makes the worktree's files those of `files`; what git ignores there and the set-up made
    /// stays. Files that are as they should be are not touched.
    ///
    /// # Errors
    /// [`BenchError::Lacking`] when the clone lacks one, or the disk refuses.
    pub(super) fn lay_files(&self, files: &dyn Source) -> Result<(), BenchError> {
        let root = self.root();
        make_folder(&root)?;
        let git = root.join(".git");
        let is_laid = git.is_dir();
        let before = if is_laid {
            Repository::discover(&root)?.map(|git| git.tree("HEAD")).transpose()?
        } else {
            None
        };
        // Without it an interrupted change of files is begun again with the set-up.
        if is_laid {
            fs::remove_dir_all(&git).at(&git)?;
        }
        let old = before.as_ref().map(|tree| tree.listing());
        let gone = old.into_iter().flat_map(|listing| listing.entries());
        for entry in gone.filter(|entry| files.listing().get(entry.path.as_str()).is_none()) {
            remove_file(&root, &entry.path)?;
        }
        for entry in files.listing().entries() {
            let known = old.and_then(|listing| listing.get(entry.path.as_str()));
            let is_same = known.is_some_and(|known| known.kind == entry.kind)
                && before.as_ref().and_then(|tree| tree.blob_id(&entry.path))
                    == blob_id(files, &entry.path);
            if !is_same {
                put_entry(&root, entry, files)?;
            }
        }
        first_commit(&root, files)?;
        Ok(())
    }
}

const SETUP_TIMEOUT: std::time::Duration = std::time::Duration::from_mins(30);

fn blob_id(files: &dyn Source, path: &RepoPath) -> Option<BlobId> {
    files
        .blob_id(path)
        .or_else(|| Some(BlobId::from_content(&files.read(path).ok()?)))
}

fn put_entry(root: &Path, entry: &Entry, files: &dyn Source) -> Result<(), BenchError> {
    let at = root.join(entry.path.as_str());
    let bytes = match &entry.kind {
        EntryKind::File { .. } => files.read(&entry.path).map_err(BenchError::Source)?,
        EntryKind::Symlink { target } => target.as_bytes().into(),
        EntryKind::NotCheckedOut => {
            let message = format!("the clone lacks the file `{}`", entry.path);
            return Err(BenchError::Lacking(message));
        }
        _ => return Ok(()),
    };
    remove_entry(&at).at(&at)?;
    if let Some(parent) = at.parent() {
        // A file may be where a folder is needed.
        for folder in parent.ancestors().take_while(|above| *above != root) {
            if folder.symlink_metadata().is_ok_and(|about| !about.is_dir()) {
                fs::remove_file(folder).at(&at)?;
            }
        }
        make_folder(parent)?;
    }
    Ok(write_entry(&at, &bytes, entry.kind.mode().unwrap_or(0o100_644)).at(&at)?)
}

// With the folders above it that are empty then.
fn remove_file(root: &Path, path: &RepoPath) -> Result<(), BenchError> {
    let at = root.join(path.as_str());
    remove_entry(&at).at(&at)?;
    let above = at.ancestors().skip(1).take_while(|above| *above != root);
    for folder in above {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

fn make_folder(folder: &Path) -> Result<(), BenchError> {
    Ok(fs::create_dir_all(folder).at(folder)?)
}

#[cfg(test)]
mod tests {
    use super::Checkout;
    use crate::git::Repository;
    use crate::model::RealEnvironment;
    use crate::source::{Memory, Source as _};

    fn files(rows: &[(&str, &str)]) -> Memory {
        Memory::named(rows.iter().copied())
    }

    fn environment() -> RealEnvironment {
        RealEnvironment {
            name: "one".to_owned(),
            commit: String::new(),
            setup: Vec::new(),
            test: String::new(),
            variables: Vec::new(),
            needs: Vec::new(),
            timeout_seconds: 1.0,
        }
    }

    #[test]
    fn checkout_replaces_state_and_keeps_ignored() {
        let home = tempfile::tempdir().unwrap();
        let checkout = Checkout::take(home.path(), "a/repo", &environment()).unwrap();
        let first = files(&[("a.py", "1"), ("b/c.py", "2"), (".gitignore", "out/\n")]);
        checkout.lay_files(&first).unwrap();
        let root = checkout.root();
        std::fs::create_dir(root.join("out")).unwrap();
        std::fs::write(root.join("out/kept"), "x").unwrap();
        let second = files(&[("a.py", "1"), ("b", "a file now"), (".gitignore", "out/\n")]);
        checkout.lay_files(&second).unwrap();
        assert!(root.join("out/kept").is_file() && root.join("b").is_file());
        let git = Repository::discover(&root).unwrap().unwrap();
        let tree = git.tree("HEAD").unwrap();
        let paths: Vec<_> = tree.listing().files().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, [".gitignore", "a.py", "b"]);
        assert!(git.tree("HEAD~1").is_err(), "no history");
        checkout.lay_files(&first).unwrap();
        assert_eq!(std::fs::read_to_string(root.join("b/c.py")).unwrap(), "2");
    }

    #[test]
    fn locks_checkout() {
        let home = tempfile::tempdir().unwrap();
        let take = || Checkout::take(home.path(), "a/b", &environment()).unwrap();
        let (first, second) = (take(), take());
        let root = first.root();
        assert_ne!(root, second.root());
        drop(first);
        assert_eq!(take().root(), root);
    }
}
