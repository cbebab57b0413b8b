//! Manifests and settings: what a change of them means, whatever its spelling.

mod format;
mod judge;
mod version;

pub use format::unreadable;
pub use judge::Dependencies;
pub(super) use judge::{is_manifest, judge_manifest, means_the_same};
