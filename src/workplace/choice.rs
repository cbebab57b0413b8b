use serde::{Deserialize, Serialize};

/// Which workplace is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// An overlay where it can be had, else a copy.
    #[default]
    Auto,
    /// This one, or an error.
    Exactly(Kind),
}

/// Where commands and agents run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The worktree at its own path, with a private folder over it that takes what is changed.
    Overlay,
    /// Another folder with the same files.
    Copy,
    /// The worktree itself.
    InPlace,
}

impl Kind {
    /// The word of the command line and of documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Copy => "copy",
            Self::InPlace => "in-place",
        }
    }
}
