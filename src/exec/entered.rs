use std::path::PathBuf;

/// What the mounts of an order came to.
#[derive(Debug, Default)]
pub(super) struct Entered {
    /// Whether all that must not be written is held back.
    pub(super) closed: bool,
    /// The shared temporary folders that are private now.
    pub(super) private: Vec<PathBuf>,
}
