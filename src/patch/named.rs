use std::collections::BTreeSet;

use super::names::{names, strip};
use super::read::{ReadOptions, read};
use crate::model::RepoPath;

/// The paths that a reply may speak of: each name as written and without its first components. Empty
/// for what is no patch.
#[must_use]
pub fn named_paths(input: &[u8], options: &ReadOptions) -> Vec<RepoPath> {
    let found = read(input, options, |set| {
        let mut found = BTreeSet::new();
        for file in &set.files {
            let sides = names(file).map(|names| [names.old, names.new]);
            for name in sides.into_iter().flatten().flatten() {
                let depths = (0..=DEEPEST).filter_map(|depth| strip(&name, depth));
                found.extend(depths.filter_map(|path| RepoPath::new(path).ok()));
            }
        }
        found
    });
    found.unwrap_or_default().into_iter().collect()
}

// Names with more components in front are looked for in the whole listing.
const DEEPEST: usize = 3;

#[cfg(test)]
mod tests {
    use super::named_paths;
    use crate::patch::ReadOptions;

    #[test]
    fn names_are_given_with_and_without_a_prefix() {
        let diff = b"--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-a\n+b\n";
        let found = named_paths(diff, &ReadOptions::default());
        let found: Vec<&str> = found.iter().map(crate::model::RepoPath::as_str).collect();
        assert_eq!(found, ["a/src/x.py", "b/src/x.py", "src/x.py", "x.py"]);
        assert!(named_paths(b"Hello.", &ReadOptions::default()).is_empty());
    }
}
