use std::collections::BTreeSet;

use serde_json::{Map, Value};
use serde_yaml_ng::Value as Yaml;

use super::ComposePort;
use super::programs::{Manifest, Registry};
use crate::policy::python_name;

/// Packages that a manifest or a lock names, by its row of the table.
pub(super) fn packages(file: &str, text: &str, row: &Manifest) -> BTreeSet<String> {
    let document: Value = match file.rsplit_once('.') {
        Some((_, "json")) => serde_json::from_str(text).unwrap_or_default(),
        Some((_, "txt")) => text.lines().collect(),
        _ => toml::from_str(text).unwrap_or_default(),
    };
    let lines = document.is_array().then_some("*");
    let keys = row.keys.iter().flat_map(|path| at(&document, path));
    let keys = keys.filter_map(Value::as_object).flat_map(Map::keys);
    let values = row.values.iter().map(String::as_str).chain(lines);
    let values = values.flat_map(|path| at(&document, path));
    let names = keys
        .map(String::as_str)
        .chain(values.filter_map(Value::as_str));
    let names = names.filter_map(|name| match &row.behind {
        Some(behind) => Some(name.rsplit_once(behind.as_str())?.1),
        None => Some(name),
    });
    match row.of {
        Registry::Npm => names.map(str::to_owned).collect(),
        Registry::Python => names.filter_map(requirement).collect(),
    }
}

// What a path of keys leads to, `*` to all of a table or a list.
fn at<'v>(document: &'v Value, path: &str) -> Vec<&'v Value> {
    path.split('.').fold(vec![document], |found, key| {
        let inner = found.into_iter().flat_map(|value| match (key, value) {
            ("*", Value::Array(all)) => all.iter().collect(),
            ("*", Value::Object(all)) => all.values().collect(),
            _ => Vec::from_iter(value.get(key)),
        });
        inner.collect()
    })
}

fn requirement(line: &str) -> Option<String> {
    let line = line.trim();
    let letter = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let end = line.find(|it| !letter(it)).unwrap_or(line.len());
    let name = line
        .get(..end)
        .filter(|name| name.starts_with(|it: char| it.is_ascii_alphanumeric()))?;
    Some(python_name(name))
}

/// Names that a file of variables sets.
pub(super) fn variable_names(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("export ").unwrap_or(line);
            let (name, _) = line.split_once('=')?;
            let name = name.trim();
            let letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
            (!name.is_empty() && name.chars().all(letter)).then(|| name.to_owned())
        })
        .collect()
}

/// Ports that the services of a compose file publish: the short form, and the long one with
/// `published`. What is understood in neither is left out.
pub(super) fn compose_ports(text: &str) -> Vec<ComposePort> {
    let Ok(mut file) = serde_yaml_ng::from_str::<Yaml>(text) else {
        return Vec::new();
    };
    // A merge of what is no mapping leaves the file as it was written.
    let _ = file.apply_merge();
    let services = file.get("services").and_then(Yaml::as_mapping);
    let mut found = Vec::new();
    for (name, service) in services.into_iter().flatten() {
        let ports = service.get("ports").and_then(Yaml::as_sequence);
        for port in ports.into_iter().flatten() {
            let pair = port.as_str().map_or_else(|| long_port(port), short_port);
            if let (Some(name), Some((published, target))) = (name.as_str(), pair) {
                found.push(ComposePort {
                    service: name.to_owned(),
                    published,
                    target,
                });
            }
        }
    }
    found
}

// `{target: 80, published: "8080"}`.
fn long_port(port: &Yaml) -> Option<(u16, u16)> {
    let number = |field: &str| -> Option<u16> {
        let value = port.get(field)?;
        let plain = value.as_u64().and_then(|it| it.try_into().ok());
        plain.or_else(|| value.as_str()?.parse().ok())
    };
    let published = number("published")?;
    Some((published, number("target").unwrap_or(published)))
}

// `[IP:]HOST:CONTAINER[/PROTOCOL]`, where HOST may be `${NAME:-8080}`.
fn short_port(text: &str) -> Option<(u16, u16)> {
    let text = text.split('/').next()?;
    let (before, target) = text.rsplit_once(':')?;
    let published = match before.rsplit_once(":-") {
        Some((_, default)) => default.trim_end_matches('}'),
        None => before.rsplit(':').next()?,
    };
    Some((published.parse().ok()?, target.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{compose_ports, packages, variable_names};
    use crate::heal::programs::PROGRAMS;

    #[test]
    fn published_ports_of_both_forms_are_read() {
        let text = "version: '3'\nservices:\n  web:\n    image: x\n    ports:\n      - \"8080:3000\"\n      - 127.0.0.1:9000:9000/tcp # admin\n      - \"${PORT:-7000}:70\"\n    environment:\n      - \"1:2\"\n  db:\n    ports:\n    - target: 5432\n      published: \"15432\"\n  api: &api\n    ports: [\"81:80\"]\n  other:\n    <<: *api\nvolumes:\n  ports:\n    - 1:1\n";
        let ports: Vec<_> = compose_ports(text)
            .into_iter()
            .map(|it| (it.service, it.published, it.target))
            .collect();
        let expected = [
            ("web", 8080, 3000),
            ("web", 9000, 9000),
            ("web", 7000, 70),
            ("db", 15432, 5432),
            ("api", 81, 80),
            ("other", 81, 80),
        ];
        assert_eq!(ports, expected.map(|(name, a, b)| (name.to_owned(), a, b)));
    }

    #[test]
    fn manifests_name_their_packages() {
        for (file, text, expected) in [
            (
                "pyproject.toml",
                "[project]\ndependencies = [\"mcp[cli]>=1\", \"Foo_Bar ; x\"]\n[dependency-groups]\ndev = [\"pytest\", {include-group = \"x\"}]\n[tool.poetry.group.t.dependencies]\nruff = \"*\"\n",
                "foo-bar mcp pytest ruff",
            ),
            (
                "requirements.txt",
                "# x\n-r a.txt\nA.B==1\n\nc @ https://x\n",
                "a-b c",
            ),
            (
                "package-lock.json",
                r#"{"packages": {"": {}, "web": {}, "node_modules/a/node_modules/@s/b": {}}}"#,
                "@s/b",
            ),
            (
                "package.json",
                r#"{"name": "x", "devDependencies": {"a": "1"}, "dependencies": {"@s/b": "^2"}}"#,
                "@s/b a",
            ),
            (
                "uv.lock",
                "[[package]]\nname = \"Foo.Bar\"\nversion = \"1\"\n",
                "foo-bar",
            ),
        ] {
            let named = |files: &[String]| files.iter().any(|it| it == file);
            let mut rows = PROGRAMS.manifest.iter();
            let row = rows.find(|it| named(&it.files)).unwrap();
            let found: Vec<_> = packages(file, text, row).into_iter().collect();
            assert_eq!(found.join(" "), expected, "{file}");
        }
        let names = |set: std::collections::BTreeSet<String>| set.into_iter().collect::<Vec<_>>();
        assert_eq!(
            names(variable_names("export A=1\n# B=2\n C_D =x\nno\n")),
            ["A", "C_D"]
        );
    }
}
