use std::fmt::Write as _;

use serde::Serialize;

use super::global::Global;
use super::output::to_json;
use super::settings::{load, utf8};
use super::values::TextOrJson;
use super::{CliError, Exit, Output};
use crate::config::{Origin, Settings};
use crate::policy::Redactor;

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
        TextOrJson::Json => output.data(&masked(&to_json(&rows(&settings))?))?,
        TextOrJson::Text => {
            let mut text = String::new();
            for row in rows(&settings) {
                let value = row
                    .value
                    .map_or_else(|| "(unset)".to_owned(), |it| it.to_string());
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{} = {value}  # {}", row.key, row.origin);
            }
            output.data(&masked(&text))?;
        }
    }
    Ok(Exit::Yes)
}

// Variables that are handed on may be written with their values.
fn masked(text: &str) -> String {
    let redactor = Redactor::new(std::env::vars_os().filter_map(utf8));
    redactor.redact(text).text.into_owned()
}

#[derive(Serialize)]
struct Row {
    key: String,
    value: Option<toml::Value>,
    origin: String,
    help: &'static str,
    variable: String,
}

fn rows(settings: &Settings) -> Vec<Row> {
    settings
        .rows()
        .map(|(key, value, origin)| Row {
            key: key.name(),
            value,
            origin: match origin {
                Origin::Default => "default".to_owned(),
                Origin::File(file) => file.display().to_string(),
                Origin::Environment(variable) => format!("environment {variable}"),
                Origin::Flag => "flag".to_owned(),
            },
            help: key.help(),
            variable: key.variable(),
        })
        .collect()
}
