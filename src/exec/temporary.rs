use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
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

/// Where a path stands below a shared temporary folder: the topmost folder there that holds it.
/// Whoever works there made it for that, and what it holds is as temporary.
pub(super) fn own_corner(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    temporary().into_iter().find_map(|place| {
        let below = path.strip_prefix(&place).ok()?.components().next()?;
        Some(place.join(below))
    })
}

/// A folder for temporary files that is closed to others and goes with the value.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
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
        builder.prefix(PREFIX).rand_bytes(RANDOM);
        builder.permissions(fs::Permissions::from_mode(0o700));
        let path = builder.tempdir_in(parent)?.keep();
        Ok(Self { path })
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
    }
}

// Code that runs there is not to know by the name who runs it.
const PREFIX: &str = "tmp";
const RANDOM: usize = 14;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::Temporary;

    #[test]
    fn temporary_folder_is_closed_to_others_and_goes_with_its_value() {
        let home = tempfile::tempdir().unwrap();
        let one = Temporary::within(home.path()).unwrap();
        let path = one.path().to_owned();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(one);
        assert!(!path.exists());
    }
}
