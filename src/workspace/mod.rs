//! Layer 3: the repository that a command or a tool works on, and where in it its user is.
//!
//! [`Workspace::at`] opens what a folder is in: the files as they are, the index, or a commit ([`At`]), with git where
//! there is git. `prefix` is the user's folder below the root: paths that a person types are relative to it, and
//! [`Workspace::repo_path`] turns them into paths of the repository. [`At::Named`] lists nothing
//! until that is needed, for what looks at the files that a patch names.
//!
//! [`settings`] reads the settings in force there: those of the user, of the nearest file up to the root, and of the
//! environment. What a repository brings along may not run commands unless it is trusted ([`SettingsChoice`]).

mod open;

pub use open::{At, SettingsChoice, SettingsError, Workspace, WorkspaceError, canonical, settings};
