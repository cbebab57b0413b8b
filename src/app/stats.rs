use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::files::{to_json, write_file};
use super::flags::{Args, share};
use super::{App, AppError, runs};
use crate::model::{Gain, GainRow, RunRecord, SCHEMA_VERSION, Stats};
use crate::repair::{read_run, stats};
use crate::state::StateHome;

/// Rates over many runs.
#[derive(Debug, Clone, Default, Args)]
pub struct StatsRequest {
    /// Folders of runs, or folders that hold such folders
    #[arg(value_name = "DIR", required_unless_present = "spared")]
    pub directories: Vec<PathBuf>,
    /// Only runs that ended in the last N days
    #[arg(long = "since", value_name = "DAYS")]
    pub since_days: Option<u64>,
    /// Exit 1 when a larger share of failures stays unfixed, 0 to 1
    #[arg(long, value_name = "X", value_parser = share)]
    pub alert_rate: Option<f64>,
}

/// Adds up runs. Folders that hold none are named in the answer.
///
/// # Errors
/// A folder that cannot be read.
pub fn add_up_runs(request: &StatsRequest) -> Result<Stats, AppError> {
    let after = request
        .since_days
        .and_then(|days| days.checked_mul(86_400))
        .and_then(|seconds| SystemTime::now().checked_sub(Duration::from_secs(seconds)));
    let mut runs = Vec::new();
    let mut skipped = Vec::new();
    for directory in &request.directories {
        let entries = std::fs::read_dir(directory)
            .map_err(|error| AppError::unreadable(&directory.display().to_string(), &error))?;
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_dir() && path.file_name().is_none_or(|it| it != "attempts"))
            .collect();
        if directory.join("result.json").is_file() {
            folders = vec![directory.clone()];
        }
        folders.sort();
        for folder in folders {
            if is_old(&folder, after) {
                continue;
            }
            match read_run(&folder) {
                Some(run) => runs.push(run),
                None => skipped.push(folder.display().to_string()),
            }
        }
    }
    let runs: Vec<RunRecord> = runs;
    let mut all = stats(&runs);
    all.skipped = skipped;
    all.alarm = request.alert_rate.and_then(|limit| alarm(&all, limit));
    Ok(all)
}

fn alarm(all: &Stats, limit: f64) -> Option<String> {
    if all.failure_rate <= limit {
        return None;
    }
    let mut message = format!(
        "{} of {} failures are not fixed: {:.1} %, and {:.1} % are allowed",
        all.failures - all.fixed,
        all.failures,
        all.failure_rate * 100.0,
        limit * 100.0
    );
    let most = all.categories.iter().max_by_key(|it| it.1);
    if let Some((category, count)) = most {
        message.push_str(&format!("; most of them {category} ({count})"));
    }
    if let Some(blocker) = all.blockers.first() {
        message.push_str(&format!("; most often in the way: {}", blocker.what));
    }
    Some(message)
}

fn is_old(folder: &Path, after: Option<SystemTime>) -> bool {
    let result = folder.join("result.json").metadata();
    let written = result.and_then(|it| it.modified());
    after.is_some_and(|after| written.is_ok_and(|written| written < after))
}

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
pub(super) fn count(app: &App, log: usize, shown: usize) -> Result<(), AppError> {
    let path = runs::here(app)?.directory().join(COUNTER);
    let mut counted = counted(&path);
    counted.runs += 1;
    counted.log_bytes += log as u64;
    counted.told_bytes += shown as u64;
    write_file(&path, to_json(&counted)?)
}

fn counted(path: &Path) -> Counted {
    let bytes = std::fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

const COUNTER: &str = "gain.json";
