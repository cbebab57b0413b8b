use std::path::PathBuf;

use crate::app::SettingsChoice;

/// What a server works on and may do.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The directory it stands in.
    pub directory: PathBuf,
    /// Whether the client's roots have no say; else they may narrow the directory.
    pub named: bool,
    /// The settings' file; when none is named it is looked for where a call works.
    pub settings: SettingsChoice,
    /// Whether `apply_patch` is offered.
    pub allow_write: bool,
    /// The commands that `run_tests` and `fix_tests` may run; without any neither is offered.
    pub commands: Vec<String>,
    /// Globs of protected files that patches may change.
    pub allow_protected: Vec<String>,
    /// Threads for listing files; the settings' when missing.
    pub threads: Option<usize>,
}
