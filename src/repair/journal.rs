//! Writes a run's folder. Every file is whole or absent, so that a killed run can be resumed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::error::RepairError;
use crate::model::{AtPath as _, Event, EventKind, hex};
use crate::policy::Redactor;

/// A run's folder: every file whole or absent, masked, written as things happen.
pub struct Journal<'a> {
    folder: PathBuf,
    // Where people and CI read it; written, never read back.
    copy: Option<PathBuf>,
    redactor: &'a Redactor,
    started: Instant,
    before: Duration,
}

impl<'a> Journal<'a> {
    /// Opens or makes the folder, and the one in which a copy of every file is written. `before` is the time that an
    /// interrupted run already took.
    ///
    /// # Errors
    /// [`RepairError::Write`] when it cannot be made.
    pub fn open(
        folder: &Path,
        copy: Option<&Path>,
        redactor: &'a Redactor,
        before: Duration,
    ) -> Result<Self, RepairError> {
        for folder in copy.into_iter().chain([folder]) {
            fs::create_dir_all(folder).at(folder)?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            copy: copy.map(Path::to_owned),
            redactor,
            started: Instant::now(),
            before,
        })
    }

    /// Seconds since the run began, interruptions left out.
    pub fn seconds(&self) -> f64 {
        round_millis((self.before + self.started.elapsed()).as_secs_f64())
    }

    /// Returns the path of a file of the run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A text of the run.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// Writes a text with its secrets masked.
    ///
    /// # Errors
    /// [`RepairError::Write`] when the disk refuses; the earlier content is then kept.
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), RepairError> {
        self.write_bytes(name, self.redactor.redact(text).text.as_bytes())
    }

    /// Writes bytes with their secrets masked.
    ///
    /// # Errors
    /// As [`Journal::write_text`].
    pub fn write_masked(&self, name: &str, bytes: &[u8]) -> Result<(), RepairError> {
        self.write_bytes(name, &self.redactor.redact_bytes(bytes).bytes)
    }

    /// Writes a document as indented JSON with the secrets in its strings masked. A patch in it stays
    /// true to the byte as long as it holds no secret; one that does cannot be applied any more.
    ///
    /// # Errors
    /// As [`Journal::write_text`].
    pub fn write_json(&self, name: &str, document: &impl Serialize) -> Result<(), RepairError> {
        let mut text = serde_json::to_string_pretty(document).at(self.path(name))?;
        text.push('\n');
        self.write_bytes(name, self.redactor.redact_json(&text).as_bytes())
    }

    /// Appends an event and gives it back.
    ///
    /// # Errors
    /// As [`Journal::write_text`].
    pub fn event(&self, kind: EventKind) -> Result<Event, RepairError> {
        let event = Event {
            at: self.seconds(),
            level: kind.level(),
            kind,
        };
        let line = serde_json::to_string(&event).at(self.path("events.jsonl"))?;
        let line = format!("{}\n", self.redactor.redact_json(&line));
        for folder in self.run_folders() {
            let path = folder.join("events.jsonl");
            let mut open = OpenOptions::new();
            open.create(true)
                .append(true)
                .open(&path)
                .and_then(|mut file| file.write_all(line.as_bytes()))
                .at(&path)?;
        }
        Ok(event)
    }

    fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<(), RepairError> {
        for folder in self.run_folders() {
            let path = folder.join(name);
            write_atomically(&path, bytes).at(&path)?;
        }
        Ok(())
    }

    fn run_folders(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.folder).chain(&self.copy)
    }
}

/// Writes a file in one step: a reader sees the old content or all of the new.
///
/// # Errors
/// When the system refuses a step.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Holds a repository for one run at a time. The system lets go of it when the process dies,
/// however that happens.
#[derive(Debug)]
pub struct RunLock {
    // Held for its lock.
    _file: File,
}

impl RunLock {
    /// Takes the lock in a folder.
    ///
    /// # Errors
    /// [`RepairError::Locked`] with its holder while another run has it, [`RepairError::Write`]
    /// when it cannot be made.
    pub fn take(folder: &Path) -> Result<Self, RepairError> {
        let path = folder.join("repair.lock");
        fs::create_dir_all(folder).at(folder)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).at(&path)?;
        let mut taken = file.try_lock();
        // Waits briefly, because a run whose caller was killed needs a moment to end.
        for _ in 0..20 {
            if !matches!(taken, Err(fs::TryLockError::WouldBlock)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            taken = file.try_lock();
        }
        match taken {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).unwrap_or_default();
                return Err(RepairError::Locked(path, holder.trim().to_owned()));
            }
            Err(fs::TryLockError::Error(error)) => Err(error).at(&path)?,
        }
        let holder = format!(
            "process {}, since {:.0}\n",
            std::process::id(),
            jiff::Timestamp::now()
        );
        file.set_len(0).at(&path)?;
        file.write_all(holder.as_bytes()).at(&path)?;
        Ok(Self { _file: file })
    }
}

/// Returns a SHA-256 in hex.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Formats a moment as documents have it.
pub fn in_utc(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Rounds seconds to steps of a millisecond.
pub(super) fn round_millis(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// Reads a document, when it is there and readable.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::RunLock;
    use crate::repair::error::RepairError;

    #[test]
    fn lock_names_holder() {
        let folder = tempfile::tempdir().unwrap();
        let held = RunLock::take(folder.path()).unwrap();
        let Err(RepairError::Locked(_, holder)) = RunLock::take(folder.path()) else {
            panic!("taken twice");
        };
        assert!(holder.contains(&format!("process {}", std::process::id())));
        drop(held);
        RunLock::take(folder.path()).unwrap();
    }
}
