use std::path::Path;

use serde::Serialize;

use super::open::environment;
use super::{App, AppError, Result};
use crate::config::{ConfigError, File, Key, Origin, Settings};
use crate::model::{Page, page};
use crate::policy::Redactor;

/// A setting, as `mendit config show` has it.
#[derive(Debug, Serialize)]
pub struct SettingRow {
    /// Its name.
    pub key: String,
    /// Its value; `None` when it has none.
    pub value: Option<toml::Value>,
    /// Where the value comes from.
    pub origin: String,
}

/// Every setting in force, with its origin. Variables that are handed on may be written with their
/// values, so values are masked.
#[must_use]
pub fn show_settings(app: &App) -> Vec<SettingRow> {
    let row = |(key, value, origin): (&Key, Option<toml::Value>, Origin)| SettingRow {
        key: key.name(),
        value: value.map(|value| masked(app.redactor(), value)),
        origin: match origin {
            Origin::Default => "default".to_owned(),
            Origin::File(file) => file.display().to_string(),
            Origin::Environment(variable) => format!("environment {variable}"),
            Origin::Flag => "flag".to_owned(),
        },
    };
    app.settings().rows().map(row).collect()
}

/// Looks whether the settings file that a person named is there, whatever will read it.
///
/// # Errors
/// `U103` when it is not.
pub fn find_settings(named: Option<&Path>) -> Result<()> {
    let missing = named.filter(|file| !file.exists());
    missing.map_or(Ok(()), |file| {
        Err(ConfigError::unreadable(&file.display().to_string(), "no such file").into())
    })
}

/// The settings of the user and the environment, without the repository's; those that are wrong
/// count as not made.
#[must_use]
pub fn own_settings(named: Option<&Path>) -> Settings {
    let file = named.map(|file| File::Trusted(file.to_owned()));
    Settings::load(file.as_ref(), environment()).unwrap_or_default()
}

fn masked(redactor: &Redactor, value: toml::Value) -> toml::Value {
    match value {
        toml::Value::String(text) => toml::Value::String(redactor.redact(&text).text.into_owned()),
        toml::Value::Array(items) => {
            let items = items.into_iter().map(|item| masked(redactor, item));
            toml::Value::Array(items.collect())
        }
        value => value,
    }
}

/// Explains a code, kind, category, level, stop reason or verdict.
///
/// # Errors
/// `U101` for what has no page.
pub fn explain_word(word: &str) -> Result<Page> {
    page(word).ok_or_else(|| {
        AppError::usage(format!("`{word}` is not a code")).hint("`mendit explain` lists all codes")
    })
}
