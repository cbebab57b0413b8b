use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

/// What a lock file holds.
#[derive(Debug, Default)]
pub(super) struct Lock {
    /// Versions by package; of npm a package may be there in several.
    pub(super) versions: BTreeMap<String, BTreeSet<String>>,
    /// What the manifest asked for when the lock was written: names with ranges; `None` where the lock does not say.
    pub(super) asked: Option<BTreeMap<String, BTreeSet<String>>>,
    /// Folders of the members of the workspace.
    pub(super) folders: Vec<String>,
}

/// How a lock file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// `[[package]]` with a name and a version: uv, poetry.
    Packages,
    /// `name==1.2.3`, a line each.
    Pins,
    Pnpm,
    Yarn,
    Npm,
}

impl Format {
    /// Reads a lock file; `folder` is where the manifest is, below the lock. A text of another format holds nothing.
    pub(super) fn read(self, text: &str, folder: &str) -> Lock {
        match self {
            Self::Packages => read_packages(text),
            Self::Pins => read_pins(text),
            Self::Pnpm => read_pnpm(text, folder),
            Self::Yarn => read_yarn(text),
            Self::Npm => read_npm(text, folder),
        }
    }
}

impl Lock {
    fn add(&mut self, name: impl Into<String>, version: &str) {
        if version.starts_with(|first: char| first.is_ascii_digit()) {
            self.versions
                .entry(name.into())
                .or_default()
                .insert(version.to_owned());
        }
    }

    fn add_asked(&mut self, name: impl Into<String>, range: &str) {
        let asked = self.asked.get_or_insert_default();
        asked
            .entry(name.into())
            .or_default()
            .insert(range.to_owned());
    }

    /// Checks whether the lock was written for this requirement. Aliases and addresses are written otherwise there.
    pub(super) fn holds(&self, name: &str, range: &str) -> bool {
        let is_plain = !range.is_empty() && !range.contains([':', '/']);
        match &self.asked {
            Some(asked) => asked.get(name).is_some_and(|ranges| {
                let mut ranges = ranges.iter();
                !is_plain || ranges.any(|asked| asked.is_empty() || asked == range)
            }),
            None => self.versions.contains_key(name),
        }
    }
}

/// Returns a range of Python versions in one form: blanks and the order of its parts mean nothing.
pub(super) fn normal_range(range: &str) -> String {
    let mut parts: Vec<String> = range.split(',').map(|part| part.replace(' ', "")).collect();
    parts.sort_unstable();
    parts.join(",")
}

/// Returns a name of a Python package in the form that all its spellings share (PEP 503).
pub(super) fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

// uv and poetry: `[[package]]` with a name and a version.
fn read_packages(text: &str) -> Lock {
    let mut lock = Lock::default();
    let table = text.parse::<toml::Table>().unwrap_or_default();
    let packages = table
        .get("package")
        .and_then(|packages| packages.as_array());
    for package in packages.into_iter().flatten() {
        let field = |key| package.get(key).and_then(|value| value.as_str());
        let Some(name) = field("name").map(normal) else {
            continue;
        };
        // A member of the workspace is where it is, whatever its version.
        let local = ["editable", "virtual", "directory", "path"];
        let at = package
            .get("source")
            .and_then(|source| local.iter().find_map(|key| source.get(key)));
        if at.and_then(|at| at.as_str()) == Some(".") {
            let metadata = package.get("metadata");
            let main = metadata.and_then(|metadata| metadata.get("requires-dist"));
            let groups = metadata.and_then(|metadata| metadata.get("requires-dev"));
            let groups = groups.and_then(|groups| groups.as_table()).into_iter();
            let lists = main
                .into_iter()
                .chain(groups.flat_map(|groups| groups.values()));
            lock.asked.get_or_insert_default();
            for row in lists.filter_map(|list| list.as_array()).flatten() {
                let field = |key| row.get(key).and_then(|value| value.as_str());
                lock.add_asked(
                    normal(field("name").unwrap_or_default()),
                    &normal_range(field("specifier").unwrap_or_default()),
                );
            }
        }
        if at.is_none() {
            lock.add(name, field("version").unwrap_or_default());
        }
    }
    lock
}

// `name==1.2.3 ; marker`, as pip-compile writes it.
fn read_pins(text: &str) -> Lock {
    let mut lock = Lock::default();
    for line in text.lines() {
        let line = line.split(['#', ';', '\\']).next().unwrap_or_default();
        if let Some((name, version)) = line
            .split_once("==")
            .filter(|(_, version)| !version.contains(['*', ',']))
        {
            let name = name.split('[').next().unwrap_or(name).trim();
            lock.add(
                normal(name),
                version.split_whitespace().next().unwrap_or_default(),
            );
        }
    }
    lock
}

/// The tables of a manifest, and of a lock, that name packages to be there.
pub(super) const NODE_TABLES: [&str; 2] = ["dependencies", "devDependencies"];

fn read_npm(text: &str, folder: &str) -> Lock {
    let mut lock = Lock::default();
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    for (path, package) in file["packages"].as_object().into_iter().flatten() {
        match path.rsplit_once("node_modules/") {
            Some((_, name)) => lock.add(name, package["version"].as_str().unwrap_or_default()),
            None => lock.folders.push(path.clone()),
        }
        if path == folder {
            lock.asked.get_or_insert_default();
            for (name, range) in NODE_TABLES
                .iter()
                .filter_map(|table| package[*table].as_object())
                .flatten()
            {
                lock.add_asked(name, range.as_str().unwrap_or_default());
            }
        }
    }
    lock
}

fn read_pnpm(text: &str, folder: &str) -> Lock {
    let mut lock = Lock::default();
    let file: Value = serde_yaml_ng::from_str(text).unwrap_or_default();
    // Keys `name@1.2.3` or `/name@1.2.3(peer@2.0.0)`.
    for key in file["packages"]
        .as_object()
        .into_iter()
        .flat_map(|packages| packages.keys())
    {
        let key = key.split('(').next().unwrap_or(key).trim_start_matches('/');
        if let Some((name, version)) = key.rsplit_once('@') {
            lock.add(name, version);
        }
    }
    let importers = file["importers"].as_object();
    lock.folders = importers
        .into_iter()
        .flat_map(|all| all.keys())
        .map(|key| key.trim_start_matches('.').to_owned())
        .collect();
    let key = if folder.is_empty() { "." } else { folder };
    if let Some(importer) = importers.and_then(|importers| importers.get(key)) {
        lock.asked.get_or_insert_default();
        for (name, row) in NODE_TABLES
            .iter()
            .filter_map(|table| importer[*table].as_object())
            .flatten()
        {
            lock.add_asked(name, row["specifier"].as_str().unwrap_or_default());
        }
    }
    lock
}

// A heading `name@range, name@range:` and below it `version "1.2.3"` or `version: 1.2.3`.
fn read_yarn(text: &str) -> Lock {
    let mut lock = Lock::default();
    let mut name = None;
    for line in text.lines() {
        if let Some(heading) = line
            .strip_suffix(':')
            .filter(|line| !line.starts_with([' ', '#']))
        {
            for key in heading.split(',').map(|key| key.trim().trim_matches('"')) {
                let at = key
                    .char_indices()
                    .skip(1)
                    .find(|(_, letter)| *letter == '@');
                let Some((found, range)) = at.map(|(at, _)| key.split_at(at)) else {
                    continue;
                };
                let range = range.trim_start_matches('@').trim_matches('"');
                lock.add_asked(found, range.strip_prefix("npm:").unwrap_or(range));
                name = Some(found.to_owned());
            }
        } else if let (Some(version), Some(name)) = (line.trim().strip_prefix("version"), &name) {
            lock.add(
                name,
                version.trim_start_matches(':').trim().trim_matches('"'),
            );
        }
    }
    lock
}

#[cfg(test)]
mod tests {
    use super::normal;
    use crate::inventory::managers::MANAGERS;

    #[test]
    fn reads_versions_and_ranges_of_each_format() {
        for (name, text, versions, asked) in [
            (
                "uv.lock",
                "[[package]]\nname = \"pytest\"\nversion = \"9.0.2\"\n[[package]]\nname = \"own\"\nversion = \
                 \"1.0\"\nsource = { editable = \".\" }\n[package.metadata]\nrequires-dist = [{ name = \"Rich\", \
                 specifier = \">=13\" }]\n[package.metadata.requires-dev]\ndev = [{ name = \"pytest\" }]\n",
                "pytest 9.0.2",
                "pytest , rich >=13",
            ),
            (
                "poetry.lock",
                "[[package]]\nname = \"Typing_Extensions\"\nversion = \"4.1\"\n",
                "typing-extensions 4.1",
                "",
            ),
            (
                "requirements.txt",
                "# pinned\nrequests[socks]==2.31.0 ; python_version > '3' \\\n    --hash=sha256:00\nloose>=1\nany==1.*\n",
                "requests 2.31.0",
                "",
            ),
            (
                "pnpm-lock.yaml",
                "importers:\n  .:\n    dependencies:\n      a:\n        specifier: ^1\n        version: 1.0.0\npackages:\n\n  \
                 '@scope/kit@1.2.0':\n    resolution: {}\n\n  /left-pad@1.3.0(peer@2.0.0):\n    dev: true\n",
                "@scope/kit 1.2.0, left-pad 1.3.0",
                "a ^1",
            ),
            (
                "yarn.lock",
                "# yarn\n\n\"@scope/kit@^1.0.0\", \"@scope/kit@^1.1.0\":\n  version \"1.2.0\"\n  resolved \
                 \"x\"\n\n\"left-pad@npm:^1\":\n  version: 1.3.0\n",
                "@scope/kit 1.2.0, left-pad 1.3.0",
                "@scope/kit ^1.0.0, @scope/kit ^1.1.0, left-pad ^1",
            ),
            (
                "package-lock.json",
                r#"{"packages": {"": {"version": "1.0.0", "dependencies": {"a": "^1"}}, "node_modules/a": {"version": "1.0.0"},
                    "node_modules/b/node_modules/a": {"version": "2.0.0"}}}"#,
                "a 1.0.0, a 2.0.0",
                "a ^1",
            ),
        ] {
            let format = MANAGERS
                .iter()
                .find(|row| row.file == name)
                .unwrap()
                .format
                .unwrap();
            let lock = format.read(text, "");
            let rows =
                |rows: &std::collections::BTreeMap<String, std::collections::BTreeSet<String>>| {
                    let rows = rows
                        .iter()
                        .flat_map(|(name, all)| all.iter().map(move |one| format!("{name} {one}")));
                    rows.collect::<Vec<_>>().join(", ")
                };
            assert_eq!(rows(&lock.versions), versions, "{name}");
            assert_eq!(rows(&lock.asked.unwrap_or_default()), asked, "{name}");
            assert!(format.read("no such file", "").versions.is_empty());
        }
        assert_eq!(normal("Ruamel.YAML"), "ruamel-yaml");
    }
}
