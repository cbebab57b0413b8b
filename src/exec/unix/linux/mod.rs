//! Sandbox and overlays of Linux.

mod apart;
mod calls;
mod confine;
mod mounts;
mod temporary;

pub(super) use apart::{enter, wait_for};
pub use confine::guard_environment;
pub(super) use confine::{adopt_orphans, confine};
