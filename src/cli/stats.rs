use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::values::{TextOrJson, share};
use super::{CliError, Exit, Output};
use crate::model::{RunRecord, Stats};
use crate::repair::{read_run, stats};

/// Rates over many runs: what fails, what is fixed, what stands in the way.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 fine · 1 more runs fail than --alert-rate allows · 2 nothing to read"
)]
pub(crate) struct Args {
    /// Folders of runs, or folders that hold such folders
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Only runs that ended in the last N days
    #[arg(long, value_name = "DAYS")]
    since: Option<u64>,
    /// Exit 1 when a larger share of failures stays unfixed, 0 to 1
    #[arg(long, value_name = "X", value_parser = share)]
    alert_rate: Option<f64>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, CliError> {
    let after = args
        .since
        .and_then(|days| days.checked_mul(86_400))
        .and_then(|seconds| SystemTime::now().checked_sub(Duration::from_secs(seconds)));
    let mut runs = Vec::new();
    let mut skipped = Vec::new();
    for directory in &args.directories {
        let entries = std::fs::read_dir(directory)
            .map_err(|error| CliError::unreadable(&directory.display().to_string(), &error))?;
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_dir() && path.file_name().is_none_or(|it| it != "attempts"))
            .collect();
        if directory.join("result.json").is_file() {
            folders = vec![directory.clone()];
        }
        folders.sort();
        for folder in folders {
            match read(&folder, after) {
                Read::Run(run) => runs.push(*run),
                Read::Old => {}
                Read::Nothing => skipped.push(folder.display().to_string()),
            }
        }
    }
    let mut all = stats(&runs);
    all.skipped = skipped;
    match args.format {
        TextOrJson::Json => output.json(&all)?,
        TextOrJson::Text => output.data(&text(&all))?,
    }
    let alert = args
        .alert_rate
        .is_some_and(|limit| all.failure_rate > limit);
    Ok(if alert { Exit::No } else { Exit::Yes })
}

enum Read {
    Run(Box<RunRecord>),
    Old,
    Nothing,
}

fn read(folder: &Path, after: Option<SystemTime>) -> Read {
    let written = folder
        .join("result.json")
        .metadata()
        .and_then(|it| it.modified());
    if after.is_some_and(|after| written.is_ok_and(|written| written < after)) {
        return Read::Old;
    }
    read_run(folder).map_or(Read::Nothing, |run| Read::Run(Box::new(run)))
}

fn text(all: &Stats) -> String {
    let mut text = format!(
        "runs: {}, with a failure: {}, fixed: {}, not fixed: {:.0} %\n",
        all.runs,
        all.failures,
        all.fixed,
        all.failure_rate * 100.0
    );
    let import = all.import_recovery;
    if import.runs > 0 {
        text.push_str(&format!(
            "import errors fixed: {} of {}\n",
            import.fixed, import.runs
        ));
    }
    for (kind, rate) in &all.kinds {
        text.push_str(&format!(
            "  {kind:<20} {} of {} fixed\n",
            rate.fixed, rate.runs
        ));
    }
    for (title, rows) in [
        ("not fixed, by category", &all.categories),
        ("ends", &all.stop_reasons),
    ] {
        if !rows.is_empty() {
            text.push_str(&format!("{title}:\n"));
        }
        for (name, count) in rows {
            text.push_str(&format!("  {name:<20} {count}\n"));
        }
    }
    for (title, rows) in [
        ("what stood in the way", &all.blockers),
        (
            "what agents imported: rows for `hint.known` in mendit.toml",
            &all.learned,
        ),
    ] {
        if !rows.is_empty() {
            text.push_str(&format!("{title}:\n"));
        }
        for row in rows {
            text.push_str(&format!("  {:>4}  {}\n", row.runs, row.what));
        }
    }
    text
}
