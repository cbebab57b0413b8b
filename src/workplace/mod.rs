//! Floor 5: where commands and agents run, so that what runs is what was changed and nothing gets
//! out. Three ways: an overlay at the worktree's own path, a copy, the worktree itself.

mod copy;
mod environments;
mod error;
mod extras;
mod fingerprint;
mod in_place;
#[cfg(target_os = "linux")]
mod layers;
mod litter;
#[cfg(target_os = "linux")]
mod overlay;
#[cfg(not(target_os = "linux"))]
#[path = "no_overlay.rs"]
mod overlay;
mod path_files;
mod place;
mod plan;
mod relink;

pub use environments::installed;
pub use error::WorkplaceError;
pub use path_files::installed_copy;
pub use place::Workplace;
pub use plan::{Kind, Plan};
