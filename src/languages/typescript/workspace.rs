//! Lists the packages of an npm or pnpm workspace.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobSet;

use super::manifest::Manifest;
use super::tsconfig::compile_globs;
use crate::languages::files::{below, child};
use crate::model::RepoPath;
use crate::source::Source;

const LOCK_FILES: &[&str] = &[
    "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
];

/// The packages of a repository by name: what an installer would link into `node_modules`.
#[derive(Default)]
pub(super) struct Workspace {
    // name -> (directory of the workspace root, directory of the package), sorted.
    packages: BTreeMap<String, Vec<(String, String)>>,
}

impl Workspace {
    /// Finds workspace roots in the listing and the packages their globs name.
    pub(super) fn find(source: &dyn Source) -> Self {
        let mut roots: BTreeSet<&str> = BTreeSet::new();
        let mut manifests: Vec<&str> = Vec::new();
        for entry in source.listing().files() {
            let directory = entry.path.directory();
            let name = entry.path.file_name();
            if name == "package.json" {
                if !in_node_modules(directory) {
                    manifests.push(directory);
                }
            } else if name == "pnpm-workspace.yaml" || LOCK_FILES.contains(&name) {
                roots.insert(directory);
            }
        }
        roots.insert("");
        let mut packages: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for root in roots.iter().filter(|root| !in_node_modules(root)) {
            let globs = Globs::read(source, root);
            if globs.include.is_empty() {
                continue;
            }
            for directory in &manifests {
                if (directory == root || globs.take(root, directory))
                    && let Some(name) = name_in(source, directory)
                {
                    packages
                        .entry(name)
                        .or_default()
                        .push(((*root).to_owned(), (*directory).to_owned()));
                }
            }
        }
        for places in packages.values_mut() {
            places.sort();
        }
        Self { packages }
    }

    /// The directory of the package `name` as seen from `from`: of several, the one whose
    /// workspace root is closest above.
    pub(super) fn directory(&self, name: &str, from: &RepoPath) -> Option<&str> {
        let places = self.packages.get(name)?;
        let nearest = places
            .iter()
            .filter(|(root, _)| from.is_below(root))
            .max_by_key(|(root, _)| root.len());
        nearest.or(places.first()).map(|(_, directory)| directory.as_str())
    }
}

fn in_node_modules(directory: &str) -> bool {
    directory.split('/').any(|part| part == "node_modules")
}

fn name_in(source: &dyn Source, directory: &str) -> Option<String> {
    let path = source.listing().file(&child(directory, "package.json"))?;
    Manifest::parse(directory, &source.read(path).ok()?)?.name
}

#[derive(Default)]
struct Globs {
    include: GlobSet,
    exclude: GlobSet,
}

impl Globs {
    fn read(source: &dyn Source, root: &str) -> Self {
        let [manifest, yaml] = ["package.json", "pnpm-workspace.yaml"].map(|name| {
            let path = source.listing().file(&child(root, name))?;
            source.read(path).ok()
        });
        let mut globs = Vec::new();
        if let Some(manifest) = manifest.and_then(|bytes| Manifest::parse(root, &bytes)) {
            globs.extend(manifest.workspaces());
        }
        if let Some(bytes) = yaml {
            globs.extend(yaml_packages(&bytes));
        }
        let globs = globs.iter().map(|glob| glob.trim_end_matches('/').to_owned());
        let (exclude, include): (Vec<String>, Vec<String>) =
            globs.partition(|glob| glob.starts_with('!'));
        let exclude: Vec<String> = exclude.iter().map(|glob| glob[1..].to_owned()).collect();
        Self {
            include: compile_globs(&include),
            exclude: compile_globs(&exclude),
        }
    }

    fn take(&self, root: &str, directory: &str) -> bool {
        below(root, directory)
            .is_some_and(|path| self.include.is_match(path) && !self.exclude.is_match(path))
    }
}

// The `packages` of a pnpm-workspace.yaml.
#[cfg(feature = "program")]
fn yaml_packages(bytes: &[u8]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Packages {
        #[serde(default)]
        packages: Vec<String>,
    }
    serde_yaml_ng::from_slice::<Packages>(bytes).map_or_else(|_| Vec::new(), |file| file.packages)
}

// The feature `judge` alone reads no YAML.
#[cfg(not(feature = "program"))]
fn yaml_packages(_: &[u8]) -> Vec<String> {
    Vec::new()
}

#[cfg(all(test, feature = "program"))]
mod tests {
    use super::yaml_packages;

    #[test]
    fn packages_are_read_however_they_are_written() {
        for (text, expected) in [
            (
                "# c\npackages:\n  - 'a/*' # x\n\n  # y\n  - \"!b\"\n  - c/** # z\ncatalog:\n  react: 1\n",
                &["a/*", "!b", "c/**"][..],
            ),
            ("catalog:\n  react: 1\npackages: ['a', b]\n", &["a", "b"]),
            ("packages: [\n  a/*,\n  b/*\n]\n", &["a/*", "b/*"]),
            ("base: &all ['a']\npackages: *all\n", &["a"]),
            ("catalog: {}\n", &[]),
            ("packages: [", &[]),
        ] {
            assert_eq!(yaml_packages(text.as_bytes()), expected, "{text}");
        }
    }
}
