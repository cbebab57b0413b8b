//! Finds the shared temporary folders, and a program's own corner in them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The folders for temporary files that all programs share, none below another.
pub(super) fn temporary() -> Vec<PathBuf> {
    let shared = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let mut places: Vec<PathBuf> = shared
        .into_iter()
        .chain([std::env::temp_dir()])
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| path.is_dir() && path.parent().is_some())
        .collect();
    places.sort();
    places.dedup_by(|later, earlier| later.starts_with(earlier));
    places
}

/// Where a path is below a shared temporary folder: the topmost folder there that holds it.
/// Whoever works there made it for that, and what it holds is as temporary.
pub(super) fn own_corner(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    temporary().into_iter().find_map(|place| {
        let below = path.strip_prefix(&place).ok()?.components().next()?;
        Some(place.join(below))
    })
}

/// A folder for temporary files that is closed to others and goes with the value. What a program left
/// that was killed goes when the next one is made beside it.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    // Where it is available: it shows that the folder is still in use.
    _held: Option<File>,
}

impl Temporary {
    /// Makes one in the temporary folder of this user.
    ///
    /// # Errors
    /// The system's error.
    pub fn new() -> io::Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// Makes one in this folder.
    ///
    /// # Errors
    /// The system's error.
    pub fn within(parent: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(RANDOM);
        builder.permissions(fs::Permissions::from_mode(0o700));
        let path = builder.tempdir_in(parent)?.keep();
        let held = hold_folder(&path);
        sweep_stale(parent, &path);
        Ok(Self { path, _held: held })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

// Code that runs there must not learn from the name who runs it; a folder with such a long name that nobody holds is
// removed.
const PREFIX: &str = "tmp";
const RANDOM: usize = 14;

fn hold_folder(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

// Removes this user's temporary folders that no process holds any more. Best effort.
fn sweep_stale(parent: &Path, own: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap_or_default();
        let random = name.strip_prefix(PREFIX).unwrap_or_default().as_bytes();
        let is_named = random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric);
        if is_named && is_left_behind(&path, own) && hold_folder(&path).is_some() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn is_left_behind(path: &Path, own: &Path) -> bool {
    let (Ok(path), Ok(own)) = (path.symlink_metadata(), own.symlink_metadata()) else {
        return false;
    };
    let age = path.modified().ok().and_then(|time| time.elapsed().ok());
    // Young folders are kept, because one that was just made may not be locked yet.
    path.is_dir()
        && path.uid() == own.uid()
        && path.mode() == own.mode()
        && age.is_some_and(|age| age.as_secs() > 60)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::{Duration, SystemTime};

    use super::{Temporary, hold_folder};

    #[test]
    fn temporary_is_private_and_sweeps_leftovers() {
        let home = tempfile::tempdir().unwrap();
        let make = |name: &str, mode, seconds| {
            let path = home.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let time = SystemTime::now() - Duration::from_secs(seconds);
            File::open(&path).unwrap().set_modified(time).unwrap();
            path
        };
        // A directory that a killed program left behind, and others that only share the name.
        let left = make("tmpAbCdEfGhIjKlMn", 0o700, 100);
        let others = [
            make("tmpBbCdEfGhIjKlMn", 0o755, 100),
            make("tmpCbCdEfGhIjKlMn", 0o700, 0),
            make("tmp-notes-of-mine", 0o700, 100),
            make("tmpDbCdEfGhIjKlMn", 0o700, 100),
        ];
        let _held = hold_folder(&others[3]).unwrap();
        let one = Temporary::within(home.path()).unwrap();
        let two = Temporary::within(home.path()).unwrap();
        assert!(!left.exists() && others.iter().all(|path| path.exists()));
        assert!(one.path().is_dir() && two.path().is_dir());
        let mode = one.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && two.path().is_dir());
    }
}
