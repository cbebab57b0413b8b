//! The task of `mendit report`: finds a run, or rates of several.

use std::path::{Path, PathBuf};

use super::runs::{KeptRun, RunStore};
use super::{App, AppError, Result};
use crate::bench::{conclude_rates, count_run};
use crate::model::{AtPath as _, Code, Rates, RunRecord, SCHEMA_VERSION};
use crate::repair::read_run;

/// What a report is about, and the name of its folder.
pub enum Reported {
    /// A run of `mendit fix`, with every attempt.
    Run(Box<RunRecord>, String),
    /// A run of `mendit run`.
    Command(Box<KeptRun>, String),
}

/// Finds a run by its folder, its name or `latest`.
///
/// # Errors
/// `U306` when there is none, or it has not ended.
pub fn find_run(app: &App, what: &str) -> Result<Reported> {
    let named = Path::new(what);
    let folder = match named.parent() {
        _ if named.is_dir() => named.to_owned(),
        // Such as its `report.json`.
        Some(folder) if named.is_file() => folder.to_owned(),
        _ => RunStore::open(app)?.find(what)?,
    };
    let name = folder.display().to_string();
    if let Some(record) = read_run(&folder) {
        return Ok(Reported::Run(Box::new(record), name));
    }
    let run = KeptRun::read(folder);
    if run.record["document"] == "run" {
        return Ok(Reported::Command(Box::new(run), name));
    }
    let error = AppError::new(Code::U306, format!("`{name}` contains no finished run"));
    Err(error
        .hint("pass the folder of one run; `mendit report` alone shows the last")
        .hint("`mendit fix --resume RUN` continues an interrupted run"))
}

/// Adds up the runs in these folders: runs, or folders that hold runs; of `since_days` on those that ended in so many
/// days. `alert_rate` is the share of failures that may stay unfixed.
///
/// # Errors
/// A folder that cannot be read.
pub fn add_up_runs(
    directories: &[String],
    since_days: Option<u64>,
    alert_rate: Option<f64>,
) -> Result<Rates> {
    let mut rates = Rates {
        schema_version: SCHEMA_VERSION,
        document: "report",
        ..Rates::default()
    };
    for directory in directories {
        for folder in run_folders(Path::new(directory))? {
            let written = folder.join("result.json").metadata();
            let age = written.ok().and_then(|about| about.modified().ok()?.elapsed().ok());
            let days = age.map_or(0, |age| age.as_secs() / 86_400);
            match read_run(&folder) {
                _ if since_days.is_some_and(|most| days >= most) => {}
                Some(run) => count_run(&mut rates, &run),
                None => rates.skipped.push(folder.display().to_string()),
            }
        }
    }
    conclude_rates(&mut rates, alert_rate);
    Ok(rates)
}

/// Checks whether a folder contains runs and is not a run itself.
pub fn holds_runs(folder: &Path) -> bool {
    !is_run(folder) && run_folders(folder).is_ok_and(|found| found.iter().any(|one| is_run(one)))
}

fn is_run(folder: &Path) -> bool {
    ["result.json", "run.json"].iter().any(|name| folder.join(name).is_file())
}

fn run_folders(directory: &Path) -> Result<Vec<PathBuf>> {
    if directory.join("result.json").is_file() {
        return Ok(vec![directory.to_owned()]);
    }
    let entries = std::fs::read_dir(directory).at(directory)?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| path.is_dir() && !path.ends_with("attempts"));
    folders.sort();
    Ok(folders)
}
