//! Caches manifests and compiler settings of a repository.

use std::sync::{Arc, OnceLock};

use super::manifest::Manifest;
use super::packages::package_name;
use super::tsconfig::{self, Config};
use super::workspace::Workspace;
use crate::languages::files::{child, join_path};
use crate::languages::resolver::{Memo, Resolver};
use crate::model::RepoPath;

/// What is known of the packages and compiler settings of a repository.
#[derive(Default)]
pub(in crate::languages) struct Projects {
    manifests: Memo<String, Option<Arc<Manifest>>>,
    configs: Memo<String, Option<Arc<Config>>>,
    owners: Memo<RepoPath, Option<Arc<Config>>>,
    workspace: OnceLock<Workspace>,
}

impl Resolver<'_> {
    pub(super) fn manifest(&self, directory: &str) -> Option<Arc<Manifest>> {
        self.projects.manifests.get(directory, || {
            let path = child(directory, "package.json");
            let bytes = self.read(&path)?;
            Manifest::parse(directory, &bytes).map(Arc::new)
        })
    }

    pub(super) fn workspace(&self) -> &Workspace {
        self.projects.workspace.get_or_init(|| Workspace::find(self.source))
    }

    pub(super) fn config(&self, path: &str) -> Option<Arc<Config>> {
        self.projects.configs.get(path, || {
            tsconfig::read(
                path,
                &|path| {
                    let bytes = self.read(path)?;
                    parse_jsonc(&bytes)
                },
                &|directory, specifier| self.extended(directory, specifier),
            )
            .map(Arc::new)
        })
    }

    // The file of an `extends` entry; one outside the repository is passed over.
    fn extended(&self, directory: &str, specifier: &str) -> Option<String> {
        let path = if specifier.starts_with('.') {
            join_path(directory, specifier)?
        } else {
            let (name, rest) = package_name(specifier)?;
            let from = RepoPath::new(&child(directory, "tsconfig.json")).ok()?;
            let base = self.workspace().directory(name, &from)?;
            match self.manifest(base) {
                Some(manifest) if manifest.has_exports() && !rest.is_empty() => manifest
                    .exported(&format!("./{rest}"), &[])
                    .iter()
                    .find_map(|target| join_path(base, target))
                    .or_else(|| join_path(base, rest))?,
                _ => join_path(base, rest)?,
            }
        };
        [
            path.clone(),
            format!("{path}.json"),
            child(&path, "tsconfig.json"),
        ]
        .into_iter()
        .find(|candidate| self.files.has_file(candidate))
    }

    /// The config that governs a file: the nearest one, or the one among its references that takes
    /// the file in.
    pub(super) fn owner(&self, file: &RepoPath) -> Option<Arc<Config>> {
        self.projects.owners.get(file, || {
            let nearest = file.ancestors().find_map(|directory| {
                ["tsconfig.json", "jsconfig.json"]
                    .iter()
                    .map(|name| child(directory, name))
                    .find(|path| self.files.has_file(path))
            })?;
            let config = self.config(&nearest)?;
            if config.includes(file) {
                return Some(config);
            }
            let mut related = self.list_referenced(&config, 0).into_iter();
            Some(related.find(|other| other.includes(file)).unwrap_or(config))
        })
    }

    /// The configs that one refers to, and those that they refer to.
    pub(super) fn list_referenced(&self, config: &Config, depth: usize) -> Vec<Arc<Config>> {
        if depth > 2 {
            return Vec::new();
        }
        let mut found = Vec::new();
        for path in config.references.iter().take(256) {
            let candidates = [child(path, "tsconfig.json"), path.clone()];
            let Some(file) = candidates.into_iter().find(|path| self.files.has_file(path)) else {
                continue;
            };
            if let Some(config) = self.config(&file) {
                let below = self.list_referenced(&config, depth + 1);
                found.push(config);
                found.extend(below);
            }
        }
        found
    }
}

// JSON with comments and trailing commas; anything else is an empty object.
fn parse_jsonc(bytes: &[u8]) -> Option<serde_json::Value> {
    let mut text =
        String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned();
    json_strip_comments::strip(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
