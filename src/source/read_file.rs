use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{MAX_READ_BYTES, ReadError};
use crate::model::RepoPath;

/// An opened directory below which files are read.
pub(super) struct Root {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    handle: File,
}

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if !path.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self {
            path: path.to_owned(),
            #[cfg(target_os = "linux")]
            handle: File::open(path)?,
        })
    }

    // Without following a symlink in any component, and without waiting on a pipe.
    #[cfg(target_os = "linux")]
    fn open_beneath(&self, path: &RepoPath) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.handle, path.as_str(), flags, Mode::empty(), resolve) {
            Ok(file) => Ok(file.into()),
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => self.open_checked(path),
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::XDEV) => {
                Err(io::ErrorKind::InvalidInput.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, path: &RepoPath) -> io::Result<File> {
        self.open_checked(path)
    }

    fn open_checked(&self, path: &RepoPath) -> io::Result<File> {
        let mut absolute = self.path.clone();
        for part in path.as_str().split('/') {
            absolute.push(part);
            let metadata = absolute.symlink_metadata()?;
            if !metadata.is_dir() && !metadata.is_file() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        }
        File::open(absolute)
    }
}

/// Reads one regular file whole, without following symlinks.
pub(super) fn read_regular(root: &Root, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
    let file = root.open_beneath(path).map_err(|error| refusal(&error))?;
    let metadata = file.metadata().map_err(|error| refusal(&error))?;
    if !metadata.is_file() {
        return Err(ReadError::NotAFile);
    }
    let too_large = |bytes| ReadError::TooLarge {
        bytes,
        limit: MAX_READ_BYTES,
    };
    if metadata.len() > MAX_READ_BYTES {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(MAX_READ_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refusal(&error))?;
    if bytes.len() as u64 > MAX_READ_BYTES {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes.into())
}

fn refusal(error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound,
        io::ErrorKind::InvalidInput => ReadError::NotAFile,
        // The kind's own words: the system's message differs between machines and locales.
        kind => ReadError::Io(kind.to_string()),
    }
}
