//! Floor 4: a patch is read, mended, placed and judged in memory, then written all or nothing.

mod after;
mod bodies;
mod canonical;
mod change;
mod compose;
mod content;
mod damage;
mod feedback;
mod git_apply;
mod intent;
mod judge;
mod line_ends;
mod names;
mod naming;
mod numbered;
mod objects;
mod place;
mod prefix;
mod read;
mod reverse;
mod set;
mod sides;
mod slot;
mod structure;
mod target;
mod text;
mod write;

pub use canonical::canonical;
pub use change::{Change, FileState};
pub use git_apply::{Favour, GitApplied, GitApply, GitApplyOptions, Limit, Verbosity, WhiteSpace};
pub use judge::{JudgeOptions, Judged, Objects, judge};
pub use read::{ReadOptions, read};
pub use set::{
    Binary, Body, Edit, FilePatch, Headers, Hunk, HunkLine, IndexLine, LineKind, PatchSet, Side,
};
pub use write::{Recovered, WriteError, is_interrupted, recover, write_worktree};
