use std::sync::{Arc, OnceLock};

use super::configured;
use super::files::Files;
use super::manifest::Manifest;
use super::memo::Memo;
use super::package_name::package_name;
use super::probe;
use super::tsconfig::{self, Alias, Config};
use super::workspace::Workspace;
use crate::lang;
use crate::model::{FileFacts, Language, ParseProblem, RepoPath};
use crate::source::Source;

/// Answers what an import means, from the listing and the project files on its way.
///
/// Nothing is installed and `node_modules` is not looked at: packages of the workspace resolve to
/// their sources, everything else by name is external. Shared between threads; the same source
/// gives the same answers.
pub struct Resolver<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) files: Files<'a>,
    manifests: Memo<String, Option<Arc<Manifest>>>,
    configs: Memo<String, Option<Arc<Config>>>,
    owners: Memo<RepoPath, Option<Arc<Config>>>,
    configured: Memo<String, Arc<Vec<Alias>>>,
    workspace: OnceLock<Workspace>,
    pub(super) roots: Memo<String, Arc<Roots>>,
    pub(super) project_roots: Memo<String, Arc<Vec<String>>>,
    pub(super) inserted: Memo<String, Arc<Vec<String>>>,
    pub(super) projects: OnceLock<Vec<String>>,
    facts: Memo<RepoPath, Arc<FileFacts>>,
    reader: FactsReader<'a>,
}

/// Where absolute Python imports of one directory are looked for, in order.
pub(super) struct Roots {
    /// Directories on the import path as a test runner or installer would set it.
    pub(super) certain: Vec<String>,
    /// Directories above that are no packages, then other projects of the repository: asked last,
    /// and never for names of the standard library.
    pub(super) hoped: Vec<String>,
}

/// Gives the facts of a file, from wherever they are to be had.
pub type FactsReader<'a> = Box<dyn Fn(&RepoPath) -> Arc<FileFacts> + Send + Sync + 'a>;

/// What one import means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolution {
    /// Files of the repository, most specific first: a Python submodule before the package whose
    /// attribute another name of the statement is; a `.py` before its `.pyi`.
    pub files: Vec<RepoPath>,
    /// For files that are named through a symlink: the file, and the link.
    pub links: Vec<(RepoPath, RepoPath)>,
    /// The package or standard-library module outside the repository.
    pub external: Option<String>,
    /// What was looked for when nothing was found: repository paths without extension, or the
    /// words of a rule.
    pub tried: Vec<String>,
}

impl Resolution {
    /// Whether the import is neither a file of the repository nor known to be outside.
    #[must_use]
    pub fn is_unresolved(&self) -> bool {
        self.files.is_empty() && self.external.is_none()
    }

    pub(super) fn file(path: RepoPath) -> Self {
        Self {
            files: vec![path],
            ..Self::default()
        }
    }

    pub(super) fn external(name: impl Into<String>) -> Self {
        Self {
            external: Some(name.into()),
            ..Self::default()
        }
    }
}

impl<'a> Resolver<'a> {
    /// Nothing is read before the first question needs it.
    #[must_use]
    pub fn new(source: &'a dyn Source) -> Self {
        Self::with_facts(source, Box::new(move |path| Arc::new(parsed(source, path))))
    }

    /// The same, with facts from elsewhere (a cache).
    #[must_use]
    pub fn with_facts(source: &'a dyn Source, reader: FactsReader<'a>) -> Self {
        Self {
            source,
            files: Files::new(source.listing()),
            manifests: Memo::new(),
            configs: Memo::new(),
            owners: Memo::new(),
            configured: Memo::new(),
            workspace: OnceLock::new(),
            roots: Memo::new(),
            project_roots: Memo::new(),
            inserted: Memo::new(),
            projects: OnceLock::new(),
            facts: Memo::new(),
            reader,
        }
    }

    pub(super) fn manifest(&self, directory: &str) -> Option<Arc<Manifest>> {
        self.manifests.get(directory, || {
            let path = probe::child(directory, "package.json");
            let bytes = self.files.read(self.source, &path)?;
            Manifest::parse(directory, &bytes).map(Arc::new)
        })
    }

    pub(super) fn workspace(&self) -> &Workspace {
        self.workspace.get_or_init(|| Workspace::find(self.source))
    }

    pub(super) fn config(&self, path: &str) -> Option<Arc<Config>> {
        self.configs.get(path, || {
            let load = |path: &str| {
                let bytes = self.files.read(self.source, path)?;
                jsonc(&bytes)
            };
            let locate = |directory: &str, specifier: &str| self.extended(directory, specifier);
            tsconfig::read(path, &load, &locate).map(Arc::new)
        })
    }

    /// The aliases that bundlers and test runners are told of at or above the file, by the nearest
    /// directory that tells of any.
    pub(super) fn configured(&self, from: &RepoPath) -> Option<Arc<Vec<Alias>>> {
        let read = |path: &str| {
            let bytes = self.files.read(self.source, path)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        from.ancestors()
            .map(|directory| {
                self.configured.get(directory, || {
                    Arc::new(configured::aliases(directory, &read))
                })
            })
            .find(|aliases| !aliases.is_empty())
    }

    // The file of an `extends` entry; one outside the repository is passed over.
    fn extended(&self, directory: &str, specifier: &str) -> Option<String> {
        let path = if specifier.starts_with('.') {
            probe::join(directory, specifier)?
        } else {
            let (name, rest) = package_name(specifier)?;
            let from = RepoPath::new(&probe::child(directory, "tsconfig.json")).ok()?;
            let base = self.workspace().directory(name, &from)?;
            match self.manifest(base) {
                Some(manifest) if manifest.has_exports() && !rest.is_empty() => manifest
                    .exported(&format!("./{rest}"), &[])
                    .iter()
                    .find_map(|target| probe::join(base, target))
                    .or_else(|| probe::join(base, rest))?,
                _ => probe::join(base, rest)?,
            }
        };
        [
            path.clone(),
            format!("{path}.json"),
            probe::child(&path, "tsconfig.json"),
        ]
        .into_iter()
        .find(|candidate| self.files.has_file(candidate))
    }

    /// The config that governs a file: the nearest one, or the one among its references and
    /// siblings that takes the file in.
    pub(super) fn owner(&self, file: &RepoPath) -> Option<Arc<Config>> {
        self.owners.get(file, || {
            let nearest = file.ancestors().find_map(|directory| {
                ["tsconfig.json", "jsconfig.json"]
                    .iter()
                    .map(|name| probe::child(directory, name))
                    .find(|path| self.files.has_file(path))
            })?;
            let config = self.config(&nearest)?;
            if config.includes(file) {
                return Some(config);
            }
            let directory = config.directory.clone();
            let related = self.referenced(&config, 0).into_iter().chain(
                self.siblings(&directory)
                    .into_iter()
                    .filter_map(|path| self.config(&path)),
            );
            let mut related = related;
            Some(related.find(|other| other.includes(file)).unwrap_or(config))
        })
    }

    pub(super) fn referenced(&self, config: &Config, depth: usize) -> Vec<Arc<Config>> {
        if depth > 2 {
            return Vec::new();
        }
        let mut found = Vec::new();
        for path in config.references.iter().take(256) {
            let candidates = [probe::child(path, "tsconfig.json"), path.clone()];
            let Some(file) = candidates
                .into_iter()
                .find(|path| self.files.has_file(path))
            else {
                continue;
            };
            if let Some(config) = self.config(&file) {
                let below = self.referenced(&config, depth + 1);
                found.push(config);
                found.extend(below);
            }
        }
        found
    }

    /// `tsconfig.*.json` in a directory, sorted.
    pub(super) fn siblings(&self, directory: &str) -> Vec<String> {
        self.files
            .listing()
            .below(directory)
            .iter()
            .map(|entry| &entry.path)
            .filter(|path| path.directory() == directory)
            .filter(|path| {
                let name = path.file_name();
                let json = path.extension() == Some("json");
                json && name.starts_with("tsconfig.") && name != "tsconfig.json"
            })
            .map(|path| path.as_str().to_owned())
            .collect()
    }

    /// What a file says about itself; read once while the resolver lives.
    #[must_use]
    pub fn facts(&self, path: &RepoPath) -> Arc<FileFacts> {
        self.facts.get(path, || (self.reader)(path))
    }
}

/// Reads and parses one file. One in no known language has no facts, one that cannot be read has
/// a problem.
#[must_use]
pub fn parsed(source: &dyn Source, path: &RepoPath) -> FileFacts {
    if Language::of_path(path.as_str()).is_none() {
        return FileFacts::default();
    }
    match source.read(path) {
        Ok(bytes) => lang::facts(path, &bytes),
        Err(error) => FileFacts {
            problems: vec![ParseProblem {
                line: 0,
                message: format!("the file was not read: {error}"),
            }],
            ..FileFacts::default()
        },
    }
}

// JSON with comments and trailing commas; what is no JSON even so is an empty object.
fn jsonc(bytes: &[u8]) -> Option<serde_json::Value> {
    let mut text =
        String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned();
    json_strip_comments::strip(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
