use std::ffi::CString;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::{CapabilitySet, UnshareFlags};

use super::temporary::cover;
use crate::exec::unix::protocol::{Order, OrderOverlay};
use crate::exec::unix::supervise::Entered;

/// Puts this process, which has one thread yet, into namespaces of its own and makes the mounts
/// that the order asks for.
///
/// # Errors
/// Why an overlay cannot be had; the order is not to be carried out then.
pub(in crate::exec::unix) fn enter(order: &Order) -> Result<Entered, String> {
    if order.overlays.is_empty() && order.closed.is_empty() && order.temporary.is_empty() {
        return Ok(Entered {
            closed: true,
            private: Vec::new(),
        });
    }
    match own_namespaces() {
        Ok(()) => {}
        Err(_) if order.overlays.is_empty() => {
            return Ok(Entered {
                closed: order.closed.is_empty(),
                private: Vec::new(),
            });
        }
        Err(error) => return Err(format!("no namespaces of its own: {error}")),
    }
    let refused = |what: &str, at: &Path, error: Errno| {
        let said = std::io::Error::from(error).kind();
        format!("{what} `{}`: {said}", at.display())
    };
    // What is to be covered is opened before anything covers it.
    let lowest: Vec<OwnedFd> = order
        .overlays
        .iter()
        .map(|overlay| folder(Path::new(&overlay.at)))
        .collect::<Result<_, Errno>>()
        .map_err(|error| format!("cannot open the worktree: {error}"))?;
    for (overlay, lowest) in order.overlays.iter().zip(&lowest) {
        let at = Path::new(&overlay.at);
        lay(overlay, lowest, at).map_err(|error| refused("no overlay at", at, error))?;
    }
    let private = own_temporary(order);
    let closed = close(order).is_ok();
    // The directory it was started in lies below the overlay now.
    let directory = Path::new(&order.directory);
    std::env::set_current_dir(directory)
        .map_err(|error| format!("cannot enter `{}`: {}", directory.display(), error.kind()))?;
    // Whoever runs as root must not be able to take the overlay away again.
    let _ = rustix::thread::remove_capability_from_bounding_set(CapabilitySet::SYS_ADMIN);
    Ok(Entered { closed, private })
}

// What the order names stays as it is; it was covered before, as far as it is.
fn own_temporary(order: &Order) -> Vec<PathBuf> {
    let covered = order.overlays.iter().map(|it| &it.at);
    let kept = order.writable.iter().chain(&order.common);
    let kept = kept.chain(&order.closed).chain(covered);
    let kept: Vec<PathBuf> = kept.chain([&order.directory]).map(PathBuf::from).collect();
    let places = order.temporary.iter().map(PathBuf::from);
    places.filter(|it| cover(it, &kept).is_ok()).collect()
}

// Root keeps its identity where it may mount; everybody else gets a user namespace in which the
// own user and group, and no other, are themselves.
fn own_namespaces() -> Result<(), Errno> {
    let (user, group) = (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    );
    if user != 0 || unshare(UnshareFlags::NEWNS).is_err() {
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        let refused = |_: std::io::Error| Errno::PERM;
        fs::write("/proc/self/setgroups", "deny").map_err(refused)?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1")).map_err(refused)?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1")).map_err(refused)?;
    }
    let apart = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", apart)
}

#[expect(
    unsafe_code,
    reason = "the safe form is deprecated in favour of this one"
)]
fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the table of open files stays shared; only that could break another thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

fn folder(at: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(at, flags, Mode::empty())
}

// Folders are named by their handles: a path may hold the signs that separate options.
fn lay(overlay: &OrderOverlay, lowest: &OwnedFd, at: &Path) -> Result<(), Errno> {
    let layers: Vec<OwnedFd> = overlay
        .layers
        .iter()
        .map(|layer| folder(Path::new(layer)))
        .collect::<Result<_, Errno>>()?;
    let upper = folder(Path::new(&overlay.upper))?;
    let work = folder(Path::new(&overlay.work))?;
    let lower: Vec<&OwnedFd> = layers.iter().chain([lowest]).collect();
    let data = layers_as_options(&lower, &upper, &work)?;
    rustix::mount::mount("mendit", at, "overlay", MountFlags::empty(), &*data)
}

/// The options of a mount that lays `upper` over `lower`, the topmost first.
pub(super) fn layers_as_options(
    lower: &[&OwnedFd],
    upper: &OwnedFd,
    work: &OwnedFd,
) -> Result<CString, Errno> {
    let lower: Vec<String> = lower.iter().map(|it| by_handle(it)).collect();
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

// What lies below a closed place and may be written is mounted on its own first.
fn close(order: &Order) -> Result<(), Errno> {
    let closed = || order.closed.iter().map(Path::new);
    let there = |it: &&Path| it.symlink_metadata().is_ok_and(|it| !it.is_symlink());
    for open in order.writable.iter().map(Path::new).filter(there) {
        if closed().any(|it| open.starts_with(it)) {
            rustix::mount::mount_bind(open, open)?;
        }
    }
    for at in closed().filter(there) {
        rustix::mount::mount_bind_recursive(at, at)?;
        let flags = MountFlags::BIND | MountFlags::RDONLY | kept_flags(at)?;
        rustix::mount::mount_remount(at, flags, c"")?;
    }
    Ok(())
}

// What the mount below forbids, a mount of an ordinary user must forbid too.
fn kept_flags(at: &Path) -> Result<MountFlags, Errno> {
    let found = rustix::fs::statvfs(at)?.f_flag.bits();
    let pairs = [
        (2, MountFlags::NOSUID),
        (4, MountFlags::NODEV),
        (8, MountFlags::NOEXEC),
        (1024, MountFlags::NOATIME),
        (2048, MountFlags::NODIRATIME),
        (4096, MountFlags::RELATIME),
    ];
    Ok(pairs
        .into_iter()
        .filter(|(bit, _)| found & bit != 0)
        .map(|(_, flag)| flag)
        .collect())
}
