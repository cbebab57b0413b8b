use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::AppError;
use crate::model::{RunRecord, Stats};
use crate::repair::{read_run, stats};

/// Rates over many runs.
#[derive(Debug, Clone, Default)]
pub struct StatsRequest {
    /// Folders of runs, or folders that hold such folders.
    pub directories: Vec<PathBuf>,
    /// Only runs that ended in the last so many days.
    pub since_days: Option<u64>,
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
    Ok(all)
}

fn is_old(folder: &Path, after: Option<SystemTime>) -> bool {
    let result = folder.join("result.json").metadata();
    let written = result.and_then(|it| it.modified());
    after.is_some_and(|after| written.is_ok_and(|written| written < after))
}
