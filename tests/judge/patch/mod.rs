//! Patches: what is placed, what is refused, and agreement with the git binary.

mod apply;
mod definitions;
mod differences;
mod formats;
#[cfg(target_os = "linux")]
mod full_disk;
mod git_apply;
mod intent;
mod judge;
mod named;
mod round_trip;
mod support;
mod two_forms;
