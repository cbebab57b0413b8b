use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::inspector::stack_of;
use super::tree::{self, Process};

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

/// Whether a node runs below this process that can be asked.
pub(super) fn has_node() -> bool {
    !nodes().is_empty()
}

/// Asks the node below this process that is the busiest where it is: what waits for others runs no program.
pub(super) fn ask_node(limit: Duration) -> Option<String> {
    let until = Instant::now() + limit;
    let before: Vec<(Process, u64)> = nodes().into_iter().map(|it| (it, ticks(it.pid))).collect();
    sleep(BUSY);
    let spent = before
        .into_iter()
        .map(|(it, before)| (ticks(it.pid).saturating_sub(before), it));
    let mut busy: Vec<(u64, Process)> = spent.filter(|it| it.0 > 0).collect();
    busy.sort_by_key(|it| std::cmp::Reverse(it.0));
    let stack = busy
        .first()
        .and_then(|(_, process)| stack_of(process, until))?;
    Some(format!("\nWhere node was at the time limit:\n{stack}"))
}

/// How long it is looked who is busy.
const BUSY: Duration = Duration::from_millis(150);

// Another program might take the signal that starts the inspector for another.
fn nodes() -> Vec<Process> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut all = tree::descendants(own);
    all.retain(|it| !it.dead && is_program(it.pid, &["node"]) && catches(it.pid, Signal::USR1));
    all
}

// Time on a processor, of the program and of the system for it.
fn ticks(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |it| it.1);
    let spent = fields.split(' ').skip(11).take(2);
    spent.filter_map(|it| it.parse::<u64>().ok()).sum()
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
