//! Lists the repository's files for an agent, the nearest to the targets first when there are too many.

use super::failure::Failure;
use super::inputs::PacketInputs;
use crate::model::{Level, RepoIndex, RepoIndexFile, RepoPath};
use crate::source::Entry;

/// Paths, sizes and, of files that may be read, blob ids of the repository; when there are too many, those
/// nearest to the targets. Secrets in names are masked.
pub(super) fn repo_index(inputs: &PacketInputs<'_>, failure: &Failure) -> RepoIndex {
    let mut files: Vec<&Entry> = inputs.source.listing().files().collect();
    let total = files.len() as u64;
    let max = match failure.is_about_cause {
        true => max_rows(Level::Targets),
        false => max_rows(failure.level),
    };
    let truncated = files.len() > max;
    if truncated {
        let targets = &failure.readable;
        files.sort_by_cached_key(|entry| (path_distance(&entry.path, targets), entry.path.clone()));
        files.truncate(max);
        files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    let files = files.into_iter().map(|entry| {
        // Left out for denied files, because size and hash are enough to guess a short secret.
        let is_open = inputs.policy.refuse(&entry.path).is_none();
        RepoIndexFile {
            path: inputs.mask_name(&entry.path),
            bytes: entry.bytes,
            blob_id: inputs.source.blob_id(&entry.path).filter(|_| is_open),
        }
    });
    let mut starts = inputs.source.listing().files().filter(|entry| is_entrypoint(&entry.path));
    let entrypoints = starts.by_ref().take(30).map(|entry| inputs.mask_name(&entry.path)).collect();
    RepoIndex {
        files: files.collect(),
        entrypoints,
        more_entrypoints: Some(starts.count() as u64).filter(|more| *more > 0),
        truncated,
        total,
    }
}

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
fn path_distance(path: &RepoPath, targets: &[RepoPath]) -> usize {
    targets.iter().map(|target| path.steps_to(target)).min().unwrap_or(path.depth())
}

fn is_entrypoint(path: &RepoPath) -> bool {
    let depth = path.depth();
    let name = path.file_name();
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let is_manifest = matches!(
        name,
        "package.json" | "pyproject.toml" | "setup.py" | "manage.py" | "__main__.py"
    );
    let is_start = matches!(stem, "index" | "main" | "app" | "cli" | "server")
        && matches!(
            extension,
            "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "py"
        );
    depth <= 3 && (is_manifest || is_start)
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
