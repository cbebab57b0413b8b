use std::path::Path;

use serde::Serialize;

use super::open::environment;
use super::{App, AppError};
use crate::config::{File, Origin, Settings};

/// A setting, as `mendit config show` has it.
#[derive(Debug, Serialize)]
pub struct SettingRow {
    /// Its name.
    pub key: String,
    /// Its value as TOML; `None` when it has none.
    pub value: Option<String>,
    /// Where the value comes from.
    pub origin: String,
    /// What it is for.
    pub help: &'static str,
    /// The environment variable that sets it.
    pub variable: String,
}

/// Every setting in force, with its origin. Variables that are handed on may be written with their
/// values, so values are masked.
///
/// # Errors
/// None today; a task may always fail.
pub fn show_settings(app: &App) -> Result<Vec<SettingRow>, AppError> {
    let row =
        |(key, value, origin): (&crate::config::Key, Option<toml::Value>, Origin)| SettingRow {
            key: key.name(),
            value: value.map(|value| app.redactor().redact(&value.to_string()).text.into_owned()),
            origin: match origin {
                Origin::Default => "default".to_owned(),
                Origin::File(file) => file.display().to_string(),
                Origin::Environment(variable) => format!("environment {variable}"),
                Origin::Flag => "flag".to_owned(),
            },
            help: key.help(),
            variable: key.variable(),
        };
    Ok(app.settings().rows().map(row).collect())
}

/// The settings of the user and the environment, without the repository's; those that are wrong
/// count as not made.
#[must_use]
pub fn own_settings(named: Option<&Path>) -> Settings {
    let file = named.map(|file| File::Trusted(file.to_owned()));
    Settings::load(file.as_ref(), environment()).unwrap_or_default()
}
