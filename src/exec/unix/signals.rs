//! Passes signals to the supervisor, and notices the end of its parent.

use crate::exec::Stop;

/// Hands on what the system asks of this process: a signal, or the end of its parent.
pub(in crate::exec) fn listen(stop: Stop) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut wanted = vec![SIGINT, SIGTERM];
    // `nohup` says that the end of the terminal is no request.
    if !is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    let (mut signals, listener) = (signal_hook::iterator::Signals::new(wanted)?, stop.clone());
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            if listener.forced() {
                signal_hook::low_level::exit(130);
            }
            listener.request();
        }
    })?;
    if is_ignored(SIGHUP) {
        return Ok(());
    }
    watch_parent(stop)
}

// A command whose caller was killed has nobody to report to. `getppid` names the process, so the caller's
// thread may end; PR_SET_PDEATHSIG would fire then, too.
fn watch_parent(stop: Stop) -> std::io::Result<()> {
    let parent = rustix::process::getppid();
    std::thread::Builder::new().name("parent".to_owned()).spawn(move || {
        while !stop.requested() {
            std::thread::sleep(std::time::Duration::from_millis(100));
            if rustix::process::getppid() != parent {
                stop.request();
            }
        }
    })?;
    Ok(())
}

// `SigIgn` is a mask whose lowest bit is signal 1. Where there is no such file nothing is ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
