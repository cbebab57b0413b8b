//! Layer 4: reads, repairs, places and validates a patch in memory, then writes all of it or nothing.

mod after;
mod bodies;
mod canonical;
mod change;
mod compose;
mod content;
mod elision;
mod exact;
mod feedback;
#[cfg(feature = "program")]
mod git_apply;
mod intent;
#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
mod judge;
mod line_ends;

#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
mod place;
#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
mod read;
mod reverse;
mod set;
mod strict;
mod structure;
mod targets;
mod text;

mod unread;
mod whole;
#[cfg(feature = "program")]
mod write;

pub use canonical::canonical;
pub use change::{Change, FileState};
#[cfg(feature = "program")]
pub use git_apply::{GitApply, GitApplyOptions, Verbosity, WhiteSpace};
pub use judge::{After, Judge, JudgeOptions, Judged, judge};
#[cfg(feature = "program")]
pub use judge::{judge_merged, merge_change};
pub use read::{read, without_thoughts};
pub use set::{Body, PatchSet};
#[cfg(feature = "program")]
pub use write::{Recovered, WriteError, is_interrupted, recover, write_worktree};
