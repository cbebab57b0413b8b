//! Reads the packages that a manifest declares.

use std::path::Path;

use serde_json::Value;

use super::members::list_members;
use super::project::{Manager, Project, is_plain};
use super::versions::is_below;
use crate::languages::{Lock, normal};
use crate::source::Distribution;

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

    /// Checks whether a version is outside the range: below it, at its open end, or another one than the only one.
    pub(super) fn refuses(&self, version: &str) -> bool {
        let is_outside = |part: &str| match (part.strip_prefix("=="), part.strip_prefix('<')) {
            (Some(pin), _) if pin.contains(['*', '+', '=']) => false,
            (Some(pin), _) => {
                is_below(pin, version) == Some(true) || is_below(version, pin) == Some(true)
            }
            (_, Some(end)) if !end.starts_with('=') => is_below(version, end) == Some(false),
            _ => is_below(version, part) == Some(true),
        };
        let is_one = !self.is_elsewhere() && !self.range.contains('|');
        is_one && self.range.split(',').any(is_outside)
    }

    /// Tells why the version that is there is not what something asks for; a lock may overrule it.
    pub(super) fn unmet(&self, there: Option<&String>, lock: &Lock, by: &str) -> Option<String> {
        let (name, range) = (&self.name, &self.range);
        let Some(version) = there else {
            return Some(format!("`{name}` is not installed, and {by} it"));
        };
        let mut locked = lock.versions.get(name).into_iter().flatten();
        let is_refused = self.refuses(version) && !locked.any(|one| one == version);
        is_refused.then(|| format!("`{name}` {version} is installed, and {by} {range}"))
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
    let mut add_list = |list: &Value, place: &Place| {
        let lines = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        found.extend(lines.filter_map(|line| parse_requirement(line, place.clone())));
    };
    let (own, tool) = (&document["project"], &document["tool"]);
    add_list(&own["dependencies"], &Place::Main);
    rows(&own["optional-dependencies"])
        .for_each(|(name, list)| add_list(list, &Place::Extra(name.clone())));
    let groups = rows(&document["dependency-groups"]).chain(rows(&tool["pdm"]["dev-dependencies"]));
    groups.for_each(|(name, list)| add_list(list, &Place::Group(name.clone())));
    let poetry = &tool["poetry"];
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
        let file = Path::new("requirements.txt");
        found.extend(requirements_of(project, file, MAX_INCLUDED));
    }
    for file in FILES {
        let mut all = requirements_of(project, Path::new(file), 0);
        all.iter_mut().for_each(|one| one.place = Place::Group(file.to_owned()));
        found.extend(all);
    }
    if !found.iter().any(|one| one.place == Place::Main) {
        found.extend(requirements_of_setup(project));
    }
    found
}

// The requirements of setup.cfg: `install_requires`, and the keys of `extras_require`.
fn requirements_of_setup(project: &Project<'_>) -> Vec<Requirement> {
    let text = project.read("setup.cfg").unwrap_or_default();
    let (mut section, mut place, mut found) = ("", None, Vec::new());
    for line in text.lines() {
        let (key, rest) = line.split_once('=').unwrap_or((line, ""));
        let mut asked = line;
        if line.starts_with('[') {
            (section, place) = (line, None);
        } else if !line.starts_with([' ', '\t']) {
            asked = rest;
            place = match (section, key.trim()) {
                ("[options]", "install_requires") => Some(Place::Main),
                ("[options.extras_require]", name) => Some(Place::Extra(name.to_owned())),
                _ => None,
            };
        }
        found.extend(place.clone().and_then(|place| parse_requirement(asked, place)));
    }
    found
}

/// Files of requirements for developers.
const FILES: [&str; 5] = [
    "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt",
    "requirements-test.txt", "test-requirements.txt",
];

/// How deep files of requirements include others.
const MAX_INCLUDED: usize = 3;

fn requirements_of(project: &Project<'_>, file: &Path, depth: usize) -> Vec<Requirement> {
    let text = file.to_str().and_then(|file| project.read(file)).unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("-r ").filter(|_| depth > 0) {
            let file = file.with_file_name(name.trim());
            found.extend(requirements_of(project, &file, depth - 1));
        } else if let Some(folder) = line.trim_start_matches("-e ").strip_prefix("./") {
            let folder = folder.split('[').next();
            let members = list_members(project.source, true).into_iter();
            let local = members.filter(|one| Some(one.folder.as_str()) == folder);
            found.extend(local.filter_map(|one| parse_requirement(&one.name, Place::Main)));
        } else {
            found.extend(parse_requirement(line, Place::Main));
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
        range: range.replace([' ', '(', ')'], ""),
        place,
        is_conditional: !marker.trim().is_empty() || range.contains('@'),
    })
}

/// Returns the requirements of a package.json; those of peers are conditional.
pub(super) fn node_requirements(manifest: &Value) -> Vec<Requirement> {
    let tables = ["dependencies", "devDependencies", "peerDependencies"];
    let all = tables.into_iter().flat_map(|table| node_table(manifest, table));
    all.filter(|one| manifest["peerDependenciesMeta"][&one.name].is_null())
        .collect()
}

/// Returns the requirements of a table of a package.json.
pub(super) fn node_table<'m>(
    manifest: &'m Value,
    table: &'m str,
) -> impl Iterator<Item = Requirement> {
    rows(&manifest[table]).map(move |(name, range)| Requirement {
        name: name.clone(),
        range: range.as_str().unwrap_or_default().to_owned(),
        place: Place::Main,
        is_conditional: table == "peerDependencies",
    })
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
    let all = || manager.all.clone();
    let line = line.map_or_else(all, |(line, name)| line.replace("{name}", name));
    let mut line = project.command(&line);
    let mut there = project.installed.distributions().into_iter();
    let is_half = |one: &Distribution| normal(&one.name) == normal(package) && !one.is_whole;
    // pip believes the metadata.
    if line.contains("pip install") && there.any(|one| is_half(&one)) {
        line.push_str(" --force-reinstall");
    }
    line
}
