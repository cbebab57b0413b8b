use super::global::Global;
use super::values::{Form, PLAIN};
use super::{AppError, Exit, Output};
use crate::app::explain_word;
use crate::model::{Page, code_pages};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A code such as C101, or a kind, category, level, stop reason or verdict; without one, all codes
    #[arg(value_name = "CODE")]
    word: Vec<String>,
    /// How to print it
    #[arg(long, value_parser = PLAIN, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, _: &Global, output: &Output) -> Result<Exit, AppError> {
    let word = args.word.join(" ");
    if word.is_empty() {
        let pages = code_pages();
        let line = |page: &Page| format!("{}  {}\n", page.name, page.title);
        match args.format {
            Form::Json => output.json(&pages)?,
            _ => output.data(&pages.iter().map(line).collect::<String>())?,
        }
        return Ok(Exit::Yes);
    }
    // The name of a page may have blanks in it; else each word is one.
    let pages = match explain_word(&word) {
        Ok(page) => vec![page],
        Err(error) if args.word.len() == 1 => return Err(error),
        Err(_) => {
            let pages = args.word.iter().map(|it| explain_word(it));
            pages.collect::<Result<_, _>>()?
        }
    };
    for page in &pages {
        match args.format {
            Form::Json => output.json(page)?,
            _ => output.prose(&format!("{}: {}\n\n{}\n", page.name, page.title, page.body))?,
        }
    }
    Ok(Exit::Yes)
}
