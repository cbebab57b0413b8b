use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::diagnose::read_log;
use super::hint::{HintRequest, find_imports};
use super::repair::{RepairRequest, repair_repository};
use super::run_summary::{certain, told};
use super::{App, AppError, Progress};
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::model::{
    CiCause, CiFailure, CiReport, Code, Diagnosis, FailureKind, RunStatus, RunSummary,
    SCHEMA_VERSION,
};
use crate::workspace::{At, Workspace};

/// Say what failed in the jobs of a CI run, and mend it.
#[derive(Debug, Clone, Default)]
pub struct FixCiRequest {
    /// Logs of jobs, or folders of them.
    pub logs: Vec<PathBuf>,
    /// Logs of the base's last run: what fails there too is not this change's.
    pub base: Vec<PathBuf>,
    /// Logs of another run of the same commit: what does not fail there is flaky.
    pub again: Vec<PathBuf>,
}

/// Reads the logs of all jobs, tells each failure once and whose it is, and mends what can be mended.
/// With test commands in the settings the patch is tried; without, it holds the imports that are
/// certain.
///
/// # Errors
/// A log that cannot be read, or a repair that cannot be run.
pub fn fix_ci(
    app: &App,
    request: &FixCiRequest,
    progress: &dyn Progress,
) -> Result<CiReport, AppError> {
    let workspace = app.workspace(At::Worktree, progress)?;
    let read = |paths: &[PathBuf]| -> Result<Vec<Job>, AppError> {
        let files = paths
            .iter()
            .map(|it| logs(it))
            .collect::<Result<Vec<_>, _>>()?;
        files
            .into_iter()
            .flatten()
            .map(|file| Job::read(app, &workspace, &file))
            .collect()
    };
    let jobs = read(&request.logs)?;
    if jobs.is_empty() {
        return Err(AppError::usage("there is no log in what was named"));
    }
    let base = read(&request.base)?;
    let again = read(&request.again)?;
    let mut passed = Vec::new();
    let mut found: BTreeMap<String, (Vec<String>, &Job)> = BTreeMap::new();
    for job in &jobs {
        if job.diagnosis.kind == FailureKind::None {
            passed.push(job.name.clone());
            continue;
        }
        let row = found
            .entry(job.signature())
            .or_insert_with(|| (Vec::new(), job));
        row.0.push(job.name.clone());
    }
    let mut failures = Vec::new();
    let mut mendable: Vec<&Job> = Vec::new();
    for (signature, (jobs, job)) in found {
        let shows = |others: &[Job]| others.iter().any(|it| it.signature() == signature);
        let cause = if is_machine(job.diagnosis.kind) {
            CiCause::Infrastructure
        } else if shows(&base) {
            CiCause::BrokenOnBase
        } else if !again.is_empty() && !shows(&again) {
            CiCause::Flaky
        } else if base.is_empty() {
            CiCause::Unattributed
        } else {
            CiCause::Regression
        };
        if matches!(cause, CiCause::Regression | CiCause::Unattributed) {
            mendable.push(job);
        }
        failures.push(CiFailure {
            jobs,
            cause,
            summary: RunSummary {
                certain: certain(app, &job.diagnosis, &job.log),
                ..told(&job.diagnosis, workspace.source.as_ref())
            },
        });
    }
    failures.sort_by_key(|it| (it.cause as u8, it.jobs.clone()));
    let (patch, verified) = mend(app, &mendable, progress)?;
    Ok(CiReport {
        schema_version: SCHEMA_VERSION,
        document: "ci-report",
        failures,
        passed,
        patch,
        verified,
    })
}

fn mend(
    app: &App,
    jobs: &[&Job],
    progress: &dyn Progress,
) -> Result<(Option<String>, Option<bool>), AppError> {
    if jobs.is_empty() {
        return Ok((None, None));
    }
    if !app.settings().test.command.0.is_empty() {
        let repaired = repair_repository(app, &RepairRequest::default(), progress)?;
        let fixed = repaired.result.status == RunStatus::Fixed;
        return Ok((repaired.patch, Some(fixed)));
    }
    let mut patches = Vec::new();
    for job in jobs {
        let request = HintRequest {
            log: Some(job.log.clone()),
            fix: true,
            ..HintRequest::default()
        };
        // A log that names no file of the repository has no import to add.
        let patch = find_imports(app, &request, progress).ok();
        patches.extend(patch.and_then(|it| it.document.patch));
    }
    patches.sort();
    patches.dedup();
    Ok(((!patches.is_empty()).then(|| patches.concat()), None))
}

// The log of one job, and what it says.
struct Job {
    name: String,
    log: Log,
    diagnosis: Diagnosis,
}

impl Job {
    fn read(app: &App, workspace: &Workspace, file: &Path) -> Result<Self, AppError> {
        let shown = file.display().to_string();
        let unreadable = |error| AppError::unreadable(&shown, &error);
        let mut opened = std::fs::File::open(file).map_err(unreadable)?;
        let mut start = Vec::new();
        let four = (&mut opened).take(4).read_to_end(&mut start);
        four.map_err(unreadable)?;
        if start == b"PK\x03\x04" {
            return Err(
                AppError::new(Code::U302, format!("`{shown}` is an archive"))
                    .hint("unpack it and name the folder: `unzip logs.zip -d logs`"),
            );
        }
        let log = read_log(app, start.as_slice().chain(opened)).map_err(unreadable)?;
        let facts = LogFacts {
            rules: app.rules(),
            ..LogFacts::default()
        };
        let scene = Scene {
            source: Some(workspace.source.as_ref()),
            directory: "",
        };
        let diagnosis = diagnose_masked(&log, &facts, scene, &[], app.redactor());
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        // GitHub numbers the files of its archive.
        let name = name.split_once('_').map_or(&*name, |(number, rest)| {
            let numbered = number.bytes().all(|it| it.is_ascii_digit());
            if numbered { rest } else { &*name }
        });
        Ok(Self {
            name: name.to_owned(),
            log,
            diagnosis,
        })
    }

    // The same for the same failure on another machine.
    fn signature(&self) -> String {
        let it = &self.diagnosis;
        let mut parts = vec![it.kind.to_string()];
        let lists = [
            &it.failing_tests,
            &it.undefined_names,
            &it.missing_modules,
            &it.missing_exports,
        ];
        let mut named: Vec<String> = lists.into_iter().flatten().cloned().collect();
        if named.is_empty() {
            let plain = |text: &str| text.chars().filter(|it| !it.is_ascii_digit()).collect();
            named.extend(it.evidence.first().map(|it| plain(it.text.trim())));
        }
        named.sort();
        named.dedup();
        parts.append(&mut named);
        parts.join("\n")
    }
}

fn is_machine(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::NetworkError
            | FailureKind::DiskFull
            | FailureKind::OutOfMemory
            | FailureKind::AuthFailed
            | FailureKind::ConnectionRefused
    )
}

// The logs of a folder: those that stand in it, else those of its folders.
fn logs(path: &Path) -> Result<Vec<PathBuf>, AppError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let shown = path.display().to_string();
    let entries = std::fs::read_dir(path).map_err(|error| AppError::unreadable(&shown, &error))?;
    let mut entries: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    entries.sort();
    let is_log = |it: &PathBuf| {
        let ending = it.extension().unwrap_or_default();
        it.is_file() && (ending == "txt" || ending == "log")
    };
    let files: Vec<PathBuf> = entries.iter().filter(|it| is_log(it)).cloned().collect();
    if !files.is_empty() {
        return Ok(files);
    }
    let mut found = Vec::new();
    for folder in entries.iter().filter(|it| it.is_dir() && !it.is_symlink()) {
        let inner = std::fs::read_dir(folder).into_iter().flatten().flatten();
        found.extend(inner.map(|it| it.path()).filter(is_log));
    }
    found.sort();
    Ok(found)
}
