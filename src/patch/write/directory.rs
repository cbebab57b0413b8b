//! Walks directories by handle and follows no symlink, so that the checked path is the written one.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RawMode};
use rustix::io::Errno;

use crate::model::file_name;

/// A directory held open. Paths below it are walked component by component and no symbolic link is
/// followed, so what was checked is what is written.
pub(in crate::patch) struct Directory {
    fd: OwnedFd,
}

const OPEN: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

impl Directory {
    /// Opens the root itself, which a person named and may be reached through links.
    pub(in crate::patch) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        Ok(Self {
            fd: rustix::fs::open(path, flags, Mode::empty())?,
        })
    }

    /// Opens the directory that holds `path`, making what is missing when `make` is set.
    pub(in crate::patch) fn parent(&self, path: &str, make: bool) -> io::Result<Self> {
        let Some((above, _)) = path.rsplit_once('/') else {
            return Ok(Self {
                fd: self.fd.try_clone()?,
            });
        };
        let mut fd = self.fd.try_clone()?;
        for part in above.split('/') {
            fd = match rustix::fs::openat(&fd, part, OPEN, Mode::empty()) {
                Ok(next) => next,
                Err(Errno::NOENT) if make => {
                    match rustix::fs::mkdirat(&fd, part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    rustix::fs::openat(&fd, part, OPEN, Mode::empty())?
                }
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Self { fd })
    }

    /// What is at a name: its bytes and git's mode. A directory counts as nothing.
    pub(in crate::patch) fn look(&self, name: &str) -> io::Result<Option<(Vec<u8>, u32)>> {
        let stat = match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
            rustix::fs::FileType::Symlink => {
                let target = rustix::fs::readlinkat(&self.fd, name, Vec::new())?;
                Ok(Some((target.into_bytes(), 0o120_000)))
            }
            rustix::fs::FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
                let file = rustix::fs::openat(&self.fd, name, flags, Mode::empty())?;
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut std::fs::File::from(file), &mut bytes)?;
                let mode = if stat.st_mode & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
                Ok(Some((bytes, mode)))
            }
            // Whether a directory may go is seen when it does: only empty ones can.
            rustix::fs::FileType::Directory => Ok(None),
            _ => Err(io::Error::other("it is neither a file nor a link")),
        }
    }

    /// The permission bits of a file.
    #[allow(
        clippy::useless_conversion,
        reason = "modes are narrower on systems other than Linux"
    )]
    pub(super) fn permissions(&self, name: &str) -> Option<u32> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((stat.st_mode & 0o777).into())
    }

    /// Moves a file over a name here; both must be on one file system.
    pub(super) fn take(&self, from: &Self, from_name: &str, name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&from.fd, from_name, &self.fd, name)?)
    }

    /// Removes a file or link; that it is not there is no error.
    pub(in crate::patch) fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the directories above a path that are empty, the innermost first.
    pub(in crate::patch) fn remove_emptied_above(&self, path: &str) {
        let mut path = path;
        while let Some((above, _)) = path.rsplit_once('/') {
            let parent = self.parent(above, false);
            let name = file_name(above);
            let gone =
                parent.map(|parent| rustix::fs::unlinkat(&parent.fd, name, AtFlags::REMOVEDIR));
            if !matches!(gone, Ok(Ok(()))) {
                break;
            }
            path = above;
        }
    }

    /// Writes a new file or link under a name that must be free.
    pub(in crate::patch) fn create(
        &self,
        name: &str,
        bytes: &[u8],
        mode: u32,
        permissions: Option<u32>,
    ) -> io::Result<()> {
        if mode == 0o120_000 {
            let target = std::str::from_utf8(bytes).map_err(io::Error::other)?;
            return Ok(rustix::fs::symlinkat(target, &self.fd, name)?);
        }
        let asked = if mode == 0o100_755 { 0o777 } else { 0o666 };
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::from_raw_mode(asked))?;
        let mut file = std::fs::File::from(fd);
        io::Write::write_all(&mut file, bytes)?;
        if let Some(permissions) = permissions {
            let bits = if mode == 0o100_755 {
                permissions | (permissions & 0o444) >> 2
            } else {
                permissions & !0o111
            };
            rustix::fs::fchmod(&file, Mode::from_raw_mode(bits as RawMode))?;
        }
        Ok(())
    }

    /// Makes what was written here survive a loss of power.
    pub(super) fn sync(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&self.fd)?;
        Ok(())
    }
}
