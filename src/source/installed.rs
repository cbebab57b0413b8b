//! Reads installed packages, `node_modules` and `site-packages`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a package that are larger say nothing.
const MAX_BYTES: u64 = 4 << 20;

/// Packages as they are installed where commands of a worktree find them: in its `node_modules` and
/// in the `site-packages` of its environments. They are read by name, nothing of them is run, and a
/// link in `node_modules` is followed only to another `node_modules` of the worktree.
#[derive(Debug, Clone, Default)]
pub struct Installed {
    root: Option<PathBuf>,
    sites: Vec<PathBuf>,
}

/// A distribution of Python packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// Its name as its metadata spells it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The modules at the top that it brings, sorted.
    pub modules: Vec<String>,
    /// Whether what its metadata lists is there.
    pub is_whole: bool,
    /// The folder of its metadata.
    pub about: PathBuf,
}

impl Installed {
    /// Finds the packages of a worktree and of virtual environments.
    pub fn scan(root: &Path, environments: &[PathBuf]) -> Self {
        let mut sites = Vec::new();
        for environment in environments {
            let mut below = vec![environment.join("Lib/site-packages")];
            let folders = folder_entries(&environment.join("lib")).into_iter();
            below.extend(folders.map(|folder| folder.join("site-packages")));
            below.retain(|folder| folder.is_dir());
            // Another version of Python may have left its packages beside those of the interpreter.
            let version = interpreter_version(environment).unwrap_or_default();
            let name = version.rsplit_once('.').map_or(version.as_str(), |(name, _)| name);
            let lib = environment.join(format!("lib/python{name}"));
            if below.iter().any(|site| site.starts_with(&lib)) {
                below.retain(|site| site.starts_with(&lib));
            }
            sites.append(&mut below);
        }
        Self {
            root: root.canonicalize().ok(),
            sites,
        }
    }

    /// The folder of an npm package as a file in `directory` of the worktree finds it.
    pub fn npm(&self, directory: &str, package: &str) -> Option<PathBuf> {
        let root = self.root.as_ref()?;
        if package.contains('\\')
            || !package.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
        {
            return None;
        }
        let start = root.join(directory);
        let folders = start.ancestors().take_while(|dir| dir.starts_with(root));
        folders
            .map(|folder| folder.join("node_modules").join(package))
            .find_map(|folder| {
                let real = folder.canonicalize().ok().filter(|real| real.is_dir())?;
                let mut below = real.strip_prefix(root).ok()?.components();
                below.any(|part| part.as_os_str() == "node_modules").then_some(real)
            })
    }

    /// Where modules of Python are installed.
    pub fn sites(&self) -> &[PathBuf] {
        &self.sites
    }

    /// The distributions in `site-packages`, by name.
    pub fn distributions(&self) -> Vec<Distribution> {
        let all = self.sites.iter().flat_map(|site| folder_entries(site));
        let ends = ["dist-info", "egg-info"];
        all.filter(|folder| {
            folder.extension().is_some_and(|end| ends.iter().any(|one| end == *one))
        })
        .filter_map(|folder| {
            let site = folder.parent()?;
            let stem = folder.file_stem()?.to_string_lossy();
            // Older builds end in the version of Python: `name-1.2-py3.9.egg-info`.
            let stem = stem
                .split("-py")
                .next()
                .filter(|_| stem.matches('-').count() > 1)
                .unwrap_or(&stem);
            let (name, version) = stem.rsplit_once('-')?;
            Some(Distribution {
                name: name.to_owned(),
                version: version.to_owned(),
                modules: site_modules(site, &folder),
                is_whole: is_whole(site, &folder),
                about: folder.clone(),
            })
        })
        // A bound on the work: no real environment has so many distributions.
        .take(2_000)
        .collect()
    }

    /// The first of some paths that is a file.
    pub fn first_file(paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
        paths.into_iter().find(|path| path.is_file())
    }

    /// A file of an installed package; `folder` is what it may not leave.
    pub fn read(&self, folder: &Path, file: &Path) -> Option<Vec<u8>> {
        let real = file.canonicalize().ok()?;
        let inside = real.starts_with(folder.canonicalize().ok()?);
        let about = real.metadata().ok()?;
        (inside && about.is_file() && about.len() <= MAX_BYTES)
            .then(|| fs::read(real).ok())
            .flatten()
    }
}

/// Returns the version of a virtual environment's interpreter.
pub fn interpreter_version(environment: &Path) -> Option<String> {
    let about = fs::read_to_string(environment.join("pyvenv.cfg")).ok()?;
    let mut lines = about.lines().filter_map(|line| line.split_once('='));
    let (_, version) = lines.find(|(key, _)| key.trim().starts_with("version"))?;
    Some(version.trim().to_owned())
}

// Whether the folder of an editable installation, else one of the listed sources, is there.
fn is_whole(site: &Path, about: &Path) -> bool {
    let read = |name: &str| fs::read_to_string(about.join(name)).ok();
    let url = read("direct_url.json").and_then(|text| text.parse::<serde_json::Value>().ok());
    let folder = url.as_ref().filter(|url| url["dir_info"]["editable"] == true);
    let folder = folder.and_then(|url| url["url"].as_str()?.strip_prefix("file://"));
    if let Some(folder) = folder {
        return Path::new(folder).is_dir();
    }
    let record = read("RECORD").unwrap_or_default();
    let paths = record.lines().filter_map(|line| line.split(',').next());
    let mut sources = paths.filter(|path| path.ends_with(".py") && !path.starts_with(".."));
    sources.next().is_none_or(|first| {
        site.join(first).is_file() || sources.any(|path| site.join(path).is_file())
    })
}

// By `top_level.txt`, or by the first parts of what `RECORD` lists.
fn site_modules(site: &Path, about: &Path) -> Vec<String> {
    let text = |name: &str| {
        let file = about.join(name);
        let small = file.metadata().is_ok_and(|about| about.is_file() && about.len() <= MAX_BYTES);
        small.then(|| fs::read_to_string(file).ok()).flatten()
    };
    let mut found = BTreeSet::new();
    if let Some(text) = text("top_level.txt") {
        found.extend(text.lines().map(|line| line.trim().to_owned()));
    } else if let Some(text) = text("RECORD") {
        for path in text.lines().filter_map(|line| line.split(',').next()) {
            let module = match path.split_once('/') {
                Some((folder, _)) => folder,
                None => path.strip_suffix(".py").unwrap_or_default(),
            };
            found.insert(module.to_owned());
        }
    }
    let words = found.into_iter().filter(|word| {
        !word.is_empty()
            && word.chars().all(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
            && site.join(word.as_str()).parent() == Some(site)
    });
    words.collect()
}

fn folder_entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}
