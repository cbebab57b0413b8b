//! Manifests and settings as trees: what a change of them means, whatever its spelling.

mod format;
mod judge;
mod rules;
mod tree;
mod version;

pub use format::unreadable;
pub use judge::{Dependencies, python_name};
pub(super) use judge::{is_manifest, manifest_change, means_the_same};
pub(super) use version::without_bounds;
