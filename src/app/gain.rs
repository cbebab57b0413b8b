use std::path::Path;

use serde::{Deserialize, Serialize};

use super::files::{to_json, write_file};
use super::{App, AppError, runs};
use crate::model::{Gain, GainRow, SCHEMA_VERSION};
use crate::state::StateHome;

/// Adds up what was told in brief, on this machine.
///
/// # Errors
/// What the system says of the place where runs are kept.
pub fn gain() -> Result<Gain, AppError> {
    let mut total = GainRow::default();
    let mut repositories = Vec::new();
    for kept in StateHome::open()?.all() {
        let counted = counted(&kept.directory().join(COUNTER));
        if counted.runs == 0 {
            continue;
        }
        let row = GainRow {
            root: kept.root().unwrap_or_default().display().to_string(),
            runs: counted.runs,
            log_tokens: counted.log_bytes * 2 / 7,
            told_tokens: counted.told_bytes * 2 / 7,
        };
        total.runs += row.runs;
        total.log_tokens += row.log_tokens;
        total.told_tokens += row.told_tokens;
        repositories.push(row);
    }
    repositories.sort_by(|a, b| a.root.cmp(&b.root));
    Ok(Gain {
        schema_version: SCHEMA_VERSION,
        document: "gain",
        total,
        repositories,
    })
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Counted {
    runs: u64,
    log_bytes: u64,
    told_bytes: u64,
}

/// Counts a run that was told in brief.
pub(super) fn count(app: &App, log: usize, told: usize) -> Result<(), AppError> {
    let path = runs::here(app)?.directory().join(COUNTER);
    let mut counted = counted(&path);
    counted.runs += 1;
    counted.log_bytes += log as u64;
    counted.told_bytes += told as u64;
    write_file(&path, to_json(&counted)?)
}

fn counted(path: &Path) -> Counted {
    let bytes = std::fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

const COUNTER: &str = "gain.json";
