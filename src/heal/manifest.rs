use std::collections::BTreeSet;

use serde_json::Value;
use serde_yaml_ng::Value as Yaml;

use super::ComposePort;
use crate::policy::python_name;

/// Packages that a `package.json` asks for.
pub(super) fn package_json(text: &str) -> BTreeSet<String> {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    ["dependencies", "devDependencies", "optionalDependencies"]
        .iter()
        .filter_map(|key| document.get(key)?.as_object())
        .flat_map(|packages| packages.keys().cloned())
        .collect()
}

/// Packages that a `package-lock.json` holds.
pub(super) fn package_lock(text: &str) -> BTreeSet<String> {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let packages = document.get("packages").and_then(Value::as_object);
    let paths = packages.into_iter().flat_map(|packages| packages.keys());
    paths
        .filter_map(|path| Some(path.rsplit_once("node_modules/")?.1.to_owned()))
        .collect()
}

/// Packages of `requirements.txt`.
pub(super) fn requirements(text: &str) -> BTreeSet<String> {
    text.lines().filter_map(requirement).collect()
}

/// Packages of `pyproject.toml`: PEP 621, its groups, and poetry's tables.
pub(super) fn pyproject(text: &str) -> BTreeSet<String> {
    let Ok(document) = text.parse::<toml::Table>() else {
        return BTreeSet::new();
    };
    let mut found = BTreeSet::new();
    let project = document.get("project");
    let lists = project.and_then(|it| it.get("dependencies"));
    let groups = [
        project.and_then(|it| it.get("optional-dependencies")),
        document.get("dependency-groups"),
    ];
    let groups = groups
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_table);
    let lists = lists
        .into_iter()
        .chain(groups.flat_map(toml::Table::values));
    for list in lists.filter_map(toml::Value::as_array) {
        found.extend(list.iter().filter_map(|it| requirement(it.as_str()?)));
    }
    let poetry = document.get("tool").and_then(|it| it.get("poetry"));
    let mut tables: Vec<_> = poetry
        .into_iter()
        .filter_map(|it| it.get("dependencies"))
        .collect();
    let groups = poetry.and_then(|it| it.get("group")?.as_table());
    let groups = groups.into_iter().flat_map(toml::Table::values);
    tables.extend(groups.filter_map(|it| it.get("dependencies")));
    for table in tables.into_iter().filter_map(toml::Value::as_table) {
        found.extend(table.keys().map(|name| python_name(name)));
    }
    found
}

/// Packages of `uv.lock` and `poetry.lock`.
pub(super) fn python_lock(text: &str) -> BTreeSet<String> {
    let document = text.parse::<toml::Table>().unwrap_or_default();
    let packages = document.get("package").and_then(toml::Value::as_array);
    let packages = packages.into_iter().flatten();
    packages
        .filter_map(|it| Some(python_name(it.get("name")?.as_str()?)))
        .collect()
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
    use super::{compose_ports, package_lock, pyproject, requirements, variable_names};

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
        let names = |set: std::collections::BTreeSet<String>| set.into_iter().collect::<Vec<_>>();
        let text = "[project]\ndependencies = [\"mcp[cli]>=1\", \"Foo_Bar ; x\"]\n[dependency-groups]\ndev = [\"pytest\", {include-group = \"x\"}]\n[tool.poetry.group.t.dependencies]\nruff = \"*\"\n";
        assert_eq!(names(pyproject(text)), ["foo-bar", "mcp", "pytest", "ruff"]);
        assert_eq!(
            names(requirements("# x\n-r a.txt\nA.B==1\n\nc @ https://x\n")),
            ["a-b", "c"]
        );
        let text = r#"{"packages": {"": {}, "node_modules/a/node_modules/@s/b": {}}}"#;
        assert_eq!(names(package_lock(text)), ["@s/b"]);
        assert_eq!(
            names(variable_names("export A=1\n# B=2\n C_D =x\nno\n")),
            ["A", "C_D"]
        );
    }
}
