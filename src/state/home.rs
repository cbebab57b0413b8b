//! The state folder of the user. It must belong to them, because another user could plant data in it
//! otherwise.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{Known, Runs, StateError};
use crate::model::AtPath as _;

/// The folder of this user in which everything is kept: `$XDG_STATE_HOME/mendit`, else `~/.local/state/mendit`, else
/// one of this user's in the temporary directory. It belongs to this user, is no link, and is closed to others.
#[derive(Debug, Clone)]
pub struct StateHome {
    base: PathBuf,
}

impl StateHome {
    /// Opens it, and makes it when it is not there.
    ///
    /// # Errors
    /// [`StateError::Foreign`] when another user made it, [`StateError::Disk`] when it cannot be
    /// made.
    pub fn open() -> Result<Self, StateError> {
        Self::first_usable(home_candidates(|name| std::env::var_os(name), is_anothers))
    }

    // The first that can be made; one that is not ours is an error, not a reason to go on.
    fn first_usable(places: Vec<PathBuf>) -> Result<Self, StateError> {
        let mut failed = None;
        for place in places {
            match open_place(&place) {
                Err(StateError::Disk(error)) => {
                    failed.get_or_insert(error);
                }
                opened => return opened.map(|()| Self { base: place }),
            }
        }
        let nowhere = Err(io::ErrorKind::NotFound).at("mendit");
        failed.map_or(nowhere, Err).map_err(StateError::Disk)
    }

    /// What is kept for one worktree, or for a directory without git.
    ///
    /// # Errors
    /// As [`StateHome::open`].
    pub fn repository(&self, root: &Path) -> Result<RepositoryState, StateError> {
        let repositories = self.base.join("repositories");
        make_private(&repositories)?;
        let directory = repositories.join(root_key(root));
        make_private(&directory)?;
        let origin = directory.join("root");
        if !origin.exists() {
            fs::write(&origin, root.as_os_str().as_encoded_bytes()).at(&origin)?;
        }
        Ok(RepositoryState { directory })
    }

    /// Everything that is kept, by the worktree it is for, sorted.
    pub fn all(&self) -> Vec<RepositoryState> {
        let mut found: Vec<RepositoryState> = fs::read_dir(self.base.join("repositories"))
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| RepositoryState {
                directory: entry.path(),
            })
            .collect();
        found.sort_by(|a, b| a.directory.cmp(&b.directory));
        found
    }
}

/// What is kept for one worktree.
#[derive(Debug, Clone)]
pub struct RepositoryState {
    directory: PathBuf,
}

impl RepositoryState {
    /// Its folder: the lock of repairs and the journal of writes are in it.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The runs.
    pub fn runs(&self) -> Runs {
        Runs::new(self.directory.join("runs"))
    }

    /// Where commands and agents run.
    pub fn workplace(&self) -> PathBuf {
        self.directory.join("workplace")
    }

    /// What was found out about its files and commits.
    pub fn known(&self) -> Known {
        Known::open(&self.directory.join("cache"))
    }

    /// The worktree it is for, as it was called when it was made.
    pub fn root(&self) -> Option<PathBuf> {
        let bytes = fs::read(self.directory.join("root")).ok()?;
        String::from_utf8(bytes).ok().map(PathBuf::from)
    }

    /// Removes all of it.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self) -> Result<(), StateError> {
        Ok(fs::remove_dir_all(&self.directory).at(&self.directory)?)
    }
}

// The last of them is there when a user has no home, or one that cannot be written or is another's.
fn home_candidates(
    variable: impl Fn(&str) -> Option<OsString>,
    is_anothers: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let set = |name: &str| {
        let path = PathBuf::from(variable(name).filter(|value| !value.is_empty())?);
        path.is_absolute().then_some(path)
    };
    let mut places = Vec::new();
    places.extend(set("XDG_STATE_HOME").map(|state| state.join("mendit")));
    let home = set("HOME").filter(|home| !is_anothers(home));
    places.extend(home.map(|home| home.join(".local/state/mendit")));
    places.push(std::env::temp_dir().join(format!("mendit-{}", own_user())));
    places
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_mine(about: &Metadata) -> bool {
    about.uid() == own_user()
}

fn is_anothers(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|about| !is_mine(&about))
}

fn open_place(place: &Path) -> Result<(), StateError> {
    place.parent().map_or(Ok(()), fs::create_dir_all).at(place)?;
    make_private(place)?;
    if !is_writable(place) {
        Err(io::ErrorKind::PermissionDenied).at(place)?;
    }
    Ok(())
}

// Makes a folder that is closed to others, or sees that the one that is there is so.
fn make_private(folder: &Path) -> Result<(), StateError> {
    let foreign = |reason| StateError::Foreign(folder.to_owned(), reason);
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        refused => refused.at(folder)?,
    }
    let about = folder.symlink_metadata().at(folder)?;
    if !about.is_dir() {
        return Err(foreign("it is not a folder"));
    }
    if !is_mine(&about) {
        return Err(foreign("it belongs to another user"));
    }
    if about.mode() & 0o777 == 0o700 {
        return Ok(());
    }
    Ok(fs::set_permissions(folder, Permissions::from_mode(0o700)).at(folder)?)
}

/// Whether it is a folder, or else a file, of this user's own, and no link.
pub(super) fn is_own(path: &Path, folder: bool) -> bool {
    let about = path.symlink_metadata();
    about.is_ok_and(|about| about.is_dir() == folder && !about.is_symlink() && is_mine(&about))
}

fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

/// A name for a directory that no other directory has.
fn root_key(root: &Path) -> String {
    let digest: [u8; 32] = Sha256::digest(root.as_os_str().as_encoded_bytes()).into();
    crate::model::hex(&digest[..12])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn takes_first_writable_home() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let good = home.path().join("a/b/mendit");
        let state = StateHome::first_usable(vec![file.join("mendit"), good.clone()]).unwrap();
        assert_eq!(state.base, good);
        let mode = good.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn closes_shared_home_and_refuses_link() {
        let home = tempfile::tempdir().unwrap();
        let open = home.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        StateHome::first_usable(vec![open.clone()]).unwrap();
        assert_eq!(open.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let link = home.path().join("link");
        symlink(&open, &link).unwrap();
        let refused = StateHome::first_usable(vec![link, open]);
        assert!(matches!(refused, Err(StateError::Foreign(..))));
    }

    #[test]
    fn worktrees_have_separate_state() {
        let home = tempfile::tempdir().unwrap();
        let state = StateHome::first_usable(vec![home.path().join("mendit")]).unwrap();
        let one = state.repository(Path::new("/a")).unwrap();
        let other = state.repository(Path::new("/b")).unwrap();
        assert_ne!(one.directory(), other.directory());
        assert_eq!(one.root().as_deref(), Some(Path::new("/a")));
        assert_eq!(state.all().len(), 2);
        one.remove().unwrap();
        assert_eq!(state.all().len(), 1);
    }

    #[test]
    fn falls_back_to_temporary_home_per_user() {
        let places = home_candidates(|_| None, |_| false);
        assert_eq!(places.len(), 1);
        let relative = home_candidates(|name| (name == "HOME").then(|| "a/b".into()), |_| false);
        assert_eq!(places, relative);
        let home = |name: &str| (name == "HOME").then(|| "/home/x".into());
        assert_eq!(home_candidates(home, |_| false).len(), 2);
        assert_eq!(
            home_candidates(home, |path| path == Path::new("/home/x")),
            places
        );
    }
}
