//! Covers a shared temporary folder with a private layer, so that commands see its files and change
//! none.

use std::ffi::CStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountFlags;

use super::mounts::{by_handle, layers_as_options};

/// Puts a private layer over a folder that all programs share, such as `/tmp`: what is there
/// is seen, what is written there is gone with the namespace. Below it, `kept` stay as they are,
/// and so do sockets, which do not answer through a layer.
///
/// # Errors
/// What the system says; nothing was mounted then.
pub(super) fn cover(place: &Path, kept: &[PathBuf]) -> Result<(), Errno> {
    let lower = open_handle(place)?;
    let mut kept: Vec<PathBuf> = kept
        .iter()
        .filter(|path| path.starts_with(place) && path.as_path() != place)
        .cloned()
        .collect();
    kept.extend(find_sockets(place));
    kept.sort();
    kept.dedup();
    let kept: Vec<(PathBuf, OwnedFd)> = kept
        .into_iter()
        .filter_map(|path| open_handle(&path).ok().map(|handle| (path, handle)))
        .collect();
    mount(c"tmpfs", place, c"mode=1777")?;
    if !is_memory(place) {
        layer_folder(place, &lower).inspect_err(|_| {
            let _ = rustix::mount::unmount(place, rustix::mount::UnmountFlags::DETACH);
        })?;
    }
    for (path, handle) in &kept {
        // One on a file system of its own is not seen through the layer.
        if path.symlink_metadata().is_err() {
            let _ = fs::create_dir_all(path);
        }
        rustix::mount::mount_bind_recursive(by_handle(handle), path)?;
    }
    Ok(())
}

// No command needs the shared memory and semaphores of other processes.
fn is_memory(place: &Path) -> bool {
    place == Path::new("/dev/shm")
}

fn layer_folder(place: &Path, lower: &OwnedFd) -> Result<(), Errno> {
    let (upper, work) = (make_folder("upper", place)?, make_folder("work", place)?);
    mount(
        c"overlay",
        place,
        &layers_as_options(&[lower], &upper, &work)?,
    )
}

fn make_folder(name: &str, place: &Path) -> Result<OwnedFd, Errno> {
    let at = place.join(name);
    let made = fs::create_dir(&at).and_then(|()| {
        fs::set_permissions(&at, fs::Permissions::from_mode(0o1777))?;
        Ok(())
    });
    made.map_err(|_| Errno::ACCESS)?;
    open_handle(&at)
}

fn mount(kind: &CStr, at: &Path, data: &CStr) -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount(kind, at, kind, flags, data)
}

fn find_sockets(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            entry.file_name() == ".X11-unix" || entry.file_type().is_ok_and(|kind| kind.is_socket())
        })
        .map(|entry| entry.path())
        .collect()
}

fn open_handle(at: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(
        at,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )
}
