//! Layer 5: where commands and agents run, so that what runs is what was changed and nothing gets
//! out. Two ways: an overlay at the worktree's own path, and a copy.

mod copy;
mod difference;
mod environments;
mod error;
mod extras;
mod fingerprint;
#[cfg(target_os = "linux")]
mod layers;
#[cfg(target_os = "linux")]
mod overlay;
#[cfg(not(target_os = "linux"))]
#[path = "no_overlay.rs"]
mod overlay;
mod place;
mod plan;
mod relink;

pub use difference::{Difference, Hunk, States, What, changes_to};
pub use environments::installed;
pub use error::WorkplaceError;
pub use extras::find_linked;
pub use place::Workplace;
pub use plan::Plan;
