//! Floor 5: where commands and agents run, so that what runs is what was changed and nothing gets
//! out. Three ways: an overlay at the worktree's own path, a copy, the worktree itself.

mod choice;
mod copy;
mod environments;
mod error;
#[cfg(unix)]
mod extras;
mod fingerprint;
mod in_place;
mod layers;
mod leads;
mod litter;
mod overlay;
mod place;
mod plan;
#[cfg(unix)]
mod relink;
mod view;

pub use choice::{Choice, Kind};
pub use error::WorkplaceError;
pub use fingerprint::Fingerprint;
pub use leads::leads_to;
pub use place::Workplace;
pub use plan::{Plan, Progress};
