//! Reads size, time and mode of a file, to see whether it changed.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ScratchError;
use crate::model::AtPath as _;

/// The metadata that shows an entry is unchanged: size, time of change, inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    bytes: u64,
    modified: i128,
    changed: i128,
    inode: u64,
}

impl Stamp {
    /// Takes the stamp of an entry as it is now.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

pub(super) fn read_stamp(at: &Path) -> Option<Stamp> {
    at.symlink_metadata().ok().as_ref().map(Stamp::from_metadata)
}

pub(super) fn mode_on_disk(metadata: &Metadata) -> u32 {
    let executable = metadata.permissions().mode() & 0o100 != 0;
    match (metadata.is_symlink(), executable) {
        (true, _) => 0o120_000,
        (false, true) => 0o100_755,
        (false, false) => 0o100_644,
    }
}

/// Writes an entry of git's mode where nothing is; the bytes of a link are its target.
///
/// # Errors
/// What the system says.
pub fn write_entry(at: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if mode == 0o120_000 {
        return symlink(OsStr::from_bytes(bytes), at);
    }
    fs::write(at, bytes)?;
    if mode == 0o100_755 {
        fs::set_permissions(at, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Removes a file, link or folder, even one with entries that deny writing. A missing path is no
/// error. Links are not followed.
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
pub fn open_folder(at: &Path) {
    if let Ok(found) = at.symlink_metadata()
        && found.is_dir()
        && found.permissions().mode() & 0o700 != 0o700
    {
        let mode = found.permissions().mode() & 0o7777;
        let _ = fs::set_permissions(at, fs::Permissions::from_mode(mode | 0o700));
    }
}

pub(super) fn remove_path(at: &Path) -> Result<(), ScratchError> {
    Ok(remove_entry(at).at(at)?)
}
