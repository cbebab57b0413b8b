use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a person wants it to end. Clones share one answer.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    forced: Arc<AtomicBool>,
}

impl Stop {
    /// Nobody wants it to end, until somebody calls [`Stop::request`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens to Ctrl-C and to the requests to end that systems send. The first asks for a clean
    /// stop, the second for one without grace, the third ends this process with exit code 130 (its
    /// commands end with it).
    ///
    /// # Errors
    /// When the system takes no handler.
    pub fn install() -> std::io::Result<Self> {
        let stop = Self::new();
        listen(stop.clone())?;
        Ok(stop)
    }

    /// Asks for a clean stop; asked again, for one without grace.
    pub fn request(&self) {
        if self.requested.swap(true, Ordering::SeqCst) {
            self.forced.store(true, Ordering::SeqCst);
        }
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// Whether somebody asked twice.
    #[must_use]
    pub fn forced(&self) -> bool {
        self.forced.load(Ordering::SeqCst)
    }
}

#[cfg(unix)]
fn listen(stop: Stop) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut wanted = vec![SIGINT, SIGTERM];
    // `nohup` says that the end of the terminal is no request.
    if !is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    let (mut signals, listener) = (signal_hook::iterator::Signals::new(wanted)?, stop.clone());
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
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

// A command whose caller was killed has nobody to report to. `getppid` names the process, so a
// caller's thread may come and go; the signal that the system could send for this cannot tell.
#[cfg(unix)]
fn watch_parent(stop: Stop) -> std::io::Result<()> {
    let parent = rustix::process::getppid();
    std::thread::Builder::new()
        .name("parent".to_owned())
        .spawn(move || {
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
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

// Without a thread for signals the second one ends this process at once.
#[cfg(not(unix))]
fn listen(stop: Stop) -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, stop.requested.clone())?;
        signal_hook::flag::register(signal, stop.requested.clone())?;
    }
    Ok(())
}
