use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Map, Value};

use super::error::RepairError;
use super::observe::seconds;
use crate::model::Event;
use crate::policy::Redactor;

/// A run's folder: every file whole or absent, masked, written as things happen.
pub struct Journal<'a> {
    folder: PathBuf,
    redactor: &'a Redactor,
    started: Instant,
    before: Duration,
}

impl<'a> Journal<'a> {
    /// Opens or makes the folder. `before` is the time that an interrupted run already took.
    ///
    /// # Errors
    /// [`RepairError::Write`] when it cannot be made.
    pub fn open(
        folder: &Path,
        redactor: &'a Redactor,
        before: Duration,
    ) -> Result<Self, RepairError> {
        fs::create_dir_all(folder).map_err(|error| RepairError::write(folder, &error))?;
        Ok(Self {
            folder: folder.to_owned(),
            redactor,
            started: Instant::now(),
            before,
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Seconds since the run began, interruptions left out.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        seconds(self.before + self.started.elapsed())
    }

    /// Where a file of the run stands.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a text with its secrets masked.
    ///
    /// # Errors
    /// [`RepairError::Write`] when the disk refuses; what stood there before still does.
    pub fn text(&self, name: &str, text: &str) -> Result<(), RepairError> {
        self.bytes(name, self.redactor.redact(text).text.as_bytes())
    }

    /// Writes bytes with their secrets masked.
    ///
    /// # Errors
    /// As [`Journal::text`].
    pub fn masked(&self, name: &str, bytes: &[u8]) -> Result<(), RepairError> {
        self.bytes(name, &self.redactor.redact_bytes(bytes).bytes)
    }

    /// Writes a document as indented JSON with the secrets in its strings masked. A patch in it stays
    /// true to the byte as long as it holds no secret; one that does cannot be applied any more.
    ///
    /// # Errors
    /// As [`Journal::text`].
    pub fn json(&self, name: &str, document: &impl Serialize) -> Result<(), RepairError> {
        let mut text = serde_json::to_string_pretty(document)
            .map_err(|error| RepairError::write(&self.path(name), &error.into()))?;
        text.push('\n');
        self.bytes(name, self.redactor.redact_json(&text).as_bytes())
    }

    /// Appends an event and gives it back.
    ///
    /// # Errors
    /// As [`Journal::text`].
    pub fn event(&self, level: &str, event: &str, fields: Value) -> Result<Event, RepairError> {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let event = Event {
            at: self.seconds(),
            event: event.to_owned(),
            level: level.to_owned(),
            fields,
        };
        let path = self.path("events.jsonl");
        let failed = |error: io::Error| RepairError::write(&path, &error);
        let line = serde_json::to_string(&event).map_err(|error| failed(error.into()))?;
        let line = format!("{}\n", self.redactor.redact_json(&line));
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(failed)?;
        file.write_all(line.as_bytes()).map_err(failed)?;
        Ok(event)
    }

    fn bytes(&self, name: &str, bytes: &[u8]) -> Result<(), RepairError> {
        let path = self.path(name);
        let failed = |error: io::Error| RepairError::write(&path, &error);
        let directory = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(directory).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
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
        let failed = |error: io::Error| RepairError::write(&path, &error);
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let mut taken = file.try_lock();
        // A run whose caller was killed needs a moment to end.
        for _ in 0..WAITS {
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
                return Err(RepairError::Locked {
                    path: path.display().to_string(),
                    holder: holder.trim().to_owned(),
                });
            }
            Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        let holder = format!("process {}, since {}\n", std::process::id(), now_text());
        file.set_len(0).map_err(failed)?;
        file.write_all(holder.as_bytes()).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

const WAITS: u32 = 20;

/// A name for a run that starts now: UTC time and process, sorted by time.
#[must_use]
pub fn run_id() -> String {
    let time = now_text().replace(['-', ':'], "");
    format!("{}-{}", time.trim_end_matches('Z'), std::process::id())
}

// UTC to the second, as RFC 3339 writes it.
fn now_text() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    utc(seconds)
}

fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a civil date, counted in eras of 400 years from 1 March of year 0.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// A document of the run's folder, when it is there and whole.
pub(super) fn read_json<T: serde::de::DeserializeOwned>(
    journal: &Journal<'_>,
    name: &str,
) -> Option<T> {
    let bytes = std::fs::read(journal.path(name)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{RunLock, utc};
    use crate::repair::error::RepairError;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn one_run_at_a_time_and_the_holder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let held = RunLock::take(folder.path()).unwrap();
        let Err(RepairError::Locked { holder, .. }) = RunLock::take(folder.path()) else {
            panic!("taken twice");
        };
        assert!(holder.contains(&format!("process {}", std::process::id())));
        drop(held);
        RunLock::take(folder.path()).unwrap();
    }
}
