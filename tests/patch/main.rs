//! Patches: what is placed, what is refused, and agreement with the git binary.

mod apply;
mod differences;
#[cfg(target_os = "linux")]
mod full_disk;
mod git_apply;
mod judge;
mod round_trip;
mod support;
