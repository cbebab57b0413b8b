use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use serde_yaml_ng::Value as Yaml;

use super::Probe;
use super::rules::program_names;
use crate::exec::{is_program, on_path};
use crate::model::file_name;

const LOCAL: &[&str] = &["node_modules/.bin", ".venv/bin", "venv/bin"];
const COMPOSE: &[&str] = &["compose.yaml", "compose.yml", "docker-compose.yml"];
const EXAMPLES: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];
/// Larger files around a probe are not read.
const MAX_BYTES: u64 = 32 << 20;

/// Facts around a probe that a fix may use. Gathered before the choice, so that the choice is a function over
/// values. Names only: no value of a variable is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Of the programs a fix may use, those on the search path.
    pub programs: BTreeSet<String>,
    /// Program to its file in `node_modules/.bin` or in a virtual environment of the project.
    pub local: BTreeMap<String, String>,
    /// Packages that `package.json` names.
    pub npm: BTreeSet<String>,
    /// Ports that compose files publish.
    pub compose: Vec<ComposePort>,
    /// Example files of variables, each with the names it sets.
    pub examples: BTreeMap<String, BTreeSet<String>>,
}

/// A port of the host that a service of a compose file publishes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComposePort {
    /// The service.
    pub service: String,
    /// The port on the host.
    pub published: u16,
    /// The port inside the container.
    pub target: u16,
}

/// Reads the surroundings of a probe in its directory. A file that cannot be read counts as absent.
pub(super) fn gather(directory: &Path, probe: &Probe) -> Surroundings {
    let mut found = Surroundings::default();
    let there = program_names().filter(|name| on_path(name).is_some());
    found.programs.extend(there.map(str::to_owned));
    if let Some(program) = probe.words().first() {
        let name = file_name(program);
        let mut files = LOCAL.iter().map(|place| format!("{place}/{name}"));
        let file = files.find(|file| is_program(&directory.join(file)));
        found.local.extend(file.map(|file| (name.to_owned(), file)));
    }
    let read = |name: &&str| read_file(&directory.join(name)).unwrap_or_default();
    found.npm = node_packages(&read(&"package.json"));
    let compose = COMPOSE.iter().map(read);
    found.compose = compose.flat_map(|text| compose_ports(&text)).collect();
    let examples = EXAMPLES.iter();
    let examples = examples.map(|name| ((*name).to_owned(), variable_names(&read(name))));
    found.examples = examples.filter(|(_, names)| !names.is_empty()).collect();
    found
}

fn read_file(file: &Path) -> Option<String> {
    let about = file.metadata().ok()?;
    let is_small = about.is_file() && about.len() <= MAX_BYTES;
    is_small.then(|| std::fs::read_to_string(file).ok())?
}

fn node_packages(text: &str) -> BTreeSet<String> {
    let manifest: Value = serde_json::from_str(text).unwrap_or_default();
    let tables = ["dependencies", "devDependencies"].map(|table| manifest[table].as_object());
    let names = tables.into_iter().flatten().flat_map(|table| table.keys());
    names.cloned().collect()
}

fn variable_names(text: &str) -> BTreeSet<String> {
    let lines = text
        .lines()
        .map(|line| line.trim_start().trim_start_matches("export "));
    let names = lines.filter_map(|line| Some(line.split_once('=')?.0.trim()));
    let letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names = names.filter(|name| !name.is_empty() && name.chars().all(letter));
    names.map(str::to_owned).collect()
}

// Ports that the services of a compose file publish: the short form, and the long one with `published`.
fn compose_ports(text: &str) -> Vec<ComposePort> {
    let file: Yaml = serde_yaml_ng::from_str(text).unwrap_or_default();
    let services = file.get("services").and_then(Yaml::as_mapping);
    let services = services.into_iter().flatten();
    let named = services.filter_map(|(name, service)| Some((name.as_str()?, service)));
    let ports = named.flat_map(|(name, service)| {
        let ports = service.get("ports").and_then(Yaml::as_sequence);
        let pairs = ports.into_iter().flatten().filter_map(port_pair);
        pairs.map(move |(published, target)| ComposePort {
            service: name.to_owned(),
            published,
            target,
        })
    });
    ports.collect()
}

// `[IP:]HOST:CONTAINER[/PROTOCOL]`, where HOST may be `${NAME:-8080}`, or `{target: 80, published: "8080"}`.
fn port_pair(port: &Yaml) -> Option<(u16, u16)> {
    let Some(text) = port.as_str() else {
        let number = |field: &str| match port.get(field)? {
            Yaml::String(text) => text.parse().ok(),
            number => number.as_u64()?.try_into().ok(),
        };
        return Some((number("published")?, number("target")?));
    };
    let (before, target) = text.split('/').next()?.rsplit_once(':')?;
    let published = before.rsplit([':', '-']).next()?.trim_end_matches('}');
    Some((published.parse().ok()?, target.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{compose_ports, node_packages};

    #[test]
    fn reads_published_ports_of_both_forms() {
        let text = "version: '3'\nservices:\n  web:\n    image: x\n    ports:\n      - \"8080:3000\"\n      - 127.0.0.1:9000:9000/tcp # admin\n      - \"${PORT:-7000}:70\"\n    environment:\n      - \"1:2\"\n  db:\n    ports:\n    - target: 5432\n      published: \"15432\"\nvolumes:\n  ports:\n    - 1:1\n";
        let ports: Vec<_> = compose_ports(text)
            .into_iter()
            .map(|port| (port.service, port.published, port.target))
            .collect();
        let expected = [
            ("web", 8080, 3000),
            ("web", 9000, 9000),
            ("web", 7000, 70),
            ("db", 15432, 5432),
        ];
        assert_eq!(ports, expected.map(|(name, a, b)| (name.to_owned(), a, b)));
    }

    #[test]
    fn reads_packages_of_manifests() {
        let found = node_packages(
            r#"{"name": "x", "devDependencies": {"a": "1"}, "dependencies": {"@s/b": "^2"}}"#,
        );
        assert_eq!(Vec::from_iter(found).join(" "), "@s/b a");
    }
}
