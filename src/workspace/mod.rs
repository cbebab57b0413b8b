//! Floor 3: the repository that a command or a tool works on, and where in it its user stands.

mod open;
mod settings;

pub use open::{At, Workspace, WorkspaceError, canonical};
pub use settings::{SettingsChoice, SettingsError, settings};
