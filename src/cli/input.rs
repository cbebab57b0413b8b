use std::io::{self, Read};

use super::{AppError, Output};
use crate::app::{App, LastLog, Log, Report, last_log, read_junit, read_log};

/// Reads a log from a file, or from standard input when the path is `-`, in bounded memory.
pub(crate) fn log(app: &App, path: &str, output: &Output) -> Result<Log, AppError> {
    let read = if path == "-" {
        output.awaited("a log");
        read_log(app, io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(|file| read_log(app, file))
    };
    read.map_err(|error| AppError::unreadable(path, &error))
}

/// The log of the last run of this worktree, told; `None` when nothing was run yet.
pub(crate) fn last(app: &App, output: &Output) -> Result<Option<LastLog>, AppError> {
    let last = last_log(app)?;
    if let Some(last) = &last {
        output.note(&format!("reading the log of {}", last.said));
    }
    Ok(last)
}

/// Whether somebody hands a log to standard input: a file or a pipe, not a terminal and not the
/// null device.
pub(crate) fn is_piped() -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{FileType, fstat};
        let about = fstat(rustix::stdio::stdin());
        about.is_ok_and(|it| FileType::from_raw_mode(it.st_mode) != FileType::CharacterDevice)
    }
    #[cfg(not(unix))]
    {
        use std::io::IsTerminal as _;
        !io::stdin().is_terminal()
    }
}

/// All bytes of a file, or of standard input when the path is `-`.
pub(crate) fn whole(path: &str) -> io::Result<Vec<u8>> {
    if path != "-" {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same up to 64 MiB.
pub(crate) fn read(path: &str) -> Result<Vec<u8>, AppError> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| AppError::unreadable(path, &error))?;
    if bytes.len() as u64 > MOST {
        return Err(AppError::usage(format!("`{path}` is larger than 64 MiB")));
    }
    Ok(bytes)
}

/// What people wrote: a file, or standard input when the path is `-`.
pub(crate) fn words(path: &str) -> Result<String, AppError> {
    Ok(String::from_utf8_lossy(&read(path)?).into_owned())
}

/// Reads reports of tests; says which of them break off.
pub(crate) fn reports(paths: &[String], output: &Output) -> Result<Vec<Report>, AppError> {
    let one = |path: &String| {
        let report = read_junit(path, &read(path)?)?;
        if !report.whole {
            output.note(&format!(
                "`{path}` breaks off; its tests up to there are taken"
            ));
        }
        Ok(report)
    };
    paths.iter().map(one).collect()
}

/// Reads a JSON document from a file or standard input.
pub(crate) fn read_json(path: &str) -> Result<serde_json::Value, AppError> {
    let bytes = read(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| AppError::usage(format!("`{path}` is not JSON: {error}")))
}

const MOST: u64 = 64 << 20;
