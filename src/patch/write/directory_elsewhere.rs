use std::io;
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::model::file_name;

/// A directory held open. Paths below it are walked component by component and no symbolic link is
/// followed, so what was checked is what is written.
pub(in crate::patch) struct Directory {
    dir: Dir,
}

impl Directory {
    /// Opens the root itself, which a person named and may be reached through links.
    pub(in crate::patch) fn open(path: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { dir })
    }

    /// Opens the directory that holds `path`, making what is missing when `make` is set.
    pub(in crate::patch) fn parent(&self, path: &str, make: bool) -> io::Result<Self> {
        let mut dir = self.dir.try_clone()?;
        let Some((above, _)) = path.rsplit_once('/') else {
            return Ok(Self { dir });
        };
        for part in above.split('/') {
            dir = match dir.open_dir_nofollow(part) {
                Err(error) if make && error.kind() == io::ErrorKind::NotFound => {
                    match dir.create_dir(part) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                            return Err(error);
                        }
                        _ => dir.open_dir_nofollow(part)?,
                    }
                }
                opened => opened?,
            };
        }
        Ok(Self { dir })
    }

    /// Whether entries can be changed is seen when they are: this system tells no earlier.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "other systems can tell"
    )]
    pub(super) fn is_writable(&self, _path: &str) -> io::Result<()> {
        Ok(())
    }

    /// What stands at a name: its bytes and git's mode. A directory counts as nothing.
    pub(in crate::patch) fn look(&self, name: &str) -> io::Result<Option<(Vec<u8>, u32)>> {
        let found = match self.dir.symlink_metadata(name) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if found.is_symlink() {
            let target = self.dir.read_link_contents(name)?;
            let target = target.to_str().ok_or(io::ErrorKind::InvalidData)?;
            return Ok(Some((target.replace('\\', "/").into_bytes(), 0o120_000)));
        }
        if found.is_dir() {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut self.dir.open_with(name, &options)?, &mut bytes)?;
        Ok(Some((bytes, 0o100_644)))
    }

    /// There are no permission bits here.
    #[expect(clippy::unused_self, reason = "other systems have them")]
    pub(super) fn permissions(&self, _name: &str) -> Option<u32> {
        None
    }

    /// Moves a file over a name here; both must be on one file system.
    pub(super) fn take(&self, from: &Self, from_name: &str, name: &str) -> io::Result<()> {
        from.dir.rename(from_name, &self.dir, name)
    }

    /// Removes a file or link; that it is not there is no error.
    pub(in crate::patch) fn remove(&self, name: &str) -> io::Result<()> {
        match self.dir.remove_file_or_symlink(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes a directory below this one when it is empty.
    pub(super) fn remove_empty(&self, path: &str) -> bool {
        let name = file_name(path);
        self.parent(path, false)
            .is_ok_and(|parent| parent.dir.remove_dir(name).is_ok())
    }

    /// Writes a new file or link under a name that must be free.
    pub(in crate::patch) fn create(
        &self,
        name: &str,
        bytes: &[u8],
        mode: u32,
        _permissions: Option<u32>,
    ) -> io::Result<()> {
        if mode == 0o120_000 {
            let target = std::str::from_utf8(bytes).map_err(io::Error::other)?;
            return self.dir.symlink_file(target, name);
        }
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .follow(FollowSymlinks::No);
        io::Write::write_all(&mut self.dir.open_with(name, &options)?, bytes)
    }

    /// The number of the file system the directory is on.
    pub(super) fn device(&self) -> io::Result<u64> {
        Ok(cap_fs_ext::MetadataExt::dev(&self.dir.dir_metadata()?))
    }

    /// Nothing here makes a whole directory survive a loss of power.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "other systems can"
    )]
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
