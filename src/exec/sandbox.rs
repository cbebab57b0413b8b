//! The sandbox that a job asks for, and the layers that were in force.

use std::path::PathBuf;

use crate::model::{NotConfined, SandboxMode, Wall};

/// What a command may write and reach.
///
/// On Linux the supervisor confines the command with mounts in namespaces of its own and with
/// Landlock: it reads everything and writes only below [`Sandbox::writable`], its own directory and
/// its private folder. `/tmp`, `/var/tmp` and
/// `/dev/shm` are its own where mounts are available, and not writable where they cannot; a folder
/// there in which it works stays open. Elsewhere there is nothing to confine with.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sandbox {
    /// Whether to confine at all.
    pub mode: SandboxMode,
    /// Files and directories that may be written, besides the built-in ones. What does not exist is
    /// passed over.
    pub writable: Vec<PathBuf>,
    /// Places that may not be written though they lie in one that may, such as `.git`. Where mounts
    /// is not available, a temporary folder that holds one is not writable at all.
    pub closed: Vec<PathBuf>,
    /// Refuse sockets other than local ones, loopback included, and `io_uring`. When that cannot be
    /// had the command is not run, in any mode.
    pub no_network: bool,
}

/// The sandbox layers that were in force.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SandboxState {
    /// All of it.
    Enforced,
    /// What this kernel knows: some kinds of writing are open.
    Partial,
    /// Nothing.
    #[default]
    None,
}

impl SandboxState {
    /// The word of documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }

    /// Returns the state without these layers.
    pub(super) fn without(missing: &[NotConfined]) -> Self {
        if missing.is_empty() {
            Self::Enforced
        } else if missing.iter().any(|wall| wall.wall == Wall::Files) {
            Self::None
        } else {
            Self::Partial
        }
    }
}
