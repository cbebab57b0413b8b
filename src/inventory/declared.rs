//! Reads the packages that a manifest declares.

use std::path::Path;

use serde_json::Value;

use super::lock::normal;
use super::project::{Manager, Project, is_plain};
use super::versions::is_below;

/// A package that a manifest asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    /// Its name; of Python in its normal form.
    pub(super) name: String,
    /// The range of versions, without blanks.
    pub(super) range: String,
    pub(super) place: Place,
    /// Whether it is only asked for on some machines.
    pub(super) is_conditional: bool,
}

impl Requirement {
    /// Checks whether an alias or an address is asked for, which locks write otherwise.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.range.contains([':', '/'])
    }

    /// Checks whether a version is below the range, or another one than the only one asked for.
    pub(super) fn refuses(&self, version: &str) -> bool {
        let pin = self.range.strip_prefix("==");
        let pin = pin.filter(|pin| !pin.contains(['*', ',', '+', '=']));
        let is_other = pin.is_some_and(|pin| is_below(pin, version) == Some(true));
        !self.is_elsewhere() && (is_other || is_below(version, &self.range) == Some(true))
    }
}

/// Where a manifest asks for a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Main,
    Extra(String),
    Group(String),
}

/// Returns the requirements of pyproject.toml; where it names none, those of requirements.txt.
pub(super) fn python_requirements(project: &Project<'_>) -> Vec<Requirement> {
    let document = project.manifest("pyproject.toml");
    let mut found = Vec::new();
    let mut add_list = |list: &Value, place: Place| {
        let lines = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        found.extend(lines.filter_map(|line| parse_requirement(line, place.clone())));
    };
    add_list(&document["project"]["dependencies"], Place::Main);
    for (name, list) in rows(&document["project"]["optional-dependencies"]) {
        add_list(list, Place::Extra(name.clone()));
    }
    for (name, list) in rows(&document["dependency-groups"]) {
        add_list(list, Place::Group(name.clone()));
    }
    let poetry = &document["tool"]["poetry"];
    let groups = rows(&poetry["group"]).map(|(_, group)| group);
    let groups = groups.filter(|group| group["optional"] != true);
    let tables = groups.map(|group| &group["dependencies"]);
    let tables = tables.chain([&poetry["dependencies"], &poetry["dev-dependencies"]]);
    let asked = tables.flat_map(rows).filter(|(name, _)| *name != "python");
    found.extend(asked.map(|(name, value)| Requirement {
        name: normal(name),
        range: value.as_str().or(value["version"].as_str()).unwrap_or("path:").to_owned(),
        place: Place::Main,
        is_conditional: ["markers", "optional", "python"].iter().any(|key| !value[*key].is_null())
            || value.is_array(),
    }));
    if !found.iter().any(|one| one.place == Place::Main) {
        found.extend(requirements_of(
            project,
            Path::new("requirements.txt"),
            // How deep files of requirements include others.
            3,
        ));
    }
    for file in FILES {
        let mut all = requirements_of(project, Path::new(file), 0);
        all.iter_mut().for_each(|one| one.place = Place::Group(file.to_owned()));
        found.extend(all);
    }
    if !found.iter().any(|one| one.place == Place::Main) {
        let text = project.read("setup.cfg").unwrap_or_default();
        let lines = text.lines().skip_while(|line| !line.starts_with("install_requires"));
        let lines = lines.skip(1).take_while(|line| line.starts_with([' ', '\t']));
        found.extend(lines.filter_map(|line| parse_requirement(line, Place::Main)));
    }
    found
}

/// Files of requirements for developers.
const FILES: [&str; 5] = [
    "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt",
    "requirements-test.txt", "test-requirements.txt",
];

fn requirements_of(project: &Project<'_>, file: &Path, depth: usize) -> Vec<Requirement> {
    let text = file.to_str().and_then(|file| project.read(file)).unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("-r ") {
            Some(name) if depth > 0 => {
                found.extend(requirements_of(
                    project,
                    &file.with_file_name(name.trim()),
                    depth - 1,
                ));
            }
            _ => found.extend(parse_requirement(line, Place::Main)),
        }
    }
    found
}

pub(super) fn rows(table: &Value) -> impl Iterator<Item = (&String, &Value)> {
    table.as_object().into_iter().flatten()
}

// A requirement of PEP 508: `name[extra]>=1; marker`.
pub(super) fn parse_requirement(line: &str, place: Place) -> Option<Requirement> {
    let line = line.split(" #").next()?.trim();
    let (line, marker) = line.split_once(';').unwrap_or((line, ""));
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let end = line.find(|next| !letter(next)).unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(end)?;
    let range = rest.rsplit(']').next().unwrap_or(rest);
    let starts = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    starts.then(|| Requirement {
        name: normal(name),
        range: range.replace(' ', ""),
        place,
        is_conditional: !marker.trim().is_empty() || range.contains('@'),
    })
}

/// Returns the requirements of a package.json; those of peers are conditional.
pub(super) fn node_requirements(manifest: &str) -> Vec<Requirement> {
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    let is_asked = |(name, _): &(&String, &Value)| manifest["peerDependenciesMeta"][name].is_null();
    let table = |table| rows(&manifest[table]).map(move |row| (table == "peerDependencies", row));
    let tables = ["dependencies", "devDependencies", "peerDependencies"]
        .into_iter()
        .flat_map(table);
    let tables = tables.filter(|(_, row)| is_asked(row));
    let requirements = tables.map(|(is_conditional, (name, range))| Requirement {
        name: name.clone(),
        range: range.as_str().unwrap_or_default().to_owned(),
        place: Place::Main,
        is_conditional,
    });
    requirements.collect()
}

/// Returns the command that installs a declared package: with the extra or group that has it, else everything.
pub(super) fn install_command(project: &Project<'_>, manager: &Manager, package: &str) -> String {
    let requirements = python_requirements(project);
    let mut found = requirements.iter().filter(|one| one.name == normal(package));
    let place = found.next().map_or(&Place::Main, |one| &one.place);
    let line = match place {
        Place::Main => None,
        Place::Group(file) if file.ends_with(".txt") => {
            return project.command(&format!("{{pip}} install -r {file}"));
        }
        Place::Extra(name) => manager.extra.as_ref().zip(Some(name)),
        Place::Group(name) => manager.group.as_ref().zip(Some(name)),
    };
    let line = line.filter(|(_, name)| is_plain(name));
    let line = line.map_or_else(
        || manager.all.clone(),
        |(line, name)| line.replace("{name}", name),
    );
    project.command(&line)
}
