use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::runs::{CommandReport, RunStore, command_report};
use super::{App, AppError, Result};
use crate::model::{Blocker, ChildFailure, Code, Rates, RunRecord, SCHEMA_VERSION};
use crate::repair::read_run;

/// What a report is about.
pub enum Reported {
    /// A run, with every attempt, and the name of its folder.
    Run(Box<RunRecord>, String),
    /// A run of `mendit run`, and the name of its folder.
    Command(Box<CommandReport>, String),
    /// A failure report alone.
    Failure(Box<ChildFailure>),
}

/// Finds a run by its folder, its name or `latest`.
///
/// # Errors
/// `U306` when there is none, or it has not ended.
pub fn find_run(app: &App, what: &str) -> Result<Reported> {
    let folder = if Path::new(what).is_dir() {
        PathBuf::from(what)
    } else {
        RunStore::open(app)?.find(what)?
    };
    let name = folder.display().to_string();
    if let Some(record) = read_run(&folder) {
        return Ok(Reported::Run(Box::new(record), name));
    }
    if let Some(report) = command_report(&folder) {
        return Ok(Reported::Command(Box::new(report), name));
    }
    let error = AppError::new(Code::U306, format!("`{name}` holds no finished run"));
    Err(error
        .hint("name the folder of one run; `mendit report` alone takes the last")
        .hint("`mendit fix --resume RUN` continues an interrupted run"))
}

/// Reads a failure report, the `report.json` of a run.
///
/// # Errors
/// `U306` when there is none.
pub fn read_report(name: &str, bytes: &[u8]) -> Result<Reported> {
    serde_json::from_slice(bytes)
        .map(Reported::Failure)
        .map_err(|_| {
            let error = AppError::new(
                Code::U306,
                format!("there is no failure report in `{name}`"),
            );
            error.hint("name the `report.json` of a run, or its folder")
        })
}

/// Adds up the runs in these folders: runs, or folders that hold runs. `since_days` leaves older runs out;
/// `alert_rate` is the share of failures that may stay unfixed.
///
/// # Errors
/// A folder that cannot be read.
pub fn add_up_runs(
    directories: &[PathBuf],
    since_days: Option<u64>,
    alert_rate: Option<f64>,
) -> Result<Rates> {
    let seconds = since_days.and_then(|days| days.checked_mul(86_400));
    let after =
        seconds.and_then(|seconds| SystemTime::now().checked_sub(Duration::from_secs(seconds)));
    let mut runs = Vec::new();
    let mut skipped = Vec::new();
    for directory in directories {
        for folder in run_folders(directory)? {
            match read_run(&folder) {
                _ if is_older(&folder, after) => {}
                Some(run) => runs.push(run),
                None => skipped.push(folder.display().to_string()),
            }
        }
    }
    let mut rates = add_up(&runs);
    rates.skipped = skipped;
    rates.alarm = alert_rate.and_then(|limit| alarm(&rates, limit));
    Ok(rates)
}

/// Whether a folder holds runs and is none itself.
#[must_use]
pub fn holds_runs(folder: &Path) -> bool {
    let has = |folder: &Path, name: &str| folder.join(name).is_file();
    let is_run = |folder: &Path| has(folder, "result.json") || has(folder, "run.json");
    !is_run(folder) && run_folders(folder).is_ok_and(|found| found.iter().any(|one| is_run(one)))
}

fn run_folders(directory: &Path) -> Result<Vec<PathBuf>> {
    if directory.join("result.json").is_file() {
        return Ok(vec![directory.to_owned()]);
    }
    let entries = std::fs::read_dir(directory)
        .map_err(|error| AppError::unreadable(&directory.display().to_string(), &error))?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.retain(|path| path.is_dir() && !path.ends_with("attempts"));
    folders.sort();
    Ok(folders)
}

fn is_older(folder: &Path, after: Option<SystemTime>) -> bool {
    let result = folder.join("result.json").metadata();
    let written = result.and_then(|about| about.modified());
    after.is_some_and(|after| written.is_ok_and(|written| written < after))
}

fn add_up(runs: &[RunRecord]) -> Rates {
    let mut rates = Rates {
        schema_version: SCHEMA_VERSION,
        document: "report",
        ..Rates::default()
    };
    let mut blockers: BTreeMap<String, u32> = BTreeMap::new();
    for run in runs {
        let result = &run.result;
        rates.runs += 1;
        let Some(failure) = &result.failure else {
            continue;
        };
        let fixed = u32::from(result.status.is_success());
        rates.failures += 1;
        rates.fixed += fixed;
        let kind = rates.kinds.entry(failure.kind.to_string()).or_default();
        kind.runs += 1;
        kind.fixed += fixed;
        if let Some(category) = result.category {
            *rates.categories.entry(category.to_string()).or_default() += 1;
        }
        if let Some(blocked) = run
            .report
            .as_ref()
            .and_then(|report| report.blocked_on.as_ref())
        {
            *blockers.entry(blocked.clone()).or_default() += 1;
        }
    }
    let all = f64::from(rates.failures.max(1));
    let share = |count: u32| (f64::from(count) / all * 1000.0).round() / 1000.0;
    rates.recovery_rate = share(rates.fixed);
    rates.failure_rate = share(rates.failures - rates.fixed);
    let categories = rates.categories.iter();
    let shares = categories.map(|(name, count)| (name.clone(), share(*count)));
    rates.category_rates = shares.collect();
    let blockers = blockers.into_iter();
    let blockers = blockers.map(|(what, runs)| Blocker { what, runs });
    rates.blockers = blockers.collect();
    rates
        .blockers
        .sort_by_key(|blocker| std::cmp::Reverse(blocker.runs));
    rates.blockers.truncate(MAX_BLOCKERS);
    rates
}

fn alarm(rates: &Rates, limit: f64) -> Option<String> {
    if rates.failure_rate <= limit {
        return None;
    }
    let (open, all) = (rates.failures - rates.fixed, rates.failures);
    let (rate, limit) = (rates.failure_rate * 100.0, limit * 100.0);
    let most = rates.categories.iter().max_by_key(|(_, count)| **count);
    let most = most.map_or(String::new(), |(category, count)| {
        format!("; most of them {category} ({count})")
    });
    Some(format!(
        "{open} of {all} failures are not fixed: {rate:.1} %, and {limit:.1} % are allowed{most}"
    ))
}

const MAX_BLOCKERS: usize = 10;
