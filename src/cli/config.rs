use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output, open};
use crate::app::show_settings;

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
        #[arg(long, value_parser = PLAIN, default_value = "text")]
        format: Form,
    },
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let Action::Show { format } = args.action;
    let rows = show_settings(&open(global, &())?);
    output.document(format, &rows, |rows| {
        let mut text = String::new();
        for row in rows {
            let value = row.value.as_ref();
            let value = value.map_or_else(|| "(unset)".to_owned(), ToString::to_string);
            text.push_str(&format!("{} = {value}  # {}\n", row.key, row.origin));
        }
        text
    })?;
    Ok(Exit::Yes)
}
