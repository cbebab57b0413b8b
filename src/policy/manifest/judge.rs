//! Judges a change of a manifest by the keys that differ: the rows of `manifests.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::format::Format;
use super::version::{is_python_requirement, is_registry_version};
use crate::model::{Code, PatchProblem, parse_rows};
use crate::policy::change::{ChangedFile, LET_PASS};
use crate::policy::globs::{PathRow, PathTable};

/// Whether a patch may add, change and remove dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dependencies {
    /// Versions that the registry has: a package is missing, or nobody knows what failed.
    #[default]
    Registry,
    /// None: the failure is another.
    Kept,
}

/// A manifest that a repair may change in part.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    #[serde(borrow)]
    names: Vec<&'static str>,
    format: Format,
    /// Keys that may change, `*` for any one key or any end of one and `**` for all below.
    may_change: BTreeMap<Permit, Vec<String>>,
}

impl PathRow for Manifest {
    fn globs(&self) -> &[&'static str] {
        &self.names
    }
}

static MANIFESTS: LazyLock<PathTable<Manifest>> =
    LazyLock::new(|| PathTable::new(parse_rows(embedded!("policy/manifest/manifests.toml"))));

/// How a key may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Permit {
    /// In any way.
    Free,
    /// As requirements of Python, in a list or one a line.
    Python,
    /// As dependencies whose value is a version or a table.
    Table,
}

impl Manifest {
    /// Returns how the key at a path may change; `None` when it may not.
    fn permit(&self, path: &[&str]) -> Option<Permit> {
        let mut rows = self.may_change.iter();
        let row = rows.find(|(_, keys)| keys.iter().any(|key| key_fits(key, path)));
        row.map(|(permit, _)| *permit)
    }
}

fn key_fits(row: &str, path: &[&str]) -> bool {
    if row.is_empty() {
        return path.is_empty();
    }
    let mut keys = path.iter();
    for part in row.split('.') {
        let Some(key) = keys.next() else {
            return false;
        };
        match part.strip_suffix('*') {
            Some("*") => return true,
            Some(start) if key.starts_with(start) => {}
            _ if *key == part => {}
            _ => return false,
        }
    }
    keys.next().is_none()
}

/// Whether a settings file says the same before and after, whatever its spelling.
pub(in crate::policy) fn means_the_same(file: &ChangedFile<'_>) -> bool {
    let before = file
        .before
        .and_then(|bytes| Format::from_settings_name(file.path)?.read(bytes).ok());
    before.is_some()
        && before
            == file
                .after
                .and_then(|bytes| Format::from_settings_name(file.path)?.read(bytes).ok())
}

/// Whether a file is a manifest that has rules.
pub(in crate::policy) fn is_manifest(path: &str) -> bool {
    MANIFESTS.find(path).is_some()
}

/// Finds the changes of a manifest that a patch may not make, one problem for each kind.
pub(in crate::policy) fn judge_manifest(
    file: &ChangedFile<'_>,
    dependencies: Dependencies,
) -> Vec<PatchProblem> {
    let Some(manifest) = MANIFESTS.find(file.path) else {
        return Vec::new();
    };
    let read = |bytes: &[u8], when: &str| {
        manifest.format.read(bytes).map_err(|why| {
            let why = why.lines().next().unwrap_or_default();
            refuse(
                Code::P709,
                &format!("the manifest {when} not valid ({why})"),
            )
        })
    };
    let trees = match (file.before, file.after) {
        (_, None) => Err(refuse(Code::P704, "the patch deletes the manifest")),
        (before, after) if before == after && file.modes.0 == file.modes.1 => return Vec::new(),
        // The mode of a symbolic link.
        _ if file.modes.1 == 0o120_000 => {
            Err(refuse(Code::P704, "the patch makes the manifest a symlink"))
        }
        (before, Some(after)) => {
            let before = before.map_or(Ok(Value::Null), |before| read(before, "is"));
            before.and_then(|before| Ok((before, read(after, "would be")?)))
        }
    };
    let (before, after) = match trees {
        Ok(trees) => trees,
        Err(problem) => return vec![problem],
    };
    let mut differences = Vec::new();
    compare(Vec::new(), Some(&before), Some(&after), &mut differences);
    let mut reported = BTreeSet::new();
    let problems = differences
        .iter()
        .filter_map(|change| judge_key(manifest, change, dependencies));
    let first = problems.filter(|(code, _)| reported.insert(*code));
    first.map(|(code, message)| refuse(code, &message)).collect()
}

fn refuse(code: Code, message: &str) -> PatchProblem {
    PatchProblem::new(code, format!("{message}: {LET_PASS}"))
}

fn judge_key(
    manifest: &Manifest,
    difference: &Difference<'_>,
    dependencies: Dependencies,
) -> Option<(Code, String)> {
    let path = &difference.path;
    let key = if path.is_empty() { "all of it".to_owned() } else { path.join(".") };
    match manifest.permit(path) {
        None => Some((Code::P704, format!("the patch changes `{key}`"))),
        Some(Permit::Free) => None,
        Some(permit) => match foreign_dependency(permit, difference) {
            Some(name) => Some((
                Code::P704,
                format!("the patch changes where the dependency `{name}` of `{key}` comes from"),
            )),
            None if dependencies == Dependencies::Registry => None,
            None => Some((
                Code::P708,
                format!("the patch changes the dependency `{key}`, and no package is missing"),
            )),
        },
    }
}

/// Returns the first new dependency that does not come from the registry under its own name.
fn foreign_dependency(permit: Permit, difference: &Difference<'_>) -> Option<String> {
    let after = difference.after?;
    let name = difference.path.last().copied().unwrap_or_default();
    if permit == Permit::Python {
        let old = list_items(difference.before);
        let mut items = list_items(Some(after)).into_iter();
        return items.find(|item| !old.contains(item) && !is_python_requirement(item));
    }
    // One key of a dependency's own table changes alone: it is checked as such a table.
    let group = difference.path.iter().rev().nth(2);
    let is_field =
        group.is_some_and(|key| key.ends_with("dependencies") || key.ends_with("packages"));
    let own = Value::Object(Map::from_iter([(name.to_owned(), after.clone())]));
    let is_fine = is_registry_version(if is_field { &own } else { after });
    (!is_fine).then(|| name.to_owned())
}

/// Returns the requirements of a list, of a text with one a line, or of a list that includes others.
fn list_items(value: Option<&Value>) -> Vec<String> {
    match value {
        None => Vec::new(),
        Some(Value::Array(items)) => {
            items.iter().filter(|item| !is_include(item)).map(item_text).collect()
        }
        Some(other) => {
            let whole = item_text(other);
            // Hashes may change, since they only narrow the choice; a comment ends a requirement.
            let lines = whole.lines().map(|line| {
                let words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
                let words = words.filter(|word| !word.starts_with("--hash=sha256:"));
                words.collect::<Vec<_>>().join(" ")
            });
            lines.filter(|line| !line.is_empty()).collect()
        }
    }
}

fn is_include(item: &Value) -> bool {
    item.as_object()
        .is_some_and(|table| table.len() == 1 && table.contains_key("include-group"))
}

fn item_text(item: &Value) -> String {
    item.as_str().map_or_else(|| item.to_string(), str::to_owned)
}

/// One place where two values differ. Lists and single values differ as a whole.
#[derive(Debug)]
struct Difference<'v> {
    /// The keys from the top.
    path: Vec<&'v str>,
    before: Option<&'v Value>,
    after: Option<&'v Value>,
}

fn compare<'v>(
    path: Vec<&'v str>,
    before: Option<&'v Value>,
    after: Option<&'v Value>,
    found: &mut Vec<Difference<'v>>,
) {
    static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    if before == after {
        return;
    }
    let table = |value: Option<&'v Value>| match value {
        None => Some(&*NOTHING),
        Some(Value::Null) if path.is_empty() => Some(&*NOTHING),
        Some(value) => value.as_object(),
    };
    // A table that comes or goes is checked by its keys; an empty one has none.
    if let (Some(old), Some(new)) = (table(before), table(after))
        && !(old.is_empty() && new.is_empty())
    {
        let added = new.keys().filter(|key| !old.contains_key(*key));
        for key in old.keys().chain(added) {
            let path = [path.as_slice(), &[key.as_str()]].concat();
            compare(path, old.get(key), new.get(key), found);
        }
        return;
    }
    found.push(Difference {
        path,
        before,
        after,
    });
}

#[cfg(test)]
mod tests {
    use super::{Difference, MANIFESTS, Permit, compare};
    use serde_json::{Value, json};

    #[test]
    fn names_are_globs_and_lead_to_rules() {
        assert!(MANIFESTS.count().0 > 6 && MANIFESTS.count().2 == 0);
        for path in [
            "package.json", "a/package.json", "Requirements-dev.txt", "requirements/ci.txt",
            "tsconfig.build.json",
        ] {
            assert!(MANIFESTS.find(path).is_some(), "{path}");
        }
        for path in ["src/package.json.ts", "requirements.md", "my.toml"] {
            assert!(MANIFESTS.find(path).is_none(), "{path}");
        }
    }

    #[test]
    fn refuses_unlisted_keys() {
        let permit = |path: &[&str]| MANIFESTS.find("package.json").unwrap().permit(path);
        assert_eq!(permit(&["version"]), Some(Permit::Free));
        assert_eq!(permit(&["bugs", "url"]), Some(Permit::Free));
        assert_eq!(permit(&["dependencies", "a"]), Some(Permit::Table));
        assert_eq!(permit(&["dependencies", "a", "b"]), None);
        assert_eq!(permit(&["dependencies"]), None);
        assert_eq!(permit(&["scripts", "test"]), None);
        assert_eq!(permit(&[]), None);
    }

    #[test]
    fn compare_names_deepest_keys() {
        for (before, after, expected) in [
            (
                json!({"a": 1, "b": {"c": 2}}),
                json!({"b": {"c": 2}, "a": 1}),
                "",
            ),
            (
                json!({"b": {"c": 2}}),
                json!({"b": {"c": 3, "d": 1}}),
                "b.c b.d",
            ),
            (json!({}), json!({"b": {"c": {"d": 1}}}), "b.c.d"),
            (json!({"b": {"c": 1}}), json!({}), "b.c"),
            (json!({}), json!({"b": {}}), "b"),
            (json!({"b": [1, 2]}), json!({"b": [2, 1]}), "b"),
            (json!({"b": "1"}), json!({"b": 1}), "b"),
            (Value::Null, json!({"b": 1}), "b"),
        ] {
            let mut found: Vec<Difference<'_>> = Vec::new();
            compare(Vec::new(), Some(&before), Some(&after), &mut found);
            let paths: Vec<String> = found.iter().map(|found| found.path.join(".")).collect();
            assert_eq!(paths.join(" "), expected, "{before} {after}");
        }
    }
}
