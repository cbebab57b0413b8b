use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ScratchError;

/// What tells that an entry was not touched: its size, when it was changed, which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    bytes: u64,
    modified: i128,
    changed: i128,
    inode: u64,
}

impl Stamp {
    /// Of an entry as it is now.
    #[cfg(unix)]
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let nanos =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            bytes: metadata.len(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// Of an entry as it is now.
    #[cfg(not(unix))]
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let since = |time: io::Result<std::time::SystemTime>| {
            time.ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |time| i128::try_from(time.as_nanos()).unwrap_or(0))
        };
        Self {
            bytes: metadata.len(),
            modified: since(metadata.modified()),
            changed: since(metadata.created()),
            inode: 0,
        }
    }
}

pub(super) fn stamp(at: &Path) -> Option<Stamp> {
    at.symlink_metadata().ok().as_ref().map(Stamp::of)
}

pub(super) fn mode_on_disk(metadata: &Metadata) -> u32 {
    #[cfg(unix)]
    let executable = {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.permissions().mode() & 0o100 != 0
    };
    #[cfg(not(unix))]
    let executable = false;
    match (metadata.is_symlink(), executable) {
        (true, _) => 0o120_000,
        (false, true) => 0o100_755,
        (false, false) => 0o100_644,
    }
}

/// Writes an entry of git's mode where nothing stands; the bytes of a link are its target.
///
/// # Errors
/// What the system says.
pub fn write_entry(at: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if mode == 0o120_000 {
        return write_link(bytes, at);
    }
    fs::write(at, bytes)?;
    #[cfg(unix)]
    if mode == 0o100_755 {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(at, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(unix)]
fn write_link(target: &[u8], at: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    symlink(std::ffi::OsStr::from_bytes(target), at)
}

// As git does where links cannot be made: a file with the target in it.
#[cfg(not(unix))]
fn write_link(target: &[u8], at: &Path) -> io::Result<()> {
    symlink(&*String::from_utf8_lossy(target), at).or_else(|_| fs::write(at, target))
}

/// Makes a link at `at` that leads to `target`.
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub fn symlink(target: impl AsRef<Path>, at: impl AsRef<Path>) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

/// Makes a link at `at` that leads to `target`, which tells of which kind it must be.
///
/// # Errors
/// What the system says.
#[cfg(not(unix))]
pub fn symlink(target: impl AsRef<Path>, at: impl AsRef<Path>) -> io::Result<()> {
    use std::os::windows::fs::{symlink_dir, symlink_file};
    if target.as_ref().is_dir() {
        symlink_dir(target, at)
    } else {
        symlink_file(target, at)
    }
}

/// Removes what stands there, of whatever kind and whatever rights were taken from what is in it;
/// nothing is well too. Links are not followed.
///
/// # Errors
/// What the system says.
pub fn remove_entry(at: &Path) -> io::Result<()> {
    let removed = match at.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(at).or_else(|error| {
            if error.kind() != io::ErrorKind::PermissionDenied {
                return Err(error);
            }
            open_all(at);
            fs::remove_dir_all(at)
        }),
        Ok(_) => fs::remove_file(at),
        Err(_) => Ok(()),
    };
    removed.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

fn open_all(at: &Path) {
    open_folder(at);
    for entry in fs::read_dir(at).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_all(&entry.path());
        }
    }
}

/// Gives the owner of a folder its rights back: what is in it can then be read and removed.
#[cfg(unix)]
pub fn open_folder(at: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    if let Ok(found) = at.symlink_metadata()
        && found.is_dir()
        && found.permissions().mode() & 0o700 != 0o700
    {
        let mode = found.permissions().mode() & 0o7777;
        let _ = fs::set_permissions(at, fs::Permissions::from_mode(mode | 0o700));
    }
}

/// Gives the owner of a folder its rights back; here nobody takes them.
#[cfg(not(unix))]
pub fn open_folder(_: &Path) {}

pub(super) fn remove(at: &Path) -> Result<(), ScratchError> {
    remove_entry(at).map_err(|error| failed(at, &error))
}

pub(super) fn failed(at: &Path, error: &io::Error) -> ScratchError {
    ScratchError::Io {
        path: at.display().to_string(),
        kind: error.kind(),
    }
}
