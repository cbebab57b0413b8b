//! Makes the mounts of the supervisor: overlays and read-only paths.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags};

use super::calls::{NO_DEVICES, NO_SETUID, READ_ONLY, set_attributes};
use super::temporary::cover;
use crate::exec::Overlay;
use crate::exec::unix::protocol::Order;

/// The result of the mounts of an order.
pub(super) struct Mounted {
    /// The shared temporary folders that are private now.
    pub(super) private: Vec<PathBuf>,
    /// Whether all that is not to be written is read-only, or why it is not.
    pub(super) sealed: Result<(), String>,
}

/// Makes the mounts that the order asks for, in a mount namespace of its own.
///
/// # Errors
/// Why an overlay is not available.
pub(super) fn lay_mounts(order: &Order) -> Result<Mounted, String> {
    let apart = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", apart)
        .map_err(|error| mount_refused("no private mounts at", Path::new("/"), error))?;
    // Opens every folder first, because a mount may cover one that is needed later.
    let lowest: Vec<OwnedFd> = order
        .overlays
        .iter()
        .map(|overlay| open_folder(&overlay.at))
        .collect::<Result<_, Errno>>()
        .map_err(|error| format!("cannot open the worktree: {error}"))?;
    for (overlay, lowest) in order.overlays.iter().zip(&lowest) {
        let at = &overlay.at;
        lay_over(overlay, lowest, at).map_err(|error| mount_refused("no overlay at", at, error))?;
    }
    let private = own_temporary(order);
    let sealed = match order.is_confined() {
        false => Ok(()),
        true => seal_places(order, &private),
    };
    // The directory it was started in lies below the mounts now.
    let directory = &order.directory;
    std::env::set_current_dir(directory)
        .map_err(|error| format!("cannot enter `{}`: {}", directory.display(), error.kind()))?;
    Ok(Mounted { private, sealed })
}

fn mount_refused(what: &str, at: &Path, error: Errno) -> String {
    let kind = std::io::Error::from(error).kind();
    format!("{what} `{}`: {kind}", at.display())
}

// Places that the order names are kept as they are; overlays already cover some of them.
fn own_temporary(order: &Order) -> Vec<PathBuf> {
    let covered = order.overlays.iter().map(|overlay| &overlay.at);
    let kept = order.sandbox.writable.iter().chain(&order.common);
    let kept = kept.chain(&order.sandbox.closed).chain(covered);
    let kept: Vec<PathBuf> = kept.chain([&order.directory]).cloned().collect();
    let mut private = order.temporary.clone();
    private.retain(|place| cover(place, &kept).is_ok());
    private
}

fn open_folder(at: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(at, flags, Mode::empty())
}

// Folders are named by their handles, because a path may contain the separators of mount options.
fn lay_over(overlay: &Overlay, lowest: &OwnedFd, at: &Path) -> Result<(), Errno> {
    let layers: Vec<OwnedFd> = overlay
        .layers
        .iter()
        .map(|layer| open_folder(layer))
        .collect::<Result<_, Errno>>()?;
    let upper = open_folder(&overlay.upper)?;
    let work = open_folder(&overlay.work)?;
    let lower: Vec<&OwnedFd> = layers.iter().chain([lowest]).collect();
    let data = layers_as_options(&lower, &upper, &work)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("overlay", at, "overlay", flags, &*data)
}

/// The options of a mount that lays `upper` over `lower`, the topmost first.
pub(super) fn layers_as_options(
    lower: &[&OwnedFd],
    upper: &OwnedFd,
    work: &OwnedFd,
) -> Result<CString, Errno> {
    let lower: Vec<String> = lower.iter().map(|layer| by_handle(layer)).collect();
    let data = format!(
        "lowerdir={},upperdir={},workdir={},userxattr",
        lower.join(":"),
        by_handle(upper),
        by_handle(work)
    );
    CString::new(data).map_err(|_| Errno::INVAL)
}

pub(super) fn by_handle(handle: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

// How a path differs from the rest of the tree, which is read-only and without devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    Writable,
    /// Devices without content, and terminals.
    Devices,
    /// As read-only as the rest, in one that is not.
    Closed,
}

impl Opening {
    fn attributes(self) -> u64 {
        match self {
            Self::Writable => NO_SETUID | NO_DEVICES,
            // Reading and writing a device needs no place to write files.
            Self::Devices => NO_SETUID | READ_ONLY,
            Self::Closed => NO_SETUID | NO_DEVICES | READ_ONLY,
        }
    }
}

// Copies the mounts of the open places first, and puts them back over the sealed tree.
fn seal_places(order: &Order, private: &[PathBuf]) -> Result<(), String> {
    own_terminals();
    let places = list_openings(order, private);
    if places.iter().any(|(at, _)| at.parent().is_none()) {
        return Err("`/` is named as writable".to_owned());
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let mut copies = Vec::new();
    for (at, opening) in places {
        let copy = rustix::mount::open_tree(CWD, source(&at), flags)
            .and_then(|copy| set_attributes(&copy, c"", opening.attributes()).map(|()| copy))
            .map_err(|error| mount_refused("cannot open", &at, error))?;
        copies.push((at, copy));
    }
    set_attributes(CWD, c"/", READ_ONLY | NO_SETUID | NO_DEVICES)
        .map_err(|error| mount_refused("cannot seal", Path::new("/"), error))?;
    for (at, copy) in copies {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(&copy, c"", CWD, &at, flags)
            .map_err(|error| mount_refused("cannot open", &at, error))?;
    }
    Ok(())
}

// A terminal is made in the folder beside, which the file alone does not lead to.
fn source(at: &Path) -> &Path {
    let own = Path::new("/dev/pts/ptmx");
    if at == Path::new("/dev/ptmx") && own.exists() {
        return own;
    }
    at
}

// By path, what holds another before it. What lies in a place of its own kind is open with it: a
// mount more would only keep files from being moved.
fn list_openings(order: &Order, private: &[PathBuf]) -> Vec<(PathBuf, Opening)> {
    let writable = order.sandbox.writable.iter().chain(&order.common).chain(private);
    let closed = order.sandbox.closed.iter().map(|path| (path, true));
    let mut places = BTreeMap::new();
    for (at, is_closed) in writable.map(|path| (path, false)).chain(closed) {
        let Ok(at) = at.canonicalize() else { continue };
        let opening = match is_closed {
            true => Opening::Closed,
            false if at.starts_with("/dev") && at != Path::new("/dev/shm") => Opening::Devices,
            false => Opening::Writable,
        };
        places.insert(at, opening);
    }
    let mut kept: Vec<(PathBuf, Opening)> = Vec::new();
    for (at, opening) in places {
        let around = kept.iter().rev().find(|(place, _)| at.starts_with(place));
        if around.map_or(Opening::Closed, |(_, own)| *own) != opening {
            kept.push((at, opening));
        }
    }
    kept
}

// Mounts a `/dev/pts` of its own: the command opens new terminals but cannot write to those of others. Best effort.
fn own_terminals() {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let data = c"newinstance,ptmxmode=0666,mode=0600";
    let _ = rustix::mount::mount("devpts", "/dev/pts", "devpts", flags, data);
}

/// Puts the processes of this namespace at `/proc`, to be read alone.
pub(super) fn mount_processes() -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("proc", "/proc", "proc", flags, c"")
}

/// Ends what [`mount_processes`] left open to writing.
pub(super) fn seal_processes() -> Result<(), Errno> {
    set_attributes(CWD, c"/proc", READ_ONLY)
}
