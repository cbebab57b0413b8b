use std::collections::BTreeMap;

use super::tree::Tree;

/// One place where two trees differ. Lists and single values differ as a whole.
#[derive(Debug)]
pub(super) struct Difference<'t> {
    /// The keys from the top.
    pub(super) path: Vec<&'t str>,
    pub(super) before: Option<&'t Tree>,
    pub(super) after: Option<&'t Tree>,
}

/// The places where two trees differ, in the order of their keys.
pub(super) fn differences<'t>(before: &'t Tree, after: &'t Tree) -> Vec<Difference<'t>> {
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
