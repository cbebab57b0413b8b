//! Asks a hanging Python for its stack before it is killed, so that the log shows where it hung.

use rustix::process::Signal;

use super::tree;

/// Asks every Python below this process where it is: its fault handler writes the stack of each thread to
/// its standard error, and it ends. Returns whether any was asked.
pub(super) fn ask_where() -> bool {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut signalled = false;
    for process in tree::list_descendants(own) {
        if !process.dead && is_python(process.pid) {
            process.signal(Signal::ABORT);
            signalled = true;
        }
    }
    signalled
}

fn is_python(pid: i32) -> bool {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("python") || name.starts_with("pypy")
}
