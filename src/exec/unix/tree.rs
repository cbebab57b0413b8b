//! Reads process trees from `/proc`.

use std::collections::BTreeMap;

use rustix::process::{Pid, Signal, kill_process};

/// A process as `/proc` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) dead: bool,
}

impl Process {
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            // It may have ended by itself.
            let _ = kill_process(pid, signal);
        }
    }
}

/// The processes below `root`, dead ones that nobody fetched included. A process started while
/// this looks may be missing: look again until nothing is found.
pub(super) fn list_descendants(root: i32) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in list_processes() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        let below = children.remove(&parent).unwrap_or_default();
        parents.extend(below.iter().map(|process| process.pid));
        found.extend(below);
    }
    found
}

/// The living processes of a session.
pub(super) fn session_members(session: i32) -> Vec<Process> {
    let mut all = list_processes();
    all.retain(|process| process.session == session && !process.dead);
    all
}

/// Whether processes can be found at all; without that only a process group can be ended.
pub(super) fn is_known() -> bool {
    std::path::Path::new("/proc/self/stat").exists()
}

fn list_processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let pid = name.to_str()?.parse().ok()?;
            // Read as bytes, because the name of a program need not be UTF-8.
            let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            parse_stat(pid, &String::from_utf8_lossy(&stat))
        })
        .collect()
}

// `pid (name) state parent group session ...`; the name may hold anything, parentheses too.
fn parse_stat(pid: i32, stat: &str) -> Option<Process> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?;
    let mut number = || fields.next()?.parse().ok();
    Some(Process {
        pid,
        parent: number()?,
        group: number()?,
        session: number()?,
        dead: matches!(state, "Z" | "X"),
    })
}

/// Asks every Python below this process where it is: its fault handler writes the stack of each thread to
/// its standard error, and it ends. Returns whether any was asked.
pub(super) fn ask_where() -> bool {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut signalled = false;
    for process in list_descendants(own) {
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

#[cfg(test)]
mod tests {
    use super::{Process, parse_stat};

    #[test]
    fn a_program_may_be_named_like_a_field() {
        let expected = Process {
            pid: 7,
            parent: 1,
            group: 5,
            session: 4,
            dead: false,
        };
        assert_eq!(parse_stat(7, "7 (a) Z 9) S 1 5 4 0 -1"), Some(expected));
        assert_eq!(parse_stat(7, "7 (a"), None);
    }
}
