use std::path::PathBuf;
use std::sync::OnceLock;

static SUPERVISOR: OnceLock<PathBuf> = OnceLock::new();

/// Names the program whose `__sup` command is [`super::supervise`]. The first call counts. Without
/// one, commands run in a process group of their own and nothing adopts what leaves it.
pub fn set_supervisor(program: PathBuf) {
    let _ = SUPERVISOR.set(program);
}

/// What [`set_supervisor`] named.
#[cfg(unix)]
pub(super) fn supervisor() -> Option<&'static PathBuf> {
    SUPERVISOR.get()
}

/// The running program itself, also when its file was replaced meanwhile.
#[must_use]
pub fn own_program() -> Option<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && link.symlink_metadata().is_ok() {
        return Some(link);
    }
    std::env::current_exe().ok()
}
