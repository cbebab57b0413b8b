use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{AppError, Result};
use crate::exec::Temporary;
use crate::model::Code;
use crate::repair::write_atomically;

/// A folder that is gone with the value.
pub(super) fn temporary() -> Result<Temporary> {
    let made = Temporary::new();
    made.map_err(|error| {
        AppError::environment(format!("cannot create a temporary folder: {error}"))
    })
}

/// A folder by its full path, made if it is missing.
pub(super) fn make_folder(folder: &Path) -> Result<PathBuf> {
    let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.map_err(|error| {
        let (shown, why) = (folder.display(), error.kind());
        AppError::environment(format!("cannot make the folder `{shown}`: {why}"))
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
    write_atomically(path, content.as_ref()).map_err(|error| {
        let message = format!("cannot write `{}`: {}", path.display(), error.kind());
        AppError::new(Code::U303, message)
            .hint("check that the directory exists, is writable and has room")
    })
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
