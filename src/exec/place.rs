use std::path::PathBuf;

/// A folder of its own that stands over another one, at the same path, for one command alone: it
/// sees what is below, and what it changes lands in `upper`. Only Linux has it, and not everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// The folder that is covered, and where the command sees the whole.
    pub at: PathBuf,
    /// Folders between the two, the topmost first.
    pub layers: Vec<PathBuf>,
    /// Takes the changes: new and changed files; a deleted one as a character device 0:0; a folder
    /// that was made anew has the attribute `user.overlay.opaque`.
    pub upper: PathBuf,
    /// An empty folder of the same file system, for the kernel.
    pub work: PathBuf,
}
