use std::fs;
use std::io;
use std::path::Path;

use super::WorkplaceError;

/// Removes a folder, whatever rights were taken from what is in it. Links are not followed.
pub(super) fn clear(at: &Path) -> Result<(), WorkplaceError> {
    let removed = match fs::remove_dir_all(at) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_all(at);
            fs::remove_dir_all(at)
        }
        done => done,
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(WorkplaceError::io(at, &error))
        }
        _ => Ok(()),
    }
}

/// The same for whatever stands there.
pub(super) fn clear_any(at: &Path) -> Result<(), WorkplaceError> {
    match at.symlink_metadata() {
        Ok(found) if found.is_dir() => clear(at),
        Ok(_) => fs::remove_file(at).map_err(|error| WorkplaceError::io(at, &error)),
        Err(_) => Ok(()),
    }
}

fn open_all(at: &Path) {
    open_up(at);
    for entry in fs::read_dir(at).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_all(&entry.path());
        }
    }
}

// What is in a folder can be removed by whoever may write it.
#[cfg(unix)]
pub(super) fn open_up(at: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    if let Ok(found) = at.symlink_metadata()
        && found.is_dir()
        && found.permissions().mode() & 0o700 != 0o700
    {
        let mode = found.permissions().mode() & 0o7777;
        let _ = fs::set_permissions(at, fs::Permissions::from_mode(mode | 0o700));
    }
}

#[cfg(not(unix))]
pub(super) fn open_up(_: &Path) {}
