//! Floor 3: the repository that a command or a tool works on, and where in it its user stands.

mod error;
mod open;
mod settings;

pub use error::WorkspaceError;
pub use open::{At, Workspace, canonical};
pub use settings::{SettingsChoice, SettingsError, settings};
