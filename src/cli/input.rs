use std::io;

use super::AppError;
use crate::app::bounded_log;

/// Reads a log from a file, or from standard input when the path is `-`, in bounded memory.
pub(crate) fn read_log(path: &str) -> Result<Vec<u8>, AppError> {
    let read = if path == "-" {
        bounded_log(io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(bounded_log)
    };
    read.map_err(|error| AppError::unreadable(path, &error))
}

/// Reads a JSON document from a file or standard input.
pub(crate) fn read_json(path: &str) -> Result<serde_json::Value, AppError> {
    let bytes = read_log(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| AppError::usage(format!("`{path}` is not JSON: {error}")))
}
