//! The tasks of `mendit config` and `mendit explain`: settings in force, and what is kept between runs.

use std::path::Path;

use serde::Serialize;

use super::flags::request;
use super::open::environment;
use super::{App, AppError, Result};
use crate::config::{ConfigError, File, Origin, Settings};
use crate::model::{Page, page};
use crate::policy::Redactor;
use crate::repair::RunLock;
use crate::state::StateHome;

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
pub fn show_settings(app: &App) -> Vec<SettingRow> {
    app.settings()
        .rows()
        .map(|(key, value, origin)| SettingRow {
            key: key.name(),
            value: value.map(|value| mask_value(app.redactor(), value)),
            origin: match origin {
                Origin::Default => "default".to_owned(),
                Origin::File(file) => file.display().to_string(),
                Origin::Environment(variable) => format!("environment {variable}"),
                Origin::Flag => "flag".to_owned(),
            },
        })
        .collect()
}

/// Looks whether the settings file that a person named is there, whatever will read it.
///
/// # Errors
/// `U103` when it is not.
pub fn find_settings(named: Option<&Path>) -> Result<()> {
    named.filter(|file| !file.exists()).map_or(Ok(()), |file| {
        Err(ConfigError::unreadable(&file.display().to_string(), "no such file").into())
    })
}

/// The settings of the user and the environment, without the repository's; those that are wrong
/// count as not made.
pub fn own_settings(named: Option<&Path>) -> Settings {
    let file = named.map(|file| File::Trusted(file.to_owned()));
    Settings::load(file.as_ref(), environment()).unwrap_or_default()
}

fn mask_value(redactor: &Redactor, value: toml::Value) -> toml::Value {
    match value {
        toml::Value::String(text) => toml::Value::String(redactor.mask(&text)),
        toml::Value::Array(items) => {
            let items = items.into_iter().map(|item| mask_value(redactor, item));
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

/// What is kept of one worktree, as `mendit config clean` shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptRow {
    /// The worktree.
    pub root: String,
    /// Whether it is still there.
    pub there: bool,
    /// Bytes of everything that is kept for it.
    pub bytes: u64,
    /// Whether it was removed now.
    pub removed: bool,
}

request! {
/// What is deleted: nothing where no flag is given.
#[derive(Copy)]
CleanRequest {
    /// Delete what is kept for worktrees that are gone
    #[arg(long)] gone: bool;
    /// Delete what is kept for this worktree
    #[arg(long, conflicts_with = "gone")] here: bool;
    /// Delete everything
    #[arg(long, conflicts_with_all = ["gone", "here"])] all: bool;
}
}

/// Shows what is kept, and removes the part that is asked for. Nothing is removed while a run holds it.
///
/// # Errors
/// What the system says.
pub fn clean(app: &App, what: CleanRequest) -> Result<Vec<KeptRow>> {
    let here = app.worktree()?.root;
    let mut repositories = Vec::new();
    for kept in StateHome::open()?.all() {
        let root = kept.root().unwrap_or_default();
        let there = root.is_dir();
        let is_here = here.as_ref() == Some(&root);
        let removed = what.all || what.gone && !there || what.here && is_here;
        repositories.push(KeptRow {
            root: root.display().to_string(),
            there,
            bytes: bytes_below(kept.directory()),
            removed,
        });
        if removed {
            let _lock = RunLock::take(kept.directory())?;
            kept.remove()?;
        }
    }
    repositories.sort_by(|a, b| a.root.cmp(&b.root));
    Ok(repositories)
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => bytes_below(&entry.path()),
        about => about.map_or(0, |about| about.len()),
    });
    bytes.sum()
}
