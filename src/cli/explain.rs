use super::values::TextOrJson;
use super::{AppError, Exit, Output};
use crate::app::explain_word;
use crate::model::{CodePage, code_pages};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A code such as C101, the name in a mask such as `github-token`, or a kind, level, stop reason
    /// or verdict; without one, all codes
    #[arg(value_name = "CODE")]
    word: Vec<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, AppError> {
    let word = args.word.join(" ");
    if word.is_empty() {
        let pages = code_pages();
        let line = |page: &CodePage| format!("{}  {}\n", page.code, page.title);
        match args.format {
            TextOrJson::Json => output.json(&pages)?,
            TextOrJson::Text => output.data(&pages.iter().map(line).collect::<String>())?,
        }
        return Ok(Exit::Yes);
    }
    let page = explain_word(&word)?;
    match args.format {
        TextOrJson::Json => output.json(&page)?,
        TextOrJson::Text => output.data(&page.text())?,
    }
    Ok(Exit::Yes)
}
