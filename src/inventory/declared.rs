//! Reads the packages that a manifest declares.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::members::list_members;
use super::project::{Manager, Project, is_plain};
use crate::languages::{Lock, is_below, normal};
use crate::runners::pattern;
use crate::source::Distribution;

/// A package that a manifest asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Requirement {
    /// Its name; of Python in its normal form.
    pub(super) name: String,
    /// The range of versions, without blanks.
    pub(super) range: String,
    pub(super) place: Place,
    /// Whether it is only asked for on some machines.
    pub(super) is_conditional: bool,
    /// Its extras that are asked for.
    pub(super) extras: Vec<String>,
    /// When it is asked for (PEP 508).
    pub(super) marker: String,
    /// The package that asks for it; empty for the manifest.
    pub(super) by: String,
    /// The folder from which Node.js looks for it.
    pub(super) from: PathBuf,
}

impl Requirement {
    /// Checks whether an alias or an address is asked for, which locks write otherwise.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.range.contains([':', '/'])
    }

    /// Checks whether a version is outside the range: below it, at its open end, or another one than the only one.
    pub(super) fn refuses(&self, version: &str) -> bool {
        let is_outside = |part: &str| match (part.strip_prefix("=="), part.strip_prefix('<')) {
            (Some(pin), _) if pin.contains(['*', '+', '=', '^', '~', '<', '>', '-', 'x']) => false,
            (Some(pin), _) => {
                is_below(pin, version) == Some(true) || is_below(version, pin) == Some(true)
            }
            (_, Some(end)) if !end.starts_with('=') => is_below(version, end) == Some(false),
            _ => is_below(version, part) == Some(true),
        };
        let is_one = !self.is_elsewhere() && !self.range.contains('|');
        is_one && self.range.split(',').any(is_outside)
    }

    /// Checks whether its marker holds for a version of Python and the requested extras; an unknown marker does not
    /// hold.
    pub(super) fn applies(&self, python: &str, extras: &[String]) -> bool {
        let holds = |clause: &str| {
            let clause = clause.replace(['"', '\'', '(', ')'], "");
            match clause.split_whitespace().collect::<Vec<_>>()[..] {
                ["extra", "==", extra] => extras.contains(&normal(extra)),
                ["sys_platform", "==", name] => name == PLATFORM[0],
                ["sys_platform", "!=", name] => name != PLATFORM[0],
                ["python_version", operator @ ("<" | ">=" | "=="), version] => {
                    let asked =
                        parse_requirement(&format!("python{operator}{version}"), Place::Main);
                    python.starts_with('3') && asked.is_some_and(|asked| !asked.refuses(python))
                }
                _ => false,
            }
        };
        let is_nested = self.marker.contains('(') && self.marker.contains(" or ");
        let mut parts = self.marker.split(" or ").filter(|_| !is_nested);
        self.marker.is_empty() || parts.any(|part| part.split(" and ").all(holds))
    }

    /// Explains why the installed version does not satisfy the requirement. A locked version takes precedence; with
    /// `exact`, it must match.
    pub(super) fn unmet(&self, at: Option<&str>, lock: &Lock, exact: bool) -> Option<String> {
        let (name, range) = (&self.name, &self.range);
        let needs = format!("{} requires", self.by);
        let by = if self.by.is_empty() { "the manifest requires" } else { &needs };
        let Some(version) = at else {
            return Some(format!("`{name}` is not installed, but {by} it"));
        };
        let installed = format!("`{name}` {version} is installed, but ");
        match lock.versions.get(name).filter(|all| !all.is_empty()) {
            Some(all) if all.contains(version) || version.is_empty() => None,
            Some(all) if exact => {
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                Some(format!("{installed}the lock requires {}", all.join(" or ")))
            }
            _ => self.refuses(version).then(|| format!("{installed}{by} {range}")),
        }
    }
}

/// Where a manifest asks for a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Place {
    #[default]
    Main,
    Extra(String),
    Group(String),
    /// An environment that another tool makes: there it is installed by its name.
    Tool,
    /// A package of the workspace, or one that such a package asks for.
    Member,
}

/// The names of this system and its processor in Node.js; Python calls the system so too.
pub(super) const PLATFORM: [&str; 2] = [
    if cfg!(target_os = "macos") { "darwin" } else { "linux" },
    if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" },
];

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
    let environments = rows(&tool["hatch"]["envs"]).flat_map(|(_, environment)| rows(environment));
    let lists = environments.filter(|(key, _)| key.ends_with("dependencies"));
    lists.for_each(|(_, list)| add_list(list, &Place::Tool));
    let poetry = &tool["poetry"];
    let is_pipenv = project.find_manager(true).is_some_and(|row| row.file.starts_with("Pipfile"));
    let pipfile = if is_pipenv { project.manifest("Pipfile") } else { Value::Null };
    let groups = rows(&poetry["group"]).filter(|(_, group)| group["optional"] != true);
    let groups = groups.map(|(name, group)| match name.as_str() {
        "dev" | "test" | "tests" => (Place::Main, &group["dependencies"]),
        _ => (Place::Group(name.clone()), &group["dependencies"]),
    });
    let main = [poetry, &pipfile].into_iter().flat_map(rows);
    let main = main.filter(|(key, _)| key.ends_with("dependencies") || key.ends_with("packages"));
    let tables = groups.chain(main.map(|(_, table)| (Place::Main, table)));
    let asked = tables.flat_map(|(place, table)| rows(table).map(move |row| (place.clone(), row)));
    let asked = asked.filter(|(_, (name, _))| *name != "python");
    found.extend(asked.map(|(place, (name, value))| Requirement {
        place,
        name: normal(name),
        range: value.as_str().or(value["version"].as_str()).unwrap_or("path:").to_owned(),
        is_conditional: ["markers", "optional", "python"].iter().any(|key| !value[*key].is_null())
            || value.is_array(),
        extras: words(value["extras"].as_array().into_iter().flatten().filter_map(Value::as_str)),
        ..Requirement::default()
    }));
    if !found.iter().any(|one| one.place == Place::Main) {
        let file = Path::new("requirements.txt");
        found.extend(requirements_of(project, file, MAX_INCLUDED));
    }
    for file in FILES {
        let mut all = requirements_of(project, Path::new(file), 0);
        let place = match file.ends_with(".txt") {
            true => Place::Group(file.to_owned()),
            false => Place::Tool,
        };
        all.iter_mut().for_each(|one| one.place = place.clone());
        found.extend(all);
    }
    let has_main = found.iter().any(|one| one.place == Place::Main);
    let setup = ["setup.cfg", "tox.ini"].map(|file| requirements_of_settings(project, file));
    found.extend(setup.concat().into_iter().filter(|one| !has_main || one.place == Place::Tool));
    found
}

// What of a range no shell changes in quotes.
pattern!(PLAIN_RANGE, r"^[A-Za-z0-9.<>=!~,*+-]*");
pattern!(NOX_INSTALL, r"\.install\([^)]*");

// The names of extras in their normal form.
fn words<'w>(names: impl Iterator<Item = &'w str>) -> Vec<String> {
    names.map(normal).filter(|name| !name.is_empty()).collect()
}

// The requirements of setup.cfg, `install_requires` and the keys of `extras_require`, and those of tox.
fn requirements_of_settings(project: &Project<'_>, file: &str) -> Vec<Requirement> {
    let text = project.read(file).unwrap_or_default();
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
                ("[testenv]", "deps") => Some(Place::Tool),
                _ => None,
            };
        }
        found.extend(place.clone().and_then(|place| parse_requirement(asked, place)));
    }
    found
}

/// Files of requirements for developers, and those of conda and nox.
const FILES: [&str; 7] = [
    "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt",
    "requirements-test.txt", "test-requirements.txt", "environment.yml", "noxfile.py",
];

/// How deep files of requirements include others.
const MAX_INCLUDED: usize = 3;

pub(super) fn requirements_of(
    project: &Project<'_>,
    file: &Path,
    depth: usize,
) -> Vec<Requirement> {
    let mut text = file.to_str().and_then(|file| project.read(file)).unwrap_or_default();
    if file.ends_with("noxfile.py") {
        let calls = NOX_INSTALL.find_iter(&text);
        text = calls.map(|call| call.as_str().replace(['"', '\''], "\n")).collect();
    }
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
            let line = line.trim_start().trim_start_matches("- ");
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
    let (extras, range) = rest.split_once(']').unwrap_or(("", rest));
    let starts = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    starts.then(|| Requirement {
        name: normal(name),
        range: range.replace([' ', '(', ')'], ""),
        place,
        extras: words(extras.split(['[', ','])),
        marker: marker.trim().to_owned(),
        ..Requirement::default()
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
        is_conditional: table == "peerDependencies",
        ..Requirement::default()
    })
}

/// Returns the versions that settings of npm, pnpm or yarn force on all that ask for a package.
pub(super) fn overrides(project: &Project<'_>, manifest: &Value) -> Vec<Requirement> {
    let workspace = &project.manifest("pnpm-workspace.yaml");
    let tables = [manifest, &manifest["pnpm"], workspace].into_iter();
    let all = tables.flat_map(|table| node_table(table, "overrides"));
    let all = all.chain(node_table(manifest, "resolutions"));
    let all = all.filter(|one| one.range.split('.').count() == 3).map(|one| Requirement {
        range: format!("=={}", one.range),
        by: "a setting".to_owned(),
        ..one
    });
    all.collect()
}

/// Returns the command that installs a declared package: with the extra or group that has it, else everything.
pub(super) fn install_command(project: &Project<'_>, manager: &Manager, package: &str) -> String {
    let requirements = python_requirements(project);
    let mut found = requirements.iter().filter(|one| one.name == normal(package));
    let place = found.next().map_or(&Place::Main, |one| &one.place);
    // An extra for tests may ask for the one that has it.
    let own = &project.manifest("pyproject.toml")["project"]["name"];
    let own = own.as_str().map(normal);
    let has_it =
        |one: &&Requirement| matches!(place, Place::Extra(name) if one.extras.contains(name));
    let has_pytest =
        |place: &Place| requirements.iter().any(|one| one.name == "pytest" && one.place == *place);
    let wider = requirements.iter().filter(|one| own.as_ref() == Some(&one.name));
    let mut wider = wider.filter(has_it).map(|one| &one.place);
    let wider = wider.find(|wider| has_pytest(wider) && !has_pytest(place));
    let place = wider.unwrap_or(place);
    let line = match place {
        Place::Main | Place::Member => None,
        Place::Tool => return project.command(&format!("{} {package}", manager.one)),
        Place::Group(file) if file.ends_with(".txt") => {
            return project.command(&format!("{{pip}} install -r {file}"));
        }
        Place::Extra(name) => manager.extra.as_ref().zip(Some(name)),
        Place::Group(name) => manager.group.as_ref().zip(Some(name)),
    };
    let line = line.filter(|(_, name)| is_plain(name));
    let all = || manager.all.clone();
    let same = requirements.iter().filter(|one| one.place == *place);
    let same = same.filter_map(|one| Some((&one.name, PLAIN_RANGE.find(&one.range)?.as_str())));
    let names: String = same.map(|(name, range)| format!(" '{name}{range}'")).collect();
    let line = line.map_or_else(all, |(line, name)| line.replace("{name}", name));
    let line = line.replace(" {names}", &names);
    let mut line = project.command(&line);
    let mut there = project.installed.distributions().into_iter();
    let is_half = |one: &Distribution| normal(&one.name) == normal(package) && !one.is_whole;
    // pip believes the metadata.
    if line.contains("pip install") && there.any(|one| is_half(&one)) {
        line.push_str(" --force-reinstall");
    }
    line
}
