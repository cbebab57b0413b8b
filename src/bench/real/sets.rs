//! Reads and writes the lists of proven fixes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::environment::is_plain;
use crate::bench::BenchError;
use crate::git::Repository;
use crate::model::{AtPath as _, Code, RealFixes, SCHEMA_VERSION, file_name};

/// The file of a set in its folder.
pub(super) const FILE: &str = "fixes.json";
/// The kind of document that a set is.
pub(super) const DOCUMENT: &str = "real-fixes";

/// Reads sets: files, folders with a `fixes.json`, folders of such folders. In the order of the
/// paths that are given, folders by name.
///
/// # Errors
/// [`BenchError::File`] for the first that cannot be used.
pub fn load_sets(paths: &[PathBuf]) -> Result<Vec<RealFixes>, BenchError> {
    let mut sets = Vec::new();
    let mut ids = BTreeSet::new();
    for path in paths {
        for file in list_files(path)? {
            let set = load_set(&file)?;
            for fix in &set.fixes {
                if !ids.insert(fix.id.clone()) {
                    return Err(invalid_set(&file, format!("`{}` appears twice", fix.id)));
                }
            }
            sets.push(set);
        }
    }
    Ok(sets)
}

fn list_files(path: &Path) -> Result<Vec<PathBuf>, BenchError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    if path.join(FILE).is_file() {
        return Ok(vec![path.join(FILE)]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).at(path)? {
        let file = entry.at(path)?.path().join(FILE);
        if file.is_file() {
            found.push(file);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(invalid_set(path, format!("it contains no `{FILE}`")));
    }
    Ok(found)
}

fn load_set(path: &Path) -> Result<RealFixes, BenchError> {
    let text = fs::read_to_string(path).at(path)?;
    let set: RealFixes =
        serde_json::from_str(&text).map_err(|error| invalid_set(path, error.to_string()))?;
    if set.document != DOCUMENT || set.schema_version != SCHEMA_VERSION {
        return Err(invalid_set(
            path,
            format!("it is not a `{DOCUMENT}` document"),
        ));
    }
    // Names become those of folders.
    let names = set.repository.name.split('/');
    let environments = set.environments.iter().map(|own| own.name.as_str());
    let ids = set.fixes.iter().map(|fix| fix.id.as_str());
    let mut all = names.chain(environments).chain(ids);
    if let Some(name) = all.find(|name| !is_plain(name)) {
        return Err(invalid_set(path, format!("`{name}` cannot be a name")));
    }
    for fix in &set.fixes {
        let mut environments = set.environments.iter();
        if !environments.any(|own| own.name == fix.environment) {
            let message = format!("`{}` names no environment of the set", fix.id);
            return Err(invalid_set(path, message));
        }
    }
    Ok(set)
}

fn invalid_set(path: &Path, message: String) -> BenchError {
    BenchError::file(Code::F401, path, message)
}

/// The name of a fix: the repository's own and the beginning of the commit.
pub(super) fn id(repository: &str, commit: &str) -> String {
    let name = file_name(repository);
    format!("{name}-{}", commit.get(..9).unwrap_or(commit))
}

/// Opens the clone of a repository in a folder of clones, bare or not: `OWNER+NAME`, `OWNER/NAME` or `NAME`, each with
/// or without `.git`.
///
/// # Errors
/// [`BenchError::Lacking`] when there is none.
pub(super) fn open_clone(clones: &Path, name: &str, url: &str) -> Result<Repository, BenchError> {
    let joined = name.replace('/', "+");
    for name in [joined.as_str(), name, file_name(name)] {
        for folder in [name.to_owned(), format!("{name}.git")] {
            let folder = clones.join(folder);
            if let (true, Ok(Some(found))) = (folder.is_dir(), Repository::discover(&folder)) {
                return Ok(found);
            }
        }
    }
    let clones = clones.display();
    Err(BenchError::Lacking(format!(
        "`{clones}` contains no clone of {name}: `git clone {url} {clones}/{joined}`"
    )))
}
