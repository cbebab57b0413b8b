use std::io;
use std::path::Path;

use super::settings::SettingsChange;
use crate::exec::Overlay;

/// Only where there are overlays can settings be guarded.
#[derive(Default)]
pub struct SettingsGuard;

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
