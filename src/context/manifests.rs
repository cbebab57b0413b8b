use crate::languages::{Language, PYTHON, TYPESCRIPT};
use crate::model::{FailureKind, Profile, RepoPath};
use crate::source::Listing;

/// A project file that explains the failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) path: RepoPath,
    pub(super) why: String,
    /// Too long to be read whole: only the lines around the missing names matter.
    pub(super) is_lock: bool,
}

/// The project files of a failure kind (R20), the nearest one above each target, in table order.
pub(super) fn manifests(
    kind: FailureKind,
    profile: Profile,
    targets: &[RepoPath],
    listing: &Listing,
) -> Vec<Manifest> {
    let mut languages: Vec<&Language> = targets
        .iter()
        .filter_map(|path| Language::of_path(path.as_str()))
        .collect();
    if languages.is_empty() {
        languages.push(&TYPESCRIPT);
    }
    let mut found: Vec<Manifest> = Vec::new();
    for row in TABLE {
        let for_language = languages.contains(&row.language);
        let spec_names_it = profile == Profile::Ranked || row.spec;
        if !for_language || !spec_names_it || !row.kinds.contains(&kind) {
            continue;
        }
        for path in nearest(row.names, targets, listing) {
            if !found.iter().any(|manifest| manifest.path == path) {
                found.push(Manifest {
                    path,
                    why: format!("{} for {kind}", row.what),
                    is_lock: row.is_lock,
                });
            }
        }
    }
    found
}

struct ManifestRule {
    names: &'static [&'static str],
    kinds: &'static [FailureKind],
    language: &'static Language,
    what: &'static str,
    is_lock: bool,
    // Whether the ladder's specification names it.
    spec: bool,
}

use FailureKind as K;

static TABLE: &[ManifestRule] = &[
    ManifestRule {
        names: &["tsconfig.json"],
        kinds: &[K::TsError],
        language: &TYPESCRIPT,
        what: "compiler settings",
        is_lock: false,
        spec: true,
    },
    ManifestRule {
        names: &["tsconfig.json", "jsconfig.json"],
        kinds: &[K::TsError, K::ImportError, K::ConfigError],
        language: &TYPESCRIPT,
        what: "path aliases and module settings",
        is_lock: false,
        spec: false,
    },
    ManifestRule {
        names: &["package.json"],
        kinds: &[K::ImportError],
        language: &TYPESCRIPT,
        what: "declared packages",
        is_lock: false,
        spec: true,
    },
    ManifestRule {
        names: &["package.json"],
        kinds: &[
            K::DependencyError,
            K::ConfigError,
            K::CommandNotFound,
            K::TestSetupError,
        ],
        language: &TYPESCRIPT,
        what: "declared packages and scripts",
        is_lock: false,
        spec: false,
    },
    ManifestRule {
        names: &["pnpm-lock.yaml"],
        kinds: &[K::ImportError],
        language: &TYPESCRIPT,
        what: "locked packages",
        is_lock: true,
        spec: true,
    },
    ManifestRule {
        names: &["package-lock.json", "yarn.lock", "bun.lock"],
        kinds: &[K::ImportError, K::DependencyError],
        language: &TYPESCRIPT,
        what: "locked packages",
        is_lock: true,
        spec: false,
    },
    ManifestRule {
        names: &["pyproject.toml", "setup.cfg", "setup.py"],
        kinds: &[
            K::ImportError,
            K::DependencyError,
            K::ConfigError,
            K::StaticTypeError,
            K::TestSetupError,
        ],
        language: &PYTHON,
        what: "declared packages and import roots",
        is_lock: false,
        spec: false,
    },
    ManifestRule {
        names: &["requirements.txt"],
        kinds: &[K::ImportError, K::DependencyError],
        language: &PYTHON,
        what: "declared packages",
        is_lock: false,
        spec: false,
    },
];

// For each target the first directory upwards that has one of the names.
fn nearest(names: &[&str], targets: &[RepoPath], listing: &Listing) -> Vec<RepoPath> {
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
    use super::manifests;
    use crate::model::{FailureKind, Profile, RepoPath};
    use crate::source::{Memory, Source};

    fn names(kind: FailureKind, profile: Profile, target: &str) -> Vec<String> {
        let files = [
            "package.json",
            "pnpm-lock.yaml",
            "packages/a/package.json",
            "packages/a/tsconfig.json",
            "packages/a/src/x.ts",
            "py/pyproject.toml",
            "py/x.py",
        ];
        let source = Memory::named(files.map(|name| (name, "")));
        let targets = [RepoPath::new(target).unwrap()];
        manifests(kind, profile, &targets, source.listing())
            .into_iter()
            .map(|manifest| manifest.path.to_string())
            .collect()
    }

    #[test]
    fn the_nearest_of_each_is_taken() {
        assert_eq!(
            names(
                FailureKind::ImportError,
                Profile::Ranked,
                "packages/a/src/x.ts"
            ),
            [
                "packages/a/tsconfig.json",
                "packages/a/package.json",
                "pnpm-lock.yaml"
            ]
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
