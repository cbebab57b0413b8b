use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

/// Versions that a lock file asks for, by package; of npm a package may be there in several.
pub(super) type Versions = BTreeMap<String, BTreeSet<String>>;

/// How a lock file says versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// `[[package]]` with a name and a version: uv, poetry.
    Packages,
    Pipfile,
    /// `name==1.2.3`, a line each.
    Pins,
    Pnpm,
    Yarn,
    Npm,
}

impl Format {
    /// What a text asks for; one that is no such file asks for nothing.
    pub(super) fn versions(self, text: &str) -> Versions {
        match self {
            Self::Packages => packages(text),
            Self::Pipfile => pipfile(text),
            Self::Pins => pins(text),
            Self::Pnpm => pnpm(text),
            Self::Yarn => yarn(text),
            Self::Npm => npm(text),
        }
    }
}

/// A name of a Python package as all its spellings have it (PEP 503).
pub(super) fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

fn add(found: &mut Versions, name: impl Into<String>, version: &str) {
    let starts = version.starts_with(|it: char| it.is_ascii_digit());
    if starts {
        found
            .entry(name.into())
            .or_default()
            .insert(version.to_owned());
    }
}

// uv and poetry: `[[package]]` with a name and a version.
fn packages(text: &str) -> Versions {
    let mut found = Versions::new();
    let table = text.parse::<toml::Table>().unwrap_or_default();
    let packages = table.get("package").and_then(|it| it.as_array());
    for package in packages.into_iter().flatten() {
        let of = |key| package.get(key).and_then(|it| it.as_str());
        // A member of the workspace is where it is, whatever its version.
        let source = package.get("source");
        let is_local = source.is_some_and(|source| {
            ["editable", "virtual", "directory", "path"]
                .iter()
                .any(|key| source.get(key).is_some())
        });
        if let (Some(name), Some(version), false) = (of("name"), of("version"), is_local) {
            add(&mut found, normal(name), version);
        }
    }
    found
}

fn pipfile(text: &str) -> Versions {
    let mut found = Versions::new();
    let lock: Value = serde_json::from_str(text).unwrap_or_default();
    for part in ["default", "develop"] {
        for (name, package) in lock[part].as_object().into_iter().flatten() {
            let version = package["version"].as_str().unwrap_or_default();
            add(&mut found, normal(name), version.trim_start_matches("=="));
        }
    }
    found
}

// `name==1.2.3 ; marker`, as pip-compile writes it.
fn pins(text: &str) -> Versions {
    let mut found = Versions::new();
    for line in text.lines() {
        let line = line
            .split(['#', ';', '\\'])
            .next()
            .unwrap_or_default()
            .trim();
        if let Some((name, version)) = line.split_once("==") {
            let name = name.split('[').next().unwrap_or(name).trim();
            let is_one = !version.contains(['*', ',']);
            if is_one {
                let version = version.split_whitespace().next().unwrap_or_default();
                add(&mut found, normal(name), version);
            }
        }
    }
    found
}

fn npm(text: &str) -> Versions {
    let mut found = Versions::new();
    let lock: Value = serde_json::from_str(text).unwrap_or_default();
    for (path, package) in lock["packages"].as_object().into_iter().flatten() {
        let name = path.rsplit_once("node_modules/").map(|it| it.1);
        if let (Some(name), Some(version)) = (name, package["version"].as_str()) {
            add(&mut found, name, version);
        }
    }
    found
}

// Keys of `packages:`, `name@1.2.3` or `/name@1.2.3(peer@2.0.0)`.
fn pnpm(text: &str) -> Versions {
    let mut found = Versions::new();
    let within = text.lines().skip_while(|line| *line != "packages:").skip(1);
    for line in within.take_while(|line| line.is_empty() || line.starts_with(' ')) {
        let Some(key) = line.strip_prefix("  ").filter(|it| !it.starts_with(' ')) else {
            continue;
        };
        let key = key.trim_end().trim_end_matches(':').trim_matches('\'');
        let key = key.split('(').next().unwrap_or(key).trim_start_matches('/');
        if let Some((name, version)) = key.rsplit_once('@') {
            add(&mut found, name, version);
        }
    }
    found
}

// A heading `name@range, name@range:` and below it `version "1.2.3"` or `version: 1.2.3`.
fn yarn(text: &str) -> Versions {
    let mut found = Versions::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(heading) = line
            .strip_suffix(':')
            .filter(|it| !it.starts_with([' ', '#']))
        {
            let first = heading
                .split(',')
                .next()
                .unwrap_or(heading)
                .trim_matches('"');
            let at = first.char_indices().skip(1).find(|(_, it)| *it == '@');
            name = at.and_then(|(at, _)| first.get(..at)).map(str::to_owned);
        } else if let (Some(version), Some(name)) = (line.trim().strip_prefix("version"), &name) {
            let version = version.trim_start_matches(':').trim().trim_matches('"');
            add(&mut found, name.clone(), version);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::normal;
    use crate::app::install::INSTALLS;

    #[test]
    fn versions_are_read_of_each_kind() {
        let texts = [
            (
                "uv.lock",
                "[[package]]\nname = \"pytest\"\nversion = \"9.0.2\"\n[[package]]\nname = \"own\"\nversion = \
                 \"1.0\"\nsource = { editable = \".\" }\n",
                "pytest 9.0.2",
            ),
            (
                "poetry.lock",
                "[[package]]\nname = \"Typing_Extensions\"\nversion = \"4.1\"\n",
                "typing-extensions 4.1",
            ),
            (
                "Pipfile.lock",
                r#"{"default": {"six": {"version": "==1.16.0"}}}"#,
                "six 1.16.0",
            ),
            (
                "requirements.txt",
                "# pinned\nrequests[socks]==2.31.0 ; python_version > '3' \\\n    --hash=sha256:00\nloose>=1\nany==1.*\n",
                "requests 2.31.0",
            ),
            (
                "pnpm-lock.yaml",
                "importers:\n  .:\n    a: 1\npackages:\n\n  '@scope/kit@1.2.0':\n    resolution: {}\n\n  \
                 /left-pad@1.3.0(peer@2.0.0):\n    dev: true\n\nsnapshots:\n  other@9.9.9: {}\n",
                "@scope/kit 1.2.0, left-pad 1.3.0",
            ),
            (
                "yarn.lock",
                "# yarn\n\n\"@scope/kit@^1.0.0\", \"@scope/kit@^1.1.0\":\n  version \"1.2.0\"\n  resolved \
                 \"x\"\n\n\"left-pad@npm:^1\":\n  version: 1.3.0\n",
                "@scope/kit 1.2.0, left-pad 1.3.0",
            ),
            (
                "package-lock.json",
                r#"{"packages": {"": {"version": "1.0.0"}, "node_modules/a": {"version": "1.0.0"},
                    "node_modules/b/node_modules/a": {"version": "2.0.0"}}}"#,
                "a 1.0.0, a 2.0.0",
            ),
        ];
        for (name, text, expected) in texts {
            let file = INSTALLS.iter().find(|it| it.file == name).unwrap();
            let format = file.format.unwrap();
            let mut found = Vec::new();
            for (name, versions) in format.versions(text) {
                found.extend(versions.iter().map(|it| format!("{name} {it}")));
            }
            assert_eq!(found.join(", "), expected, "{name}");
            assert!(format.versions("no such file").is_empty());
        }
        assert_eq!(normal("Ruamel.YAML"), "ruamel-yaml");
    }
}
