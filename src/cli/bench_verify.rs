use super::bench::Format;
use super::{AppError, Exit, Output};
use crate::app::{App, BenchRequest, ProofDocument, prove_fixtures};

/// Proves fixtures both ways and prints what does not hold.
pub(super) fn run(
    app: &App,
    request: &BenchRequest,
    format: Format,
    output: &Output,
) -> Result<Exit, AppError> {
    if !matches!(format, Format::Text | Format::Json) {
        return Err(AppError::usage("`--verify` prints text or json"));
    }
    let Some(proof) = prove_fixtures(app, request, output)? else {
        return Ok(Exit::Interrupted);
    };
    if format == Format::Json {
        output.json(&proof)?;
    } else {
        output.text(&text(&proof))?;
    }
    let wrong = proof.fixtures.iter().any(|row| row.result == "wrong");
    Ok(if wrong { Exit::No } else { Exit::Yes })
}

fn text(proof: &ProofDocument) -> String {
    let count = |result| {
        let rows = proof.fixtures.iter();
        rows.filter(|row| row.result == result).count()
    };
    let (holds, skipped, wrong) = (count("holds"), count("skipped"), count("wrong"));
    let mut text = String::new();
    for row in &proof.fixtures {
        text.push_str(&format!("{:<8} {}\n", row.result, row.id));
        if !row.missing.is_empty() {
            text.push_str(&format!("  not here: {}\n", row.missing.join(", ")));
        }
        for said in &row.problems {
            text.push_str(&format!("  {}: {}\n", said.code, said.message));
        }
    }
    text.push_str(&format!(
        "\n{holds} hold, {skipped} skipped, {wrong} wrong\n"
    ));
    text
}
