use std::collections::{BTreeMap, BTreeSet};

use super::format::Format;
use super::rules::{Manifest, Permit, manifest};
use super::tree::Tree;
use super::version::{is_npm, is_python, is_table_version};
use crate::model::{Code, PatchProblem};
use crate::policy::change::{ChangedFile, LET_PASS};
use crate::policy::test_files::is_test_runner;

/// Whether a patch may add, change and remove dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dependencies {
    /// Versions that the registry has: a package is missing, or nobody knows what failed.
    #[default]
    Registry,
    /// None: the failure is another.
    Kept,
}

/// What a patch changes in a manifest that it may not, a problem for each kind of it.
pub(in crate::policy) fn manifest_change(
    file: &ChangedFile<'_>,
    dependencies: Dependencies,
) -> Vec<PatchProblem> {
    let Some(rules) = manifest(file.path) else {
        return Vec::new();
    };
    let Some(after) = file.after else {
        return vec![refused(Code::P704, "the patch takes the manifest away")];
    };
    if file.before == Some(after) && file.modes.0 == file.modes.1 {
        return Vec::new();
    }
    if file.modes.1 == LINK {
        return vec![refused(Code::P704, "the patch makes the manifest a link")];
    }
    let before = match file.before.map(|bytes| rules.format.read(bytes)) {
        None => Tree::empty(),
        Some(Ok(tree)) => tree,
        Some(Err(why)) => return vec![unreadable("is", &why)],
    };
    let after = match rules.format.read(after) {
        Ok(tree) => tree,
        Err(why) => return vec![unreadable("would be", &why)],
    };
    let mut reported = BTreeSet::new();
    differences(&before, &after)
        .iter()
        .filter_map(|difference| judge(rules, difference, dependencies))
        .filter(|(code, _)| reported.insert(*code))
        .map(|(code, message)| refused(code, &message))
        .collect()
}

const LINK: u32 = 0o120_000;

/// Whether a settings file says the same before and after, whatever its spelling.
pub(in crate::policy) fn means_the_same(file: &ChangedFile<'_>) -> bool {
    let read = |bytes: &[u8]| Format::of_settings(file.path)?.read(bytes).ok();
    match (file.before.and_then(read), file.after.and_then(read)) {
        (Some(before), Some(after)) => before == after,
        _ => false,
    }
}

/// Whether a file is a manifest that has rules.
pub(in crate::policy) fn is_manifest(path: &str) -> bool {
    manifest(path).is_some()
}

/// The name of a Python package as registries compare it: lower case, runs of `-`, `_` and `.` are
/// one `-`.
#[must_use]
pub fn python_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(['-', '_', '.'])
        .filter(|it| !it.is_empty())
        .collect();
    words.join("-")
}

fn judge(
    rules: &Manifest,
    difference: &Difference<'_>,
    dependencies: Dependencies,
) -> Option<(Code, String)> {
    let key = difference.path.join(".");
    let Some(permit) = rules.permit(&difference.path) else {
        let key = if key.is_empty() { "all of it" } else { &key };
        return Some((Code::P704, format!("the patch changes `{key}`")));
    };
    if permit == Permit::Alias {
        let name = difference.path.last().copied().unwrap_or_default();
        return (is_test_runner(name.trim_end_matches("/*")) || name == "*").then(|| {
            (
                Code::P704,
                format!("the patch changes `{key}`, which leads to a test runner"),
            )
        });
    }
    if permit == Permit::Stricter {
        let loosens = !difference.after.is_some_and(Tree::is_on);
        return loosens.then(|| (Code::P704, format!("the patch changes `{key}`")));
    }
    if !permit.is_dependency() {
        return None;
    }
    if let Some(name) = foreign(permit, difference) {
        let message =
            format!("the patch changes where the dependency `{name}` of `{key}` comes from");
        return Some((Code::P704, message));
    }
    (dependencies == Dependencies::Kept).then(|| {
        let message =
            format!("the patch changes the dependency `{key}`, and no package is missing");
        (Code::P708, message)
    })
}

// The first new dependency that does not come from the registry under its own name.
fn foreign(permit: Permit, difference: &Difference<'_>) -> Option<String> {
    let after = difference.after?;
    let name = || difference.path.last().copied().unwrap_or_default();
    match permit {
        Permit::Npm => (!is_npm(name(), after)).then(|| name().to_owned()),
        Permit::Table => {
            // One key of a dependency's own table changes alone: the table is judged by that key.
            let parts = difference.path.len();
            let in_table = parts >= 2
                && difference
                    .path
                    .get(parts - 2)
                    .is_some_and(|above| !is_group(above));
            let fits = if in_table {
                let table = [(name().to_owned(), after.clone())];
                is_table_version(&Tree::Table(table.into_iter().collect()))
            } else {
                is_table_version(after)
            };
            (!fits).then(|| name().to_owned())
        }
        _ => {
            let old = items(difference.before);
            items(Some(after))
                .into_iter()
                .find(|item| !old.contains(item) && !is_python(item))
        }
    }
}

fn is_group(key: &str) -> bool {
    key.ends_with("dependencies") || key.ends_with("packages")
}

// The requirements of a list, a text with one a line, or a list that includes other lists.
fn items(tree: Option<&Tree>) -> Vec<String> {
    match tree {
        Some(Tree::Text(text)) => {
            let lines = text.lines().map(str::trim);
            lines
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(str::to_owned)
                .collect()
        }
        Some(Tree::List(list)) => list
            .iter()
            .filter(|item| !is_include(item))
            .map(|item| match item {
                Tree::Text(text) => text.clone(),
                other => format!("{other:?}"),
            })
            .collect(),
        Some(other) => vec![format!("{other:?}")],
        None => Vec::new(),
    }
}

fn is_include(item: &Tree) -> bool {
    item.table()
        .is_some_and(|table| table.len() == 1 && table.contains_key("include-group"))
}

fn unreadable(when: &str, why: &str) -> PatchProblem {
    let why: String = why
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(200)
        .collect();
    refused(
        Code::P709,
        &format!("the manifest {when} no valid one ({why})"),
    )
}

fn refused(code: Code, message: &str) -> PatchProblem {
    PatchProblem::new(code, format!("{message}: {LET_PASS}"))
}

/// One place where two trees differ. Lists and single values differ as a whole.
#[derive(Debug)]
struct Difference<'t> {
    /// The keys from the top.
    path: Vec<&'t str>,
    before: Option<&'t Tree>,
    after: Option<&'t Tree>,
}

/// The places where two trees differ, in the order of their keys.
fn differences<'t>(before: &'t Tree, after: &'t Tree) -> Vec<Difference<'t>> {
    let mut found = Vec::new();
    compare(Vec::new(), Some(before), Some(after), &mut found);
    found
}

fn compare<'t>(
    path: Vec<&'t str>,
    before: Option<&'t Tree>,
    after: Option<&'t Tree>,
    found: &mut Vec<Difference<'t>>,
) {
    if before == after {
        return;
    }
    let keys = |tree: Option<&'t Tree>| tree.map_or(Some(NOTHING), Tree::table);
    // A table that comes or goes is told by its keys; an empty one has none and is told itself.
    if let (Some(old), Some(new)) = (keys(before), keys(after))
        && !(old.is_empty() && new.is_empty())
    {
        let added = new.keys().filter(|key| !old.contains_key(*key));
        for key in old.keys().chain(added) {
            let mut path = path.clone();
            path.push(key);
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

static EMPTY: BTreeMap<String, Tree> = BTreeMap::new();
const NOTHING: &BTreeMap<String, Tree> = &EMPTY;

#[cfg(test)]
mod tests {
    use super::differences;
    use crate::policy::manifest::tree::Tree;

    #[test]
    fn tells_the_deepest_places() {
        let read = |text: &str| serde_json::from_str::<Tree>(text).unwrap();
        for (before, after, expected) in [
            (r#"{"a":1,"b":{"c":2}}"#, r#"{"b":{"c":2},"a":1}"#, ""),
            (r#"{"b":{"c":2}}"#, r#"{"b":{"c":3,"d":1}}"#, "b.c b.d"),
            ("{}", r#"{"b":{"c":{"d":1}}}"#, "b.c.d"),
            (r#"{"b":{"c":1}}"#, "{}", "b.c"),
            ("{}", r#"{"b":{}}"#, "b"),
            (r#"{"b":[1,2]}"#, r#"{"b":[2,1]}"#, "b"),
            (r#"{"b":"1"}"#, r#"{"b":1}"#, "b"),
            ("{}", "[]", ""),
        ] {
            let (old, new) = (read(before), read(after));
            let found = differences(&old, &new);
            let paths: Vec<String> = found.iter().map(|it| it.path.join(".")).collect();
            assert_eq!(paths.join(" "), expected, "{before} {after}");
            assert_eq!(found.is_empty(), old == new, "{before} {after}");
        }
    }
}
