use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{AppError, Result};
use crate::exec::Temporary;
use crate::model::Code;

/// A folder that is gone with the value.
pub(super) fn temporary() -> Result<Temporary> {
    let made = Temporary::new();
    made.map_err(|error| {
        AppError::environment(format!("cannot create a temporary folder: {error}"))
    })
}

/// A document as indented JSON with a final newline.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn to_json(document: &impl Serialize) -> Result<String> {
    with_newline(serde_json::to_string_pretty(document))
}

/// A document as one line of JSON with its newline.
///
/// # Errors
/// As [`to_json`].
pub fn to_json_line(document: &impl Serialize) -> Result<String> {
    with_newline(serde_json::to_string(document))
}

fn with_newline(text: serde_json::Result<String>) -> Result<String> {
    let text = text.map(|json| json + "\n");
    text.map_err(|error| AppError::environment(format!("cannot write JSON: {error}")))
}

/// Writes a file in one step: either the old content stands there or all of the new.
///
/// # Errors
/// `U303` with the path when the system refuses it.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let failed = |error: io::Error| {
        let message = format!("cannot write `{}`: {}", path.display(), error.kind());
        AppError::new(Code::U303, message)
            .hint("check that the directory exists, is writable and has room")
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    file.write_all(content.as_ref()).map_err(failed)?;
    file.as_file().sync_data().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Where a path below `root` lies, which no link leads elsewhere.
///
/// # Errors
/// `U303` with the first link on the way.
pub fn below_no_link(root: &Path, path: &str) -> Result<PathBuf> {
    let mut place = root.to_owned();
    for part in path.split('/') {
        place.push(part);
        if place
            .symlink_metadata()
            .is_ok_and(|about| about.is_symlink())
        {
            let message = format!("`{path}` goes through a link, `{}`", place.display());
            return Err(
                AppError::new(Code::U303, message).hint("replace the link by a file or folder")
            );
        }
    }
    Ok(place)
}
