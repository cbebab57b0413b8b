use std::io;
use std::path::Path;

use crate::exec::Overlay;

/// Only where there are overlays can settings be guarded.
#[derive(Default)]
pub struct SettingsGuard;

/// A file of its settings that an agent changed, and that stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsChange {
    /// Below the home.
    pub path: String,
    /// What stood there; `None` for no file.
    pub before: Option<Vec<u8>>,
    /// What the agent made of it.
    pub after: Option<Vec<u8>>,
    /// Whether a later session would run, ask or obey it.
    pub steers: bool,
}

impl SettingsGuard {
    /// Guards nothing.
    ///
    /// # Errors
    /// None.
    pub fn open(_: &str, _: &Path, _: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    /// None.
    #[must_use]
    pub fn overlays(&self) -> Vec<Overlay> {
        Vec::new()
    }

    /// Nothing was dropped.
    ///
    /// # Errors
    /// None.
    pub fn close(self, _: &Path) -> io::Result<Vec<SettingsChange>> {
        Ok(Vec::new())
    }
}
