use super::global::Global;
use super::{AppError, Exit, Output};
use crate::app::settings::file_schema;
use crate::model::{DOCUMENTS, DocumentSchema, schema};
use crate::report::table;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A document such as context; without one, all are listed
    #[arg(value_name = "DOC")]
    document: Option<String>,
}

// Not a document that crosses a border, and still read by editors.
const CONFIG: &str = "config";

/// Prints the JSON Schema of a document.
pub(crate) fn run(args: &Args, _: &Global, output: &Output) -> Result<Exit, AppError> {
    let Some(name) = &args.document else {
        let documents = DOCUMENTS.iter().map(|it| [it.name, it.about]);
        let rows = documents.chain([[CONFIG, "the configuration file"]]);
        let rows: Vec<_> = rows.map(|it| it.map(str::to_owned)).collect();
        output.data(&table(&rows, &[]))?;
        return Ok(Exit::Yes);
    };
    if name == CONFIG {
        output.json(&file_schema())?;
        return Ok(Exit::Yes);
    }
    let Some(document) = schema(name) else {
        let far = |document: &&DocumentSchema| strsim::damerau_levenshtein(document.name, name);
        let nearest = DOCUMENTS.iter().min_by_key(far);
        let nearest = nearest.filter(|it| far(it) <= (name.len() / 3).max(1));
        let error = AppError::usage(format!("unknown document `{name}`"));
        return Err(match nearest {
            Some(document) => error.hint(format!("did you mean `{}`?", document.name)),
            None => error,
        }
        .hint("`mendit schema` lists them"));
    };
    output.json(&document.schema())?;
    Ok(Exit::Yes)
}
