mod confine;
mod mounts;
mod temporary;

pub use confine::guard_environment;
pub(super) use confine::{adopt_orphans, confine};
pub(super) use mounts::enter;
