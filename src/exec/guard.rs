/// Keeps other processes of the same user from reading this one's environment and memory. The
/// superuser can all the same; nothing changes on systems other than Linux.
pub fn guard_environment() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
