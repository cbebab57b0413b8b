use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// The folders for temporary files that all programs share, none below another.
pub(super) fn temporary() -> Vec<PathBuf> {
    let shared = SHARED.iter().map(PathBuf::from);
    let mut places: Vec<PathBuf> = shared
        .chain([std::env::temp_dir()])
        .filter_map(|it| it.canonicalize().ok())
        .filter(|it| it.is_dir() && it.parent().is_some())
        .collect();
    places.sort();
    places.dedup_by(|later, earlier| later.starts_with(earlier));
    places
}

/// Where a path stands below a shared temporary folder: the topmost folder there that holds it.
/// Whoever works there made it for that, and what it holds is as temporary.
#[must_use]
pub fn own_corner(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    temporary().into_iter().find_map(|place| {
        let below = path.strip_prefix(&place).ok()?.components().next()?;
        Some(place.join(below))
    })
}

const SHARED: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// A folder for temporary files that is closed to others and goes with the value. What a program left
/// that was killed goes when the next one is made beside it.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    // Where it can be had: it says that somebody still uses the folder.
    held: Option<File>,
}

impl Temporary {
    /// Makes one in the temporary folder of this user.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// Makes one in this folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn within(parent: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(UNHELD);
        builder.permissions(fs::Permissions::from_mode(0o700));
        let made = builder.tempdir_in(parent)?;
        let held = hold(made.path());
        sweep(parent, made.path());
        // Its name is one that is swept only now that it is held.
        let name = made.path().file_name().unwrap_or_default();
        let path = parent.join(held_name(&name.to_string_lossy()));
        if held.is_none() || fs::rename(made.path(), &path).is_err() {
            let path = made.keep();
            return Ok(Self { path, held });
        }
        let _ = made.keep();
        Ok(Self { path, held })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        self.held = None;
    }
}

// Names as anybody's temporary folders have: code that runs there is not to know by them who runs it.
const PREFIX: &str = "tmp";
const UNHELD: usize = 8;
const CHECK: usize = 6;

// What is swept ends in signs that follow from the others, and is longer than other programs' names.
fn held_name(name: &str) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let sign =
        |byte: &u8| char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[usize::from(*byte) % 36]);
    let check = digest.iter().take(CHECK).map(sign);
    name.chars().chain(check).collect()
}

fn is_held(name: &str) -> bool {
    let kept = PREFIX.len() + UNHELD;
    name.len() == kept + CHECK && name.get(..kept).is_some_and(|it| held_name(it) == name)
}

fn hold(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

// Those of this user that nobody holds any more. Best effort.
fn sweep(parent: &Path, own: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let named = is_held(&entry.file_name().to_string_lossy());
        if named && is_like(&path, own) && hold(&path).is_some() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn is_like(path: &Path, own: &Path) -> bool {
    let about = |path: &Path| path.symlink_metadata().ok();
    let (Some(path), Some(own)) = (about(path), about(own)) else {
        return false;
    };
    path.is_dir() && path.uid() == own.uid() && path.mode() == own.mode()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::{Temporary, held_name};

    #[test]
    fn it_is_closed_to_others_and_what_was_left_is_swept() {
        let home = tempfile::tempdir().unwrap();
        let make = |name: &str, mode| {
            let path = home.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        // As a program that was killed leaves it, and two that only bear the name.
        let left = make(&held_name("tmpAbCdEfGh"), 0o700);
        let others = [
            make(&held_name("tmpIjKlMnOp"), 0o755),
            make("tmpAbCdEfGh", 0o700),
            make("tmpAbCdEfGh123456", 0o700),
        ];
        let one = Temporary::within(home.path()).unwrap();
        let two = Temporary::within(home.path()).unwrap();
        assert!(!left.exists() && others.iter().all(|it| it.exists()));
        assert!(one.path().is_dir() && two.path().is_dir());
        assert!(
            !one.path()
                .file_name()
                .unwrap()
                .to_string_lossy()
                .contains("mendit")
        );
        assert_eq!(
            one.path().metadata().unwrap().permissions().mode() & 0o777,
            0o700
        );
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && two.path().is_dir());
    }
}
