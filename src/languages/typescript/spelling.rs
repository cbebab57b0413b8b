//! Spells a specifier as the file spells its own.

use std::collections::BTreeSet;

use super::{packages, probe};
use crate::languages::files::join_path;
use crate::languages::resolver::Resolver;
use crate::model::RepoPath;

/// How one file of the repository may name another: the inverse of [`Resolver::resolve`].
impl Resolver<'_> {
    /// Returns the specifiers that the `paths` of the config governing `from` allow for a file,
    /// shortest first. Patterns that match everything are left out.
    pub fn aliases(&self, from: &RepoPath, target: &RepoPath) -> Vec<String> {
        let config = self.owner(from);
        let paths = config.iter().flat_map(|config| &config.paths);
        let stem = probe::without_extension(target.as_str());
        let stem = stem.strip_suffix("/index").unwrap_or(stem);
        let mut found: Vec<String> = paths
            .filter(|alias| !alias.pattern.starts_with('*'))
            .flat_map(|alias| {
                alias.targets.iter().filter_map(|path| {
                    let path = join_path("", path)?;
                    match (path.split_once('*'), alias.pattern.split_once('*')) {
                        (Some((head, tail)), Some((before, after))) => {
                            let star = stem.strip_prefix(head)?.strip_suffix(tail)?;
                            (!star.is_empty()).then(|| format!("{before}{star}{after}"))
                        }
                        (None, None) => {
                            let path = probe::without_extension(&path);
                            let path = path.strip_suffix("/index").unwrap_or(path);
                            (path == stem).then(|| alias.pattern.clone())
                        }
                        _ => None,
                    }
                })
            })
            .collect();
        found.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        found.dedup();
        found
    }

    /// The directory and, when it has one, the name of the npm package a file is in.
    pub fn package_of(&self, path: &RepoPath) -> Option<(String, Option<String>)> {
        let manifest = packages::nearest(self, path)?;
        Some((manifest.directory.clone(), manifest.name.clone()))
    }

    /// Whether a manifest at or above `from` declares the npm package.
    pub fn declares(&self, from: &RepoPath, package: &str) -> bool {
        from.ancestors()
            .filter_map(|directory| self.manifest(directory))
            .any(|manifest| manifest.declares(package))
    }

    /// The npm packages that the manifests at or above `from` declare, sorted; those of types alone
    /// left out.
    pub fn declared(&self, from: &RepoPath) -> Vec<String> {
        let mut found = BTreeSet::new();
        for directory in from.ancestors() {
            let Some(manifest) = self.manifest(directory) else {
                continue;
            };
            let packages = manifest.dependencies();
            let packages = packages.filter(|package| !package.starts_with("@types/"));
            found.extend(packages.map(str::to_owned));
        }
        found.into_iter().collect()
    }

    /// The declared npm package that has the name, case and punctuation aside; else those of two words that hold
    /// it: `hash-sum` for `hash`.
    pub fn declared_like(&self, from: &RepoPath, name: &str) -> Vec<String> {
        let wanted = plain_name(name);
        let declared = self.declared(from);
        if let Some(same) = declared.iter().find(|package| plain_name(package) == wanted) {
            return vec![same.clone()];
        }
        declared
            .into_iter()
            .filter(|package| {
                let last = package.rsplit('/').next().unwrap_or(package);
                let words = last.split_once(['-', '_', '.']);
                words.is_some_and(|(first, second)| first == wanted || second == wanted)
            })
            .collect()
    }
}

fn plain_name(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}
