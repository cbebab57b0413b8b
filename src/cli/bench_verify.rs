use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

use super::bench_document::Format;
use super::{CliError, Exit, Output};
use crate::bench::{Fixture, FixtureError, Proof, verify};
use crate::exec::Stop;
use crate::model::SCHEMA_VERSION;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    schema_version: u32,
    #[serde(rename = "document")]
    kind: &'static str,
    fixtures: Vec<Row>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    /// `holds`, `skipped` or `wrong`.
    result: &'static str,
    missing: Vec<String>,
    problems: Vec<Said>,
}

#[derive(Serialize)]
struct Said {
    code: String,
    message: String,
}

/// Proves fixtures both ways and prints what does not hold.
pub(super) fn run(
    fixtures: &[Fixture],
    home: &Path,
    jobs: usize,
    format: Format,
    stop: &Stop,
    output: &Output,
) -> Result<Exit, CliError> {
    if !matches!(format, Format::Text | Format::Json) {
        return Err(CliError::usage("`--verify` prints text or json"));
    }
    let rows = prove(fixtures, home, jobs, stop)?;
    if stop.requested() {
        return Ok(Exit::Interrupted);
    }
    let count = |result| rows.iter().filter(|row| row.result == result).count();
    let (holds, skipped, wrong) = (count("holds"), count("skipped"), count("wrong"));
    if format == Format::Json {
        output.json(&Document {
            schema_version: SCHEMA_VERSION,
            kind: "bench-verify",
            fixtures: rows,
        })?;
    } else {
        let mut text = String::new();
        for row in &rows {
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
        output.data(&text)?;
    }
    Ok(if wrong > 0 { Exit::No } else { Exit::Yes })
}

fn prove(
    fixtures: &[Fixture],
    home: &Path,
    jobs: usize,
    stop: &Stop,
) -> Result<Vec<Row>, FixtureError> {
    let next = AtomicUsize::new(0);
    let proofs = Mutex::new(Vec::new());
    let work = || {
        while !stop.requested() {
            let at = next.fetch_add(1, Ordering::SeqCst);
            let Some(fixture) = fixtures.get(at) else {
                break;
            };
            let proof = verify(fixture, &home.join(&fixture.id), stop);
            if let Ok(mut proofs) = proofs.lock() {
                proofs.push((at, proof.map(|proof| row(fixture, &proof))));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.clamp(1, fixtures.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut proofs = proofs.into_inner().unwrap_or_default();
    proofs.sort_by_key(|(at, _)| *at);
    proofs.into_iter().map(|(_, row)| row).collect()
}

fn row(fixture: &Fixture, proof: &Proof) -> Row {
    let problems = proof.problems.iter().map(|it| Said {
        code: it.code.to_string(),
        message: it.message.clone(),
    });
    Row {
        id: fixture.id.clone(),
        result: match proof {
            proof if proof.holds() => "holds",
            proof if !proof.missing.is_empty() => "skipped",
            _ => "wrong",
        },
        missing: proof.missing.clone(),
        problems: problems.collect(),
    }
}
