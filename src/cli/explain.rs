use super::values::TextOrJson;
use super::{AppError, Exit, Output};
use crate::app::explain_code;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A code such as C101; without one, all codes are listed
    code: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, AppError> {
    let pages = explain_code(args.code.as_deref())?;
    match (args.format, &args.code) {
        (TextOrJson::Json, None) => output.json(&pages)?,
        (TextOrJson::Json, Some(_)) => output.json(&pages.first())?,
        (TextOrJson::Text, None) => {
            let list: String = pages
                .iter()
                .map(|page| format!("{}  {}\n", page.code, page.title))
                .collect();
            output.data(&list)?;
        }
        (TextOrJson::Text, Some(_)) => {
            for page in &pages {
                output.data(&format!("{}: {}\n\n{}\n", page.code, page.title, page.body))?;
            }
        }
    }
    Ok(Exit::Yes)
}
