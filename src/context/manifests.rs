//! Finds the project files that matter for a kind of failure.

use std::sync::LazyLock;

use serde::Deserialize;

use super::candidates::Candidate;
use super::failure::Failure;
use super::inputs::PacketInputs;
use crate::languages::{Language, TYPESCRIPT};
use crate::model::{FailureKind, Profile, RepoPath, Role, parse_rows};
use crate::source::Listing;

/// Returns the project files that explain a failure of this kind, the nearest one above each target,
/// in table order.
pub(super) fn manifests(inputs: &PacketInputs<'_>, failure: &Failure) -> Vec<Candidate> {
    let diagnosis = failure.diagnosis.as_ref();
    let kind = diagnosis.map_or(FailureKind::Unknown, |diagnosis| diagnosis.kind);
    // An import error that the TypeScript compiler prints is an error of types too.
    let is_tsc = diagnosis.is_some_and(|diagnosis| diagnosis.tool.as_deref() == Some("tsc"));
    let (profile, listing) = (inputs.request.profile, inputs.source.listing());
    let rows = nearest_rows((kind, is_tsc), profile, &failure.readable, listing);
    rows.into_iter()
        .map(|(path, what)| Candidate::new(&path, Role::Manifest, format!("{what} for {kind}")))
        .collect()
}

// Files, each with what it is.
fn nearest_rows(
    (kind, is_tsc): (FailureKind, bool),
    profile: Profile,
    targets: &[RepoPath],
    listing: &Listing,
) -> Vec<(RepoPath, &'static str)> {
    let languages = targets.iter().filter_map(|path| Language::of_path(path.as_str()));
    let mut languages: Vec<&Language> = languages.collect();
    if languages.is_empty() {
        languages.push(&TYPESCRIPT);
    }
    let mut found: Vec<(RepoPath, &str)> = Vec::new();
    for row in TABLE.iter() {
        let for_language = languages.iter().any(|one| one.name == row.language);
        let is_named = match profile {
            Profile::Ranked => !row.only_spec,
            Profile::Spec => row.spec || row.only_spec,
        };
        let fits = row.kinds.contains(&kind) || is_tsc && row.kinds.contains(&FailureKind::TsError);
        if !for_language || !is_named || !fits {
            continue;
        }
        for path in nearest_manifests(&row.names, targets, listing) {
            if found.iter().all(|(other, _)| *other != path) {
                found.push((path, &row.what));
            }
        }
    }
    found
}

// A row of `manifests.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestRule {
    names: Vec<String>,
    kinds: Vec<FailureKind>,
    language: String,
    what: String,
    #[serde(default)]
    spec: bool,
    #[serde(default)]
    only_spec: bool,
}

static TABLE: LazyLock<Vec<ManifestRule>> =
    LazyLock::new(|| parse_rows(embedded!("context/manifests.toml")));

// For each target the first directory upwards that has one of the names.
fn nearest_manifests(names: &[String], targets: &[RepoPath], listing: &Listing) -> Vec<RepoPath> {
    let in_directory = |directory: &str| {
        names.iter().find_map(|name| {
            let path = RepoPath::resolve(directory, name).ok()?;
            listing.file(path.as_str()).cloned()
        })
    };
    if targets.is_empty() {
        return in_directory("").into_iter().collect();
    }
    let mut found: Vec<RepoPath> = targets
        .iter()
        .filter_map(|target| target.ancestors().find_map(in_directory))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::nearest_rows;
    use crate::model::{FailureKind, Profile, RepoPath};
    use crate::source::{Memory, Source};

    fn names(kind: FailureKind, profile: Profile, target: &str) -> Vec<String> {
        let files = [
            "package.json", "pnpm-lock.yaml", "packages/a/package.json",
            "packages/a/tsconfig.json", "packages/a/src/x.ts", "py/pyproject.toml", "py/x.py",
        ];
        let source = Memory::named(files.map(|name| (name, "")));
        let targets = [RepoPath::new(target).unwrap()];
        nearest_rows((kind, false), profile, &targets, source.listing())
            .into_iter()
            .map(|(path, _)| path.to_string())
            .collect()
    }

    #[test]
    fn takes_nearest_of_each() {
        assert_eq!(
            names(
                FailureKind::ImportError,
                Profile::Ranked,
                "packages/a/src/x.ts"
            ),
            ["packages/a/tsconfig.json", "packages/a/package.json"]
        );
        assert_eq!(
            names(
                FailureKind::ImportError,
                Profile::Spec,
                "packages/a/src/x.ts"
            ),
            ["packages/a/package.json", "pnpm-lock.yaml"]
        );
        assert_eq!(
            names(FailureKind::ImportError, Profile::Ranked, "py/x.py"),
            ["py/pyproject.toml"]
        );
        assert!(names(FailureKind::TestFailure, Profile::Ranked, "py/x.py").is_empty());
    }
}
