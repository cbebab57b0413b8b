use crate::model::{Level, RepoIndex, RepoIndexFile, RepoPath};
use crate::policy::{ReadPolicy, Redactor};
use crate::source::{Entry, Source};

/// Paths, sizes and, of files that may be read, blob ids of the repository; when there are too many, those
/// nearest to the targets. Secrets in names are masked.
pub(super) fn repo_index(
    source: &dyn Source,
    level: Level,
    targets: &[RepoPath],
    names: &NameSecrets,
    policy: &ReadPolicy,
) -> RepoIndex {
    let mut files: Vec<&Entry> = source.listing().files().collect();
    let total = files.len() as u64;
    let max = max_rows(level);
    let truncated = files.len() > max;
    if truncated {
        files.sort_by_cached_key(|entry| (distance(&entry.path, targets), entry.path.clone()));
        files.truncate(max);
        files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    let files = files
        .into_iter()
        .map(|entry| RepoIndexFile {
            path: names.masked(&entry.path),
            bytes: entry.bytes,
            // Size and hash are enough to guess a short secret by.
            blob_id: policy
                .refuse(&entry.path)
                .is_none()
                .then(|| source.blob_id(&entry.path))
                .flatten(),
        })
        .collect();
    let mut starts = source
        .listing()
        .files()
        .filter(|entry| is_entrypoint(&entry.path));
    let entrypoints = starts
        .by_ref()
        .take(MAX_ENTRYPOINTS)
        .map(|entry| names.masked(&entry.path))
        .collect();
    RepoIndex {
        files,
        entrypoints,
        more_entrypoints: Some(starts.count() as u64).filter(|it| *it > 0),
        truncated,
        total,
    }
}

const MAX_ENTRYPOINTS: usize = 30;

// Level 0 is meant to stay within 5 to 10 KB; a row takes about 110 bytes.
fn max_rows(level: Level) -> usize {
    match level {
        Level::Targets => 40,
        Level::OneHop | Level::TwoHops => 200,
        Level::Requested => 1000,
        Level::Bundle => usize::MAX,
    }
}

// Directories to walk up from the nearest target and down again.
fn distance(path: &RepoPath, targets: &[RepoPath]) -> usize {
    let steps = targets.iter().map(|target| path.steps_to(target)).min();
    steps.unwrap_or(path.depth())
}

fn is_entrypoint(path: &RepoPath) -> bool {
    let depth = path.depth();
    let name = path.file_name();
    match name {
        "package.json" | "pyproject.toml" | "setup.py" | "manage.py" | "__main__.py" => depth <= 3,
        _ => {
            let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
            depth <= 3
                && matches!(stem, "index" | "main" | "app" | "cli" | "server")
                && matches!(
                    extension,
                    "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "py"
                )
        }
    }
}

/// Paths whose very names hold a secret.
pub(super) struct NameSecrets {
    masked: std::collections::HashMap<RepoPath, RepoPath>,
}

impl NameSecrets {
    /// Looks through every name once.
    pub(super) fn find(source: &dyn Source, redactor: &Redactor) -> Self {
        let entries = source.listing().entries();
        let mut all = String::new();
        for entry in entries {
            all.push_str(entry.path.as_str());
            all.push('\n');
        }
        let mut masked = std::collections::HashMap::new();
        if !redactor.redact(&all).findings.is_empty() {
            for entry in entries {
                let redacted = redactor.redact(entry.path.as_str());
                if !redacted.findings.is_empty()
                    && let Ok(path) = RepoPath::new(&redacted.text)
                {
                    masked.insert(entry.path.clone(), path);
                }
            }
        }
        Self { masked }
    }

    /// Whether the name holds a secret.
    pub(super) fn contains(&self, path: &RepoPath) -> bool {
        self.masked.contains_key(path)
    }

    /// The name with secrets masked.
    pub(super) fn masked(&self, path: &RepoPath) -> RepoPath {
        self.masked.get(path).unwrap_or(path).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::is_entrypoint;
    use crate::model::RepoPath;

    #[test]
    fn counts_directories_between() {
        for (one, other, steps) in [
            ("a/b/x", "a/b/y", 0),
            ("a/b/x", "a/c/x", 2),
            ("x", "a/c/x", 2),
            ("ab/x", "a/x", 2),
        ] {
            let path = |text: &str| RepoPath::new(text).unwrap();
            assert_eq!(path(one).steps_to(&path(other)), steps, "{one} {other}");
        }
    }

    #[test]
    fn knows_where_programs_start() {
        let starts = |text| is_entrypoint(&RepoPath::new(text).unwrap());
        assert!(starts("src/index.ts") && starts("pkg/__main__.py") && starts("package.json"));
        assert!(
            !starts("src/index.css") && !starts("a/b/c/d/e/index.ts") && !starts("src/indexer.ts")
        );
    }
}
