//! Reads lock files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::runners::pattern;

// A heading `name@range, name@range:` and below it `version "1.2.3"` or `version: 1.2.3`.
pattern!(
    YARN_PACKAGE,
    r##"(?m)^("?@?[^@\s"#]+@.*):\r?\n\s+version:? "?([^"\s]+)"##
);

// `"name": ["name@1.2.3", ...` of bun (bun.sh/docs/install/lockfile).
pattern!(BUN_PACKAGE, r#"(?m)^\s*"[^"]+": \["(@?[^"@]+)@([^"]+)""#);

/// The packages of a lock file.
#[derive(Debug, Default)]
pub struct Lock {
    /// Versions by package: npm may hold several, a member of the workspace has none.
    pub versions: BTreeMap<String, BTreeSet<String>>,
}

impl Lock {
    /// Reads a lock file of that name. A file that is no lock, or of another format, holds nothing.
    pub fn read(file: &str, text: &str) -> Self {
        let mut lock = Self::default();
        match file {
            "uv.lock" | "poetry.lock" | "pdm.lock" => lock.read_packages(text),
            "pnpm-lock.yaml" => lock.read_pnpm(text),
            "bun.lock" => {
                let found = BUN_PACKAGE.captures_iter(text);
                found.for_each(|found| lock.add(&found[1], &found[2]));
            }
            "yarn.lock" => YARN_PACKAGE.captures_iter(text).for_each(|found| {
                // Ranges of several names, where one is an alias, may have one version.
                let names = found[1].split(", ").map(|name| name.trim_matches('"'));
                let ends = names.filter_map(|name| Some((name, name.get(1..)?.find('@')? + 1)));
                ends.for_each(|(name, end)| lock.add(&name[..end], &found[2]));
            }),
            "package-lock.json" => lock.read_npm(text),
            "requirements.txt" if text.contains("pip-compile") => lock.read_pins(text),
            _ => {}
        }
        lock
    }

    fn add(&mut self, name: impl Into<String>, version: &str) {
        let versions = self.versions.entry(name.into()).or_default();
        if version.starts_with(|first: char| first.is_ascii_digit()) {
            versions.insert(version.to_owned());
        }
    }

    // What pip-compile writes: `name[extra]==1.2.3 ; marker`.
    fn read_pins(&mut self, text: &str) {
        let pins = text.lines().filter_map(|line| line.split([' ', ';']).next()?.split_once("=="));
        pins.for_each(|(name, pin)| self.add(normal(name.split('[').next().unwrap_or(name)), pin));
    }

    // uv and poetry. A member of the workspace is where it is, whatever its version.
    fn read_packages(&mut self, text: &str) {
        let table = text.parse::<toml::Table>().unwrap_or_default();
        let document = serde_json::to_value(table).unwrap_or_default();
        for package in document["package"].as_array().into_iter().flatten() {
            let source = &package["source"];
            let mut keys = ["editable", "virtual", "directory", "path"].iter();
            let is_local = source["type"] == "directory" || keys.any(|key| !source[*key].is_null());
            let version = package["version"].as_str().filter(|_| !is_local);
            let name = package["name"].as_str().unwrap_or_default();
            self.add(normal(name), version.unwrap_or_default());
        }
    }

    fn read_npm(&mut self, text: &str) {
        let file: Value = serde_json::from_str(text).unwrap_or_default();
        for (path, package) in file["packages"].as_object().into_iter().flatten() {
            if let Some((_, name)) = path.rsplit_once("node_modules/") {
                self.add(name, package["version"].as_str().unwrap_or_default());
            }
        }
    }

    // Keys `name@1.2.3` or `/name@1.2.3(peer@2.0.0)`.
    fn read_pnpm(&mut self, text: &str) {
        let file: Value = serde_yaml_ng::from_str(text).unwrap_or_default();
        for (key, _) in file["packages"].as_object().into_iter().flatten() {
            let key = key.split('(').next().unwrap_or(key).trim_start_matches('/');
            if let Some((name, version)) = key.rsplit_once('@') {
                self.add(name, version);
            }
        }
    }
}

/// Returns a name of a Python package in the form that all its spellings share (PEP 503).
pub fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{Lock, normal};

    #[test]
    fn reads_versions_of_each_format() {
        for (name, text, versions) in [
            (
                "uv.lock",
                concat!(
                    "[[package]]\nname = \"pytest\"\nversion = \"9.0.2\"\n[[package]]\nname = \"own\"\nversion = ",
                    "\"1.0\"\nsource = { editable = \".\" }\n[package.metadata]\nrequires-dist = [{ name = \"Rich\", ",
                    "specifier = \">=13\" }]\n[package.metadata.requires-dev]\ndev = [{ name = \"pytest\" }]\n"
                ),
                "own , pytest 9.0.2",
            ),
            (
                "poetry.lock",
                "[[package]]\nname = \"Typing_Extensions\"\nversion = \"4.1\"\n",
                "typing-extensions 4.1",
            ),
            (
                "pnpm-lock.yaml",
                concat!(
                    "importers:\n  .:\n    dependencies:\n      a:\n        specifier: ^1\n        version: 1.0.0\npackages:\n\n  ",
                    "'@scope/kit@1.2.0':\n    resolution: {}\n\n  /left-pad@1.3.0(peer@2.0.0):\n    dev: true\n"
                ),
                "@scope/kit 1.2.0, left-pad 1.3.0",
            ),
            (
                "yarn.lock",
                concat!(
                    "# yarn\n\n\"@scope/kit@^1.0.0\", \"@scope/kit@^1.1.0\":\n  version \"1.2.0\"\n  resolved ",
                    "\"x\"\n\n\"left-pad-cjs@npm:left-pad@^1\", left-pad@^1:\n  version: 1.3.0\n"
                ),
                "@scope/kit 1.2.0, left-pad 1.3.0, left-pad-cjs 1.3.0",
            ),
            (
                "package-lock.json",
                concat!(
                    r#"{"packages": {"": {"version": "1.0.0", "dependencies": {"a": "^1"}}, "#,
                    r#""node_modules/a": {"version": "1.0.0"}, "node_modules/b/node_modules/a": {"version": "2.0.0"}}}"#
                ),
                "a 1.0.0 2.0.0",
            ),
        ] {
            let lock = Lock::read(name, text);
            let rows = lock.versions.iter().map(|(name, versions)| {
                let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
                format!("{name} {}", versions.join(" "))
            });
            let rows: Vec<String> = rows.collect();
            assert_eq!(rows.join(", "), versions, "{name}");
            assert!(Lock::read(name, "no such file").versions.is_empty());
        }
        assert_eq!(normal("Ruamel.YAML"), "ruamel-yaml");
    }
}
