//! Reads the files of `src`.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the module that a file of `src` is in; `None` for the files at the top.
pub(crate) fn module_of(path: &Path) -> Option<String> {
    let mut parts = path.iter().skip(1);
    let module = parts.next()?.to_str()?;
    parts.next().map(|_| module.to_owned())
}

/// Returns every Rust file of `src`, by path from the root.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    files_of("rs")
}

/// Returns every file of `src` with an extension, by path from the root.
pub(crate) fn files_of(ending: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open = vec![root.join("src")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root).unwrap().to_owned(), text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 20);
    found
}

/// Returns a file without its unit tests.
pub(crate) fn code_of(text: &str) -> String {
    text.split("(test)]\nmod ").next().unwrap_or("").to_owned()
}
