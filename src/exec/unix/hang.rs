use rustix::process::Signal;

use super::tree;

/// Asks every Python below this process where it is: one whose fault handler is on writes the stack of each
/// thread to its standard error and ends. Whether any was asked.
pub(super) fn ask_where() -> bool {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut asked = false;
    for process in tree::descendants(own) {
        if !process.dead && is_python(process.pid) && shows_faults(process.pid) {
            process.signal(Signal::ABORT);
            asked = true;
        }
    }
    asked
}

fn is_python(pid: i32) -> bool {
    let program = std::fs::read_link(format!("/proc/{pid}/exe"));
    let name = program
        .ok()
        .and_then(|it| Some(it.file_name()?.to_string_lossy().into_owned()));
    name.is_some_and(|it| it.starts_with("python") || it.starts_with("pypy"))
}

// Whether it catches the signal: another would die without a word.
fn shows_faults(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|it| u64::from_str_radix(it.trim(), 16).ok());
    let bit = u64::try_from(Signal::ABORT.as_raw() - 1).unwrap_or(0);
    caught.is_some_and(|it| it & (1 << bit) != 0)
}
