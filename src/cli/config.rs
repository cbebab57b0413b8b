use std::fmt::Write as _;

use serde::Serialize;

use super::global::Global;
use super::values::TextOrJson;
use super::{AppError, Exit, Output, open};
use crate::app::{SettingOrigin, SettingValue, Settings};

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

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let Action::Show { format } = args.action;
    let app = open(global, &[])?;
    let settings = app.settings();
    match format {
        TextOrJson::Json => output.json(&rows(settings))?,
        TextOrJson::Text => {
            let mut text = String::new();
            for row in rows(settings) {
                let value = row.value.map_or_else(|| "(unset)".to_owned(), shown);
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{} = {value}  # {}", row.key, row.origin);
            }
            output.data(&text)?;
        }
    }
    Ok(Exit::Yes)
}

#[derive(Serialize)]
struct Row<'a> {
    key: &'static str,
    value: Option<&'a SettingValue>,
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
                None | Some(SettingOrigin::Default) => "default".to_owned(),
                Some(SettingOrigin::File(file)) => file.display().to_string(),
                Some(SettingOrigin::Environment(variable)) => format!("environment {variable}"),
            },
            help: key.help,
        })
        .collect()
}

fn shown(value: &SettingValue) -> String {
    match value {
        SettingValue::Integer(number) => number.to_string(),
        SettingValue::Word(word) => format!("{word:?}"),
        SettingValue::List(list) => format!("{list:?}"),
    }
}
