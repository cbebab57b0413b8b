use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::manifest::{Manifest, strings};
use super::{glob, probe};
use crate::model::RepoPath;
use crate::source::Source;

const LOCK_FILES: &[&str] = &[
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
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
            } else if matches!(name, "pnpm-workspace.yaml" | "lerna.json")
                || LOCK_FILES.contains(&name)
            {
                roots.insert(directory);
            }
        }
        roots.insert("");
        let mut packages: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for root in roots.iter().filter(|root| !in_node_modules(root)) {
            let globs = Globs::of(source, root);
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
        nearest
            .or(places.first())
            .map(|(_, directory)| directory.as_str())
    }
}

fn in_node_modules(directory: &str) -> bool {
    directory.split('/').any(|part| part == "node_modules")
}

fn name_in(source: &dyn Source, directory: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: Option<String>,
    }
    let path = source
        .listing()
        .file(&probe::child(directory, "package.json"))?;
    let bytes = source.read(path).ok()?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    serde_json::from_slice::<Named>(bytes).ok()?.name
}

#[derive(Default)]
struct Globs {
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Globs {
    fn of(source: &dyn Source, root: &str) -> Self {
        let read = |name: &str| {
            let path = source.listing().file(&probe::child(root, name))?;
            source.read(path).ok()
        };
        let mut globs = Vec::new();
        if let Some(bytes) = read("package.json")
            && let Some(manifest) = Manifest::parse(root, &bytes)
        {
            globs.extend(manifest.workspaces());
        }
        if let Some(bytes) = read("pnpm-workspace.yaml") {
            globs.extend(yaml_packages(&String::from_utf8_lossy(&bytes)));
        }
        if let Some(bytes) = read("lerna.json")
            && let Ok(value) = serde_json::from_slice::<Value>(&bytes)
        {
            globs.extend(strings(value.get("packages")));
        }
        let mut found = Self::default();
        for glob in globs.iter().flat_map(|glob| glob::expand(glob)) {
            match glob.strip_prefix('!') {
                Some(excluded) => found.exclude.push(excluded.to_owned()),
                None => found.include.push(glob),
            }
        }
        found
    }

    fn take(&self, root: &str, directory: &str) -> bool {
        let inside = if root.is_empty() {
            directory
        } else {
            match directory.strip_prefix(root) {
                Some(rest) if rest.starts_with('/') => &rest[1..],
                _ => return false,
            }
        };
        let any = |globs: &[String]| {
            globs
                .iter()
                .any(|glob| glob::matches(glob.trim_end_matches('/'), inside))
        };
        any(&self.include) && !any(&self.exclude)
    }
}

// The `packages:` list of a pnpm-workspace.yaml: block or flow sequence of scalars.
fn yaml_packages(text: &str) -> Vec<String> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("packages:"));
    let Some(first) = lines.next() else {
        return Vec::new();
    };
    let flow = first.trim_start_matches("packages:").trim();
    if let Some(inner) = flow.strip_prefix('[') {
        let inner = inner.split(']').next().unwrap_or_default();
        return inner.split(',').filter_map(scalar).collect();
    }
    lines
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map_while(|line| line.strip_prefix('-'))
        .filter_map(scalar)
        .collect()
}

fn scalar(text: &str) -> Option<String> {
    let text = text.trim();
    let value = match text.chars().next()? {
        quote @ ('"' | '\'') => text.get(1..)?.split(quote).next()?,
        _ => text.split(" #").next()?.trim(),
    };
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::yaml_packages;

    #[test]
    fn both_yaml_sequences_are_read() {
        let block =
            "# c\npackages:\n  - 'a/*' # x\n\n  # y\n  - \"!b\"\n  - c/** # z\ncatalog:\n  - no\n";
        assert_eq!(yaml_packages(block), ["a/*", "!b", "c/**"]);
        assert_eq!(yaml_packages("packages: ['a', b]\n"), ["a", "b"]);
    }
}
