use super::values::TextOrJson;
use super::{CliError, Exit, Output};
use crate::model::{Code, code_pages, explain};
use crate::policy::secret_rule_page;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A code such as C101, or the name in a mask such as `github-token`; without one, all codes are
    /// listed
    code: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, CliError> {
    if let Some(id) = &args.code
        && let Some(page) = secret_rule_page(id)
    {
        match args.format {
            TextOrJson::Json => output.json(&serde_json::json!({"rule": id, "page": page}))?,
            TextOrJson::Text => output.data(&page)?,
        }
        return Ok(Exit::Yes);
    }
    let pages = match &args.code {
        None => code_pages(),
        Some(code) => vec![explain(code).ok_or_else(|| unknown(code))?],
    };
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

fn unknown(code: &str) -> CliError {
    let nearest = code_pages()
        .into_iter()
        .map(|page| page.code)
        .min_by_key(|known| strsim::levenshtein(&code.to_ascii_uppercase(), known.as_str()))
        .unwrap_or(Code::C101);
    CliError::new(Code::U102, format!("`{code}` is not a code")).hint(format!(
        "did you mean `{nearest}`? `mendit explain` lists all"
    ))
}
