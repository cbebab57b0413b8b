//! The few system calls that no crate in use wraps.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd as _};

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Which of two processes this is after [`fork`].
pub(super) enum Forked {
    Parent(Pid),
    Child,
}

/// Makes a second process of this one, which must have one thread alone.
#[expect(unsafe_code, reason = "no crate in use here wraps it")]
pub(super) fn fork() -> Result<Forked, Errno> {
    // SAFETY: there is one thread, so no lock is held by another that the child would lack.
    match unsafe { libc::fork() } {
        0 => Ok(Forked::Child),
        pid => Pid::from_raw(pid).filter(|_| pid > 0).map(Forked::Parent).ok_or(Errno::AGAIN),
    }
}

/// Ends this process at once, so that nothing of its parent, whose memory it shares, is cleaned up twice.
#[expect(unsafe_code, reason = "no crate in use here wraps it")]
pub(super) fn leave(code: i32) -> ! {
    // SAFETY: it takes a number and does not come back.
    unsafe { libc::_exit(code) }
}

#[expect(
    unsafe_code,
    reason = "the safe form is deprecated in favour of this one"
)]
pub(super) fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the table of open files stays shared; only that could break another thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;

/// Sets attributes of the mount at a path below `at`, or of `at` itself when the path is empty, and
/// of all mounts below it.
#[expect(unsafe_code, reason = "no crate in use here wraps it")]
pub(super) fn set_attributes(at: impl AsFd, path: &CStr, attributes: u64) -> Result<(), Errno> {
    let wanted = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = libc::AT_RECURSIVE | libc::AT_EMPTY_PATH;
    // SAFETY: path and attributes outlive the call, and the size is that of the attributes.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const wanted,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error().raw_os_error();
    Err(error.map_or(Errno::INVAL, Errno::from_raw_os_error))
}
