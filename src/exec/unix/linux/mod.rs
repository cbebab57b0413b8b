mod confine;
mod guard;
mod mounts;
mod temporary;

pub(super) use confine::confine;
pub(super) use guard::adopt_orphans;
pub use guard::guard_environment;
pub(super) use mounts::enter;
