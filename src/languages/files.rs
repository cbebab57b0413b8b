//! Joins and splits paths of the repository.

use crate::model::RepoPath;

/// Joins and normalises; `None` when the result leaves the repository. The root is `""`.
pub(super) fn join_path(directory: &str, relative: &str) -> Option<String> {
    match RepoPath::resolve(directory, relative) {
        Ok(path) => Some(path.as_str().to_owned()),
        Err(crate::model::PathProblem::Empty) => Some(String::new()),
        Err(_) => None,
    }
}

/// `directory/name`, without a leading slash at the root.
pub(super) fn child(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// The names in a path.
pub(super) fn split_path(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// The rest of a path below a directory; `""` is the root.
pub(super) fn below<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    if directory.is_empty() {
        return Some(path);
    }
    path.strip_prefix(directory)?.strip_prefix('/')
}
