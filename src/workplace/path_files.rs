//! Reads `.pth` files, which make Python load packages from elsewhere.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// A file of an environment that leads into a folder.
pub(super) fn first_path_file(environment: &Path, folder: &Path) -> Option<PathBuf> {
    let name = folder.as_os_str().as_encoded_bytes();
    folder_entries(&environment.join("lib"))
        .iter()
        .flat_map(|python| folder_entries(&python.join("site-packages")))
        .filter(|path| is_path_file(path))
        .find(|path| {
            let small = path.metadata().is_ok_and(|m| m.len() <= MAX_PATH_FILE);
            let bytes = small.then(|| fs::read(path).unwrap_or_default());
            bytes.is_some_and(|bytes| memchr::memmem::find(&bytes, name).is_some())
        })
}

const MAX_PATH_FILE: u64 = 4 << 20;

/// A path without `..` and `.`; links are not followed.
pub(super) fn lexical_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Whether Python reads a file of this name at its start to find packages elsewhere.
pub(super) fn is_path_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let path = Path::new(name.as_ref());
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("pth" | "egg-link")) || name.starts_with("__editable__")
}

/// Returns the entries of a folder, by name.
pub(super) fn folder_entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
    found.sort();
    found
}
