use std::path::{Path, PathBuf};

/// A file of the last run.
pub(super) struct RunFile {
    /// The run's name.
    pub(super) run: String,
    /// The path below the run's folder, with `/`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

/// The text files of the newest run below `.mendit/runs`, sorted by name. Nothing behind a link is
/// listed.
pub(super) fn last_run(root: &Path) -> Vec<RunFile> {
    let runs = root.join(".mendit").join("runs");
    let entries = std::fs::read_dir(&runs).into_iter().flatten().flatten();
    let newest = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.file_name())))
        .max();
    let Some((_, run)) = newest else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut open = vec![(runs.join(&run), String::new())];
    while let Some((directory, prefix)) = open.pop() {
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let Some(name) = entry
                .file_name()
                .to_str()
                .map(|name| format!("{prefix}{name}"))
            else {
                continue;
            };
            if kind.is_dir() && prefix.matches('/').count() < 2 {
                open.push((entry.path(), format!("{name}/")));
            } else if kind.is_file() && found.len() < MOST_FILES {
                let bytes = entry.metadata().map_or(0, |about| about.len());
                found.push(RunFile {
                    run: run.to_string_lossy().into_owned(),
                    name,
                    path: entry.path(),
                    bytes,
                });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

const MOST_FILES: usize = 500;
