use std::num::NonZeroU16;
use std::path::Path;

use super::CliError;
use super::global::Global;
use crate::config::{self, ConfigError, File, Settings};
use crate::model::Profile;
use crate::policy::{ReadPolicy, ReadRules};
use crate::workspace::{SettingsChoice, SettingsError, settings};

/// The settings for this invocation, the global flags included.
pub(crate) fn load(global: &Global) -> Result<Settings, CliError> {
    let environment = std::env::vars_os().filter_map(utf8);
    let mut settings = settings(Path::new("."), &choice(global), environment)?;
    take_global(global, &mut settings);
    Ok(settings)
}

/// What the flags say of the settings' file.
pub(crate) fn choice(global: &Global) -> SettingsChoice {
    SettingsChoice {
        file: global.config.clone(),
        trust: global.trust_config,
    }
}

/// How to print, before anything else is known: the repository has no say, and settings that are
/// wrong are told by the command that needs them.
pub(super) fn printing(global: &Global) -> config::Output {
    let file = global.config.clone().map(File::Trusted);
    let environment = std::env::vars_os().filter_map(utf8);
    let mut settings = Settings::load(file.as_ref(), environment).unwrap_or_default();
    take_global(global, &mut settings);
    settings.output.clone()
}

fn take_global(global: &Global, settings: &mut Settings) {
    let threads = global
        .threads
        .and_then(|it| NonZeroU16::new(u16::try_from(it).ok()?));
    if threads.is_some() && threads != settings.output.threads {
        settings.output.threads = threads;
        settings.say_flag("output.threads");
    }
    if let Some(color) = global.color {
        settings.output.color = color;
        settings.say_flag("output.color");
    }
}

/// A variable whose name and value are UTF-8.
pub(crate) fn utf8(
    (name, value): (std::ffi::OsString, std::ffi::OsString),
) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

/// What may be read, as the settings have it.
pub(crate) fn read_policy(settings: &Settings, profile: Profile) -> Result<ReadPolicy, CliError> {
    ReadPolicy::new(&ReadRules::of(&settings.context), profile)
        .map_err(|error| CliError::new(error.code(), error.to_string()))
}

impl From<SettingsError> for CliError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Workspace(error) => error.into(),
            SettingsError::Config(error) => error.into(),
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let said = Self::new(error.code(), error.to_string());
        match error.hint() {
            Some(hint) => said.hint(hint),
            None => said,
        }
    }
}
