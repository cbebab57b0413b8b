use std::path::Path;

use super::CliError;
use super::global::Global;
use crate::config::{ConfigError, Settings};
use crate::model::{Code, Profile};
use crate::policy::ReadPolicy;
use crate::workspace::settings_file;

/// The settings for this invocation: `--config`, or the nearest file, and the environment.
pub(crate) fn load(global: &Global) -> Result<Settings, CliError> {
    let file = match &global.config {
        Some(file) => Some(file.clone()),
        None => settings_file(Path::new("."))?,
    };
    Ok(Settings::load(
        file.as_deref(),
        std::env::vars_os().filter_map(utf8),
    )?)
}

/// A variable whose name and value are UTF-8.
pub(crate) fn utf8(
    (name, value): (std::ffi::OsString, std::ffi::OsString),
) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

/// What may be read: the settings' patterns and those of flags.
pub(crate) fn read_policy(
    settings: &Settings,
    allow: &[String],
    deny: &[String],
    profile: Profile,
) -> Result<ReadPolicy, CliError> {
    let globs = |key, flags: &[String]| [settings.list(key), flags].concat();
    ReadPolicy::new(
        &globs("context.allow", allow),
        &globs("context.deny", deny),
        profile,
    )
    .map_err(|error| CliError::new(error.code(), error.to_string()))
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let said = Self::new(Code::U103, error.to_string());
        match error {
            ConfigError::UnknownKey {
                suggestion: Some(key),
                ..
            } => said.hint(format!("did you mean `{key}`?")),
            ConfigError::UnknownKey { .. } => said.hint("`mendit config show` lists every setting"),
            _ => said,
        }
    }
}
