/// Keeps other processes of the same user from reading this one's environment and memory. The
/// superuser can all the same; nothing changes on systems other than Linux.
pub fn guard_environment() {
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Makes this process the parent of whatever its descendants leave behind.
pub(in crate::exec::unix) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}
