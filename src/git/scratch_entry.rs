use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ScratchError;
use crate::source::EntryKind;

/// What tells that a file was not touched since it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    bytes: u64,
    modified: i128,
    changed: i128,
    inode: u64,
}

impl Stamp {
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Self {
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

    #[cfg(not(unix))]
    pub(super) fn of(metadata: &Metadata) -> Self {
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

pub(super) fn mode_of(kind: &EntryKind) -> Option<u32> {
    match kind {
        EntryKind::File { executable: true } => Some(0o100_755),
        EntryKind::File { executable: false } => Some(0o100_644),
        EntryKind::Symlink { .. } => Some(0o120_000),
        EntryKind::Submodule { .. } | EntryKind::Special | EntryKind::NotCheckedOut => None,
    }
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

pub(super) fn write_entry(at: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if mode == 0o120_000 {
        return symlink(Path::new(&*String::from_utf8_lossy(bytes)), at);
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
pub(super) fn symlink(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
pub(super) fn symlink(target: &Path, at: &Path) -> io::Result<()> {
    if target.is_dir() {
        std::os::windows::fs::symlink_dir(target, at)
    } else {
        std::os::windows::fs::symlink_file(target, at)
    }
}

// Of whatever kind, and without following a link.
pub(super) fn remove(at: &Path) -> Result<(), ScratchError> {
    let removed = match at.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(at),
        Ok(_) => fs::remove_file(at),
        Err(_) => return Ok(()),
    };
    removed.map_err(|error| failed(at, &error))
}

pub(super) fn failed(at: &Path, error: &io::Error) -> ScratchError {
    ScratchError::Io {
        path: at.display().to_string(),
        kind: error.kind(),
    }
}
