//! Gathers the facts that a correction may use: names of programs and packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::Probe;
use super::rules::program_names;
use crate::exec::{is_program, on_path};
use crate::model::file_name;

const LOCAL: &[&str] = &["node_modules/.bin", ".venv/bin", "venv/bin"];

/// Facts around a probe that a fix may use. Gathered before the choice, so that the choice is a function over
/// values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Of the programs a fix may use, those on the search path.
    pub programs: BTreeSet<String>,
    /// Program to its file in `node_modules/.bin` or in a virtual environment of the project.
    pub local: BTreeMap<String, String>,
    /// Packages that `package.json` names.
    pub npm: BTreeSet<String>,
}

/// Reads the surroundings of a probe in its directory. A file that cannot be read counts as absent.
pub(super) fn gather_surroundings(directory: &Path, probe: &Probe) -> Surroundings {
    let mut found = Surroundings::default();
    let there = program_names().filter(|name| on_path(name).is_some());
    found.programs.extend(there.map(str::to_owned));
    if let Some(program) = probe.program() {
        let name = file_name(program);
        let mut files = LOCAL.iter().map(|place| format!("{place}/{name}"));
        let file = files.find(|file| is_program(&directory.join(file)));
        found.local.extend(file.map(|file| (name.to_owned(), file)));
    }
    let manifest = read_file(&directory.join("package.json"));
    found.npm = node_packages(&manifest.unwrap_or_default());
    found
}

fn read_file(file: &Path) -> Option<String> {
    let about = file.metadata().ok()?;
    // Larger files around a probe are not read.
    let is_small = about.is_file() && about.len() <= 32 << 20;
    is_small.then(|| std::fs::read_to_string(file).ok())?
}

fn node_packages(text: &str) -> BTreeSet<String> {
    let manifest: Value = serde_json::from_str(text).unwrap_or_default();
    let tables = ["dependencies", "devDependencies"].map(|table| manifest[table].as_object());
    let names = tables.into_iter().flatten().flat_map(|table| table.keys());
    names.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::node_packages;

    #[test]
    fn reads_packages_of_manifests() {
        let found = node_packages(
            r#"{"name": "x", "devDependencies": {"a": "1"}, "dependencies": {"@s/b": "^2"}}"#,
        );
        assert_eq!(Vec::from_iter(found).join(" "), "@s/b a");
    }
}
