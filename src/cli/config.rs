use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::args::Global;
use super::values::TextOrJson;
use super::{CliError, Exit, Output};
use crate::config::{ConfigError, Origin, Settings, Value};
use crate::model::{Code, Profile};
use crate::policy::ReadPolicy;
use crate::workspace::settings_file;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print each setting, its value and where it comes from
    Show {
        /// How to print it
        #[arg(long, value_enum, default_value = "text")]
        format: TextOrJson,
    },
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, CliError> {
    let Action::Show { format } = args.action;
    let settings = load(global)?;
    match format {
        TextOrJson::Json => output.json(&rows(&settings))?,
        TextOrJson::Text => {
            let mut text = String::new();
            for row in rows(&settings) {
                let value = row.value.map_or_else(|| "(unset)".to_owned(), shown);
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{} = {value}  # {}", row.key, row.origin);
            }
            output.data(&text)?;
        }
    }
    Ok(Exit::Yes)
}

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

#[derive(Serialize)]
struct Row<'a> {
    key: &'static str,
    value: Option<&'a Value>,
    origin: String,
    help: &'static str,
}

fn rows(settings: &Settings) -> Vec<Row<'_>> {
    settings
        .rows()
        .map(|(key, set)| Row {
            key: key.name,
            value: set.map(|(value, _)| value),
            origin: match set.map(|(_, origin)| origin) {
                None | Some(Origin::Default) => "default".to_owned(),
                Some(Origin::File(file)) => file.display().to_string(),
                Some(Origin::Environment(variable)) => format!("environment {variable}"),
            },
            help: key.help,
        })
        .collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Word(word) => format!("{word:?}"),
        Value::List(list) => format!("{list:?}"),
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let said = Self::new(Code::new("U103"), error.to_string());
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
