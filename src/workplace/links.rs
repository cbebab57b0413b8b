use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// Makes a link at `at` that leads to `target`.
#[cfg(unix)]
pub(super) fn symlink(target: impl AsRef<Path>, at: impl AsRef<Path>) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

/// Makes a link at `at` that leads to `target`, which tells of which kind it must be.
#[cfg(windows)]
pub(super) fn symlink(target: impl AsRef<Path>, at: impl AsRef<Path>) -> io::Result<()> {
    use std::os::windows::fs::{symlink_dir, symlink_file};
    if target.as_ref().is_dir() {
        symlink_dir(target, at)
    } else {
        symlink_file(target, at)
    }
}

/// Gives a file the rights of another; its owner may read and write it.
#[cfg(unix)]
pub(super) fn allow_as(at: &Path, model: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = model.permissions().mode() | 0o600;
    fs::set_permissions(at, fs::Permissions::from_mode(mode))
}

/// Gives a file the rights of another.
#[cfg(windows)]
pub(super) fn allow_as(at: &Path, model: &Metadata) -> io::Result<()> {
    fs::set_permissions(at, model.permissions())
}

/// What tells that a file was not touched: its size, when it was changed last, which one it is.
pub(super) type Stamp = (u64, i64, i64, u64);

/// The stamp of a file.
#[cfg(unix)]
pub(super) fn stamp(found: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    (found.len(), found.ctime(), found.ctime_nsec(), found.ino())
}

/// The stamp of a file.
#[cfg(windows)]
pub(super) fn stamp(found: &Metadata) -> Stamp {
    let since = found
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(0);
    (found.len(), seconds, i64::from(since.subsec_nanos()), 0)
}
