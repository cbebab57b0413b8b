use std::io::{self, Read};

use super::AppError;
use crate::app::{App, Log, read_log};

/// Reads a log from a file, or from standard input when the path is `-`, in bounded memory.
pub(crate) fn log(app: &App, path: &str) -> Result<Log, AppError> {
    let read = if path == "-" {
        read_log(app, io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(|file| read_log(app, file))
    };
    read.map_err(|error| AppError::unreadable(path, &error))
}

/// Reads a file, or standard input when the path is `-`, up to 64 MiB.
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

/// Reads a JSON document from a file or standard input.
pub(crate) fn read_json(path: &str) -> Result<serde_json::Value, AppError> {
    let bytes = read(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| AppError::usage(format!("`{path}` is not JSON: {error}")))
}

const MOST: u64 = 64 << 20;
