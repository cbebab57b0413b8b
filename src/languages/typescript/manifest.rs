//! Reads the parts of `package.json` that decide how names resolve.

use serde_json::{Map, Value};

/// The parts of a `package.json` that decide what its names mean.
pub(super) struct Manifest {
    /// The directory of the file; `""` at the root.
    pub(super) directory: String,
    pub(super) name: Option<String>,
    fields: Map<String, Value>,
}

const DEPENDENCIES: &[&str] = &[
    "dependencies", "devDependencies", "optionalDependencies", "peerDependencies",
];

impl Manifest {
    pub(super) fn parse(directory: &str, bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let Ok(Value::Object(fields)) = serde_json::from_slice(bytes) else {
            return None;
        };
        Some(Self {
            directory: directory.to_owned(),
            name: fields.get("name").and_then(Value::as_str).map(str::to_owned),
            fields,
        })
    }

    /// Workspace globs: an array, or an object with `packages`.
    pub(super) fn workspaces(&self) -> Vec<String> {
        let field = self.fields.get("workspaces");
        list_strings(field.and_then(|value| value.get("packages")).or(field))
    }

    /// Whether the package is among the dependencies of any sort.
    pub(super) fn declares(&self, name: &str) -> bool {
        DEPENDENCIES
            .iter()
            .any(|kind| self.fields.get(*kind).is_some_and(|packages| packages.get(name).is_some()))
    }

    /// The names of the dependencies of any sort.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = &str> {
        DEPENDENCIES
            .iter()
            .filter_map(|kind| self.fields.get(*kind)?.as_object())
            .flat_map(|packages| packages.keys().map(String::as_str))
    }

    /// Whether its `.js` files are modules.
    pub(super) fn is_module(&self) -> bool {
        self.fields.get("type").and_then(Value::as_str) == Some("module")
    }

    pub(super) fn has_exports(&self) -> bool {
        self.fields.get("exports").is_some_and(|value| !value.is_null())
    }

    /// What `exports` says about `subpath` (`.` or `./x`), best condition first.
    pub(super) fn exported(&self, subpath: &str, conditions: &[String]) -> Vec<String> {
        let Some(exports) = self.fields.get("exports") else {
            return Vec::new();
        };
        match exports {
            Value::Object(map) if map.keys().any(|key| key.starts_with('.')) => {
                Self::find_targets(map, subpath, conditions)
            }
            whole if subpath == "." => collect_all(whole, "", conditions),
            _ => Vec::new(),
        }
    }

    /// What `imports` says about `#name`.
    pub(super) fn imported(&self, specifier: &str, conditions: &[String]) -> Vec<String> {
        match self.fields.get("imports") {
            Some(Value::Object(map)) => Self::find_targets(map, specifier, conditions),
            _ => Vec::new(),
        }
    }

    /// The fields that name an entry file, most source-like first.
    pub(super) fn entries(&self) -> Vec<String> {
        ["source", "types", "typings", "module", "main", "browser"]
            .iter()
            .filter_map(|field| self.fields.get(*field)?.as_str())
            .map(str::to_owned)
            .collect()
    }

    fn find_targets(map: &Map<String, Value>, key: &str, conditions: &[String]) -> Vec<String> {
        if let Some(value) = map.get(key) {
            return collect_all(value, "", conditions);
        }
        let mut patterns: Vec<(&str, &str, &Value)> = map
            .iter()
            .filter_map(|(pattern, value)| {
                let (head, tail) = match pattern.split_once('*') {
                    Some(halves) => halves,
                    None => (pattern.strip_suffix('/').map(|_| pattern.as_str())?, ""),
                };
                let rest = key.strip_prefix(head)?.strip_suffix(tail)?;
                (!rest.is_empty()).then_some((head, rest, value))
            })
            .collect();
        patterns.sort_by_key(|(head, ..)| std::cmp::Reverse(head.len()));
        patterns
            .first()
            .map(|(_, rest, value)| collect_all(value, rest, conditions))
            .unwrap_or_default()
    }
}

fn collect_all(value: &Value, star: &str, conditions: &[String]) -> Vec<String> {
    let mut targets = Vec::new();
    collect_targets(value, conditions, 0, &mut targets);
    let mut seen = std::collections::HashSet::new();
    targets
        .iter()
        .map(|target| {
            if target.ends_with('/') {
                format!("{target}{star}")
            } else {
                target.replace('*', star)
            }
        })
        .filter(|target| seen.insert(target.clone()))
        .collect()
}

// Every target, ordered by how close its condition is to the source.
fn collect_targets(value: &Value, conditions: &[String], depth: usize, targets: &mut Vec<String>) {
    if depth > 16 {
        return;
    }
    match value {
        Value::String(target) => targets.push(target.clone()),
        Value::Array(choices) => {
            for choice in choices {
                collect_targets(choice, conditions, depth + 1, targets);
            }
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(condition, _)| rank_condition(condition, conditions));
            for (_, value) in entries {
                collect_targets(value, conditions, depth + 1, targets);
            }
        }
        _ => {}
    }
}

fn rank_condition(condition: &str, custom: &[String]) -> usize {
    const ORDER: &[&str] = &[
        "development", "types", "import", "module", "browser", "node", "default", "require",
    ];
    let is_custom = custom.iter().any(|name| name == condition);
    if is_custom || condition.contains("source") || condition == "src" {
        return 0;
    }
    // `types@>=5` is one of the versions.
    let name = condition.split('@').next();
    let place = ORDER.iter().position(|known| Some(*known) == name);
    place.map_or(ORDER.len() + 1, |at| at + 1)
}

/// The strings of a JSON array.
pub(super) fn list_strings(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
