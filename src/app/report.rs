use std::path::{Path, PathBuf};

use super::runs::{CommandReport, RunStore, command_report};
use super::{App, AppError};
use crate::model::{ChildFailure, Code, RunRecord};
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
pub fn find_run(app: &App, what: &str) -> Result<Reported, AppError> {
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
    let hint = if folder.join("run.json").exists() {
        "a run that was cut off is continued with `mendit fix --resume RUN`"
    } else {
        "name the folder of one run; `mendit report` alone takes the last"
    };
    let message = format!("`{name}` holds no repair that ended");
    Err(AppError::new(Code::U306, message).hint(hint))
}

/// Reads a failure report, the `report.json` of a run.
///
/// # Errors
/// `U306` when there is none.
pub fn read_report(name: &str, bytes: &[u8]) -> Result<Reported, AppError> {
    match serde_json::from_slice(bytes) {
        Ok(report) => Ok(Reported::Failure(report)),
        Err(_) => Err(AppError::new(
            Code::U306,
            format!("there is no failure report in `{name}`"),
        )
        .hint("name the `report.json` of a run, or its folder")),
    }
}
