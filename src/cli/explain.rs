use super::values::TextOrJson;
use super::{CliError, Exit, Output};
use crate::model::{Code, code_pages, nearest_page, page};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A code such as C101, or a kind, level, stop reason or verdict; without one, all codes
    #[arg(value_name = "CODE")]
    word: Vec<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, CliError> {
    let word = args.word.join(" ");
    if word.is_empty() {
        let pages = code_pages();
        let line = |page: &crate::model::CodePage| format!("{}  {}\n", page.code, page.title);
        match args.format {
            TextOrJson::Json => output.json(&pages)?,
            TextOrJson::Text => output.data(&pages.iter().map(line).collect::<String>())?,
        }
        return Ok(Exit::Yes);
    }
    let page = page(&word).ok_or_else(|| unknown(&word))?;
    match args.format {
        TextOrJson::Json => output.json(&page)?,
        TextOrJson::Text => output.data(&format!(
            "{}: {}\n\n{}\n",
            page.name(),
            page.title(),
            page.body()
        ))?,
    }
    Ok(Exit::Yes)
}

fn unknown(word: &str) -> CliError {
    let error = CliError::new(Code::U102, format!("`{word}` is not a code"));
    match nearest_page(word) {
        Some(nearest) => error.hint(format!(
            "did you mean `{nearest}`? `mendit explain` lists all codes"
        )),
        None => error.hint("`mendit explain` lists all codes"),
    }
}
