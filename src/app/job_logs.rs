use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::diagnose::{UNPACKED, read_log};
use super::{App, AppError, Progress};
use crate::diagnose::{Log, LogFacts, Scene, diagnose_masked};
use crate::model::{Code, Diagnosis, FailureKind, JobFailure};

/// Whether a path holds the logs of several jobs: a folder, or an archive as GitHub offers it.
#[must_use]
pub(super) fn holds_job_logs(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = |mut file: File| file.read_exact(&mut start);
    path.is_dir() || path.is_file() && File::open(path).and_then(read).is_ok() && start == *ZIP
}

/// Diagnoses each job of a CI run, and joins the jobs that show the same failure. With the logs of the
/// base, failures that the base does not show come first, as new. The first diagnosis is that of the whole
/// run.
///
/// # Errors
/// A log that cannot be read, and a place without any log.
pub(super) fn diagnose_jobs(
    app: &App,
    scene: Scene<'_>,
    (logs, base): (&Path, &[PathBuf]),
    progress: &dyn Progress,
) -> Result<(Diagnosis, Vec<JobFailure>), AppError> {
    let jobs = read_jobs(app, scene, logs, progress)?;
    let Some((_, first)) = jobs.first().cloned() else {
        let message = format!("there is no log in `{}`, or nothing in it", logs.display());
        return Err(AppError::usage(message).hint(
            "name a folder of logs, or the archive that the service offers; `gh run view RUN --log > \
             ci.log` writes one log",
        ));
    };
    let mut known = Vec::new();
    for path in base {
        let jobs = read_jobs(app, scene, path, progress)?;
        known.extend(jobs.iter().map(|(_, diagnosis)| signature(diagnosis)));
    }
    let mut found: BTreeMap<String, JobFailure> = BTreeMap::new();
    for (name, diagnosis) in jobs {
        if diagnosis.kind == FailureKind::None {
            continue;
        }
        let signature = signature(&diagnosis);
        let is_new = (!base.is_empty()).then(|| !known.contains(&signature));
        let failure = found.entry(signature).or_insert_with(|| JobFailure {
            jobs: Vec::new(),
            is_new,
            diagnosis,
        });
        failure.jobs.push(name);
    }
    let mut failures: Vec<JobFailure> = found.into_values().collect();
    failures.sort_by_key(|it| (it.is_new == Some(false), it.jobs.clone()));
    let worst = failures.first().map_or(first, |it| it.diagnosis.clone());
    Ok((worst, failures))
}

fn read_jobs(
    app: &App,
    scene: Scene<'_>,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Vec<(String, Diagnosis)>, AppError> {
    let facts = LogFacts::default();
    let diagnose = |log: &Log| diagnose_masked(log, &facts, scene, &[], app.redactor());
    let mut jobs = Vec::new();
    each_log(path, &mut |name, log| {
        let log = read_log(log)?;
        if log.text().trim().is_empty() {
            progress.note(&format!("the log `{name}` is empty"));
            return Ok(());
        }
        let mut apart = crate::diagnose::jobs(&log);
        if apart.is_empty() {
            apart.push((name.to_owned(), log));
        }
        jobs.extend(apart.into_iter().map(|(name, log)| (name, diagnose(&log))));
        Ok(())
    })?;
    Ok(jobs)
}

// The same for the same failure on another machine: a missing thing is one cause, whatever tests and tools
// of a job need it.
fn signature(diagnosis: &Diagnosis) -> String {
    let mut named: Vec<String> = diagnosis.lacks().cloned().collect();
    let mut parts = Vec::new();
    if named.is_empty() {
        parts.push(diagnosis.kind.to_string());
        named.clone_from(&diagnosis.failing_tests);
    }
    if named.is_empty() {
        let plain = |text: &str| {
            text.chars()
                .filter(|letter| !letter.is_ascii_digit())
                .collect()
        };
        named.extend(diagnosis.evidence.first().map(|it| plain(it.text.trim())));
    }
    named.sort();
    named.dedup();
    parts.append(&mut named);
    parts.join("\n")
}

const ZIP: &[u8; 4] = b"PK\x03\x04";

/// Hands each log of what is named to `take`, with the name of its job: of a file itself, of a folder
/// or an archive those that stand in it, else those of its folders. Sorted by name.
///
/// # Errors
/// What cannot be read, what unpacks to more than 256 MiB, and what `take` cannot read.
fn each_log(
    path: &Path,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Result<(), AppError> {
    if !path.is_dir() {
        return open(path, take);
    }
    let shown = path.display().to_string();
    let entries = std::fs::read_dir(path).map_err(|error| AppError::unreadable(&shown, &error))?;
    let mut entries: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    entries.sort();
    let is_log = |it: &PathBuf| it.is_file() && is_log_name(&it.to_string_lossy());
    let mut files: Vec<PathBuf> = entries.iter().filter(|it| is_log(it)).cloned().collect();
    if files.is_empty() {
        for folder in entries.iter().filter(|it| it.is_dir() && !it.is_symlink()) {
            let inner = std::fs::read_dir(folder).into_iter().flatten().flatten();
            files.extend(inner.map(|it| it.path()).filter(is_log));
        }
        files.sort();
    }
    files.iter().try_for_each(|file| open(file, take))
}

fn open(
    path: &Path,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Result<(), AppError> {
    let shown = path.display().to_string();
    let unreadable = |error| AppError::unreadable(&shown, &error);
    let mut file = File::open(path).map_err(unreadable)?;
    let mut start = Vec::new();
    let sniffed = (&mut file).take(4).read_to_end(&mut start);
    sniffed.map_err(unreadable)?;
    let name = job_name(&path.to_string_lossy());
    let packed = |error: io::Error| {
        let message = format!("the archive `{shown}` cannot be read: {error}");
        AppError::new(Code::U302, message).hint("bring it again, or unpack it and name the folder")
    };
    match start.as_slice() {
        start if start == ZIP => archive(file, take).map_err(packed),
        [0x1f, 0x8b, ..] => take(&name, &mut start.as_slice().chain(file)).map_err(packed),
        // A pipe cannot go back.
        _ => take(&name, &mut start.as_slice().chain(file)).map_err(unreadable),
    }
}

fn archive(
    file: File,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(file)?;
    let all = archive.file_names().map(str::to_owned);
    let (inner, mut names): (Vec<String>, Vec<String>) = all
        .filter(|it| is_log_name(it))
        .partition(|it| it.contains('/'));
    if names.is_empty() {
        names = inner;
    }
    names.sort();
    let mut left = UNPACKED;
    for name in names {
        left = limited(&job_name(&name), archive.by_name(&name)?, left, take)?;
    }
    Ok(())
}

// Hands on at most so many bytes, and tells how many may still come. What is longer is no log.
fn limited(
    name: &str,
    input: impl Read,
    most: u64,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<u64> {
    let mut input = input.take(most);
    take(name, &mut input)?;
    match input.limit() {
        0 => Err(io::Error::other("it unpacks to more than 256 MiB")),
        left => Ok(left),
    }
}

fn is_log_name(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "txt" | "log")
}

// The file's name alone, and without the number that GitHub puts before it.
fn job_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let rest = name
        .split_once('_')
        .filter(|(number, _)| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()));
    rest.map_or(name, |(_, rest)| rest).to_owned()
}
