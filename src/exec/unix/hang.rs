use rustix::process::Signal;

use super::tree;

/// Asks every Python below this process where it is: one whose fault handler is on writes the stack of each
/// thread to its standard error and ends. Whether any was asked.
pub(super) fn ask_where() -> bool {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut signalled = false;
    for process in tree::descendants(own) {
        let python = || is_program(process.pid, &["python", "pypy"]);
        if !process.dead && python() && catches(process.pid, Signal::ABORT) {
            process.signal(Signal::ABORT);
            signalled = true;
        }
    }
    signalled
}

fn is_program(pid: i32, names: &[&str]) -> bool {
    let program = std::fs::read_link(format!("/proc/{pid}/exe"));
    let name = program
        .ok()
        .and_then(|it| Some(it.file_name()?.to_string_lossy().into_owned()));
    name.is_some_and(|it| names.iter().any(|name| it.starts_with(name)))
}

// Another would die of the signal without a word.
fn catches(pid: i32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|it| u64::from_str_radix(it.trim(), 16).ok());
    let bit = u64::try_from(signal.as_raw() - 1).unwrap_or(0);
    caught.is_some_and(|it| it & (1 << bit) != 0)
}
