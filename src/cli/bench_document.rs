use std::path::Path;

use super::{CliError, Exit, Output};
use crate::model::{BenchDocument, Code, FixtureOutcome, FixtureResult};
use crate::report::{bench_html, bench_junit, bench_markdown, bench_text};

/// How a document is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
    Markdown,
    /// A page with the ladder drawn
    Html,
    Junit,
}

/// Reads what `--save` wrote.
pub(super) fn read_document(path: &Path) -> Result<BenchDocument, CliError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| CliError::unreadable(&name, &error))?;
    let document: Result<BenchDocument, _> = serde_json::from_slice(&bytes);
    match document {
        Ok(document) if document.document == "bench" => Ok(document),
        Ok(document) => {
            let said = format!(
                "`{name}` is a `{}` document, not `bench`",
                document.document
            );
            Err(CliError::new(Code::F306, said))
        }
        Err(error) => {
            let said = format!("`{name}` is no bench document: {error}");
            Err(CliError::new(Code::F306, said).hint("`mendit bench --save FILE` writes one"))
        }
    }
}

/// Prints a document in a format.
pub(super) fn print(
    document: &BenchDocument,
    format: Format,
    output: &Output,
) -> Result<(), CliError> {
    match format {
        Format::Text => output.data(&bench_text(document)),
        Format::Json => output.json(document),
        Format::Markdown => output.data(&bench_markdown(document)),
        Format::Html => output.data(&bench_html(document)),
        Format::Junit => output.data(&bench_junit(document)),
    }
}

/// The exit code of a document, and the first reason when it is not a yes.
pub(super) fn conclude(
    document: &BenchDocument,
    min_rate: Option<f64>,
    output: &Output,
) -> Result<Exit, CliError> {
    let no = |code: Code, said: String, exit: Exit| {
        output.fail(&CliError::new(code, said).exit(exit));
        Ok(exit)
    };
    if document.leaks > 0 {
        let said = format!(
            "fixtures from which something forbidden has left: {}",
            document.leaks
        );
        return no(Code::F302, said, Exit::Refused);
    }
    if document.wrong_heals > 0 {
        let said = format!("wrong heals: {}", document.wrong_heals);
        return no(Code::F304, said, Exit::No);
    }
    if let Some(comparison) = &document.comparison
        && !comparison.regressed.is_empty()
    {
        let said = format!("no longer repaired: {}", comparison.regressed.join(", "));
        return no(Code::F301, said, Exit::No);
    }
    if let Some(least) = min_rate
        && document.totals.rate < least
    {
        let said = format!(
            "the pass rate is {:.4}, and {least} was asked for",
            document.totals.rate
        );
        return no(Code::F307, said, Exit::No);
    }
    let broken = |it: &&FixtureOutcome| it.result == FixtureResult::Error;
    let broken = document.fixtures.iter().filter(broken).count();
    if broken > 0 {
        output.note(&format!("fixtures that could not be run: {broken}"));
        return Ok(Exit::Environment);
    }
    Ok(Exit::Yes)
}
