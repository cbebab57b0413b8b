use std::collections::BTreeMap;

use crate::model::RepoPath;
use crate::source::{EntryKind, Listing};

/// Links followed for one path.
const MAX_LINKS: usize = 8;

/// The files of a source as imports see them: a symlink inside the repository stands for what it
/// points at. Only the texts of links are used; nothing on disk is followed.
pub(super) struct Files<'a> {
    listing: &'a Listing,
    links: BTreeMap<&'a str, String>,
}

impl<'a> Files<'a> {
    pub(super) fn new(listing: &'a Listing) -> Self {
        let links = listing
            .entries()
            .iter()
            .filter_map(|entry| {
                let EntryKind::Symlink { target } = &entry.kind else {
                    return None;
                };
                if target.starts_with('/') {
                    return None;
                }
                let target = RepoPath::resolve(entry.path.directory(), target).ok()?;
                Some((entry.path.as_str(), target.as_str().to_owned()))
            })
            .collect();
        Self { listing, links }
    }

    /// Whether a regular file stands at this path, or behind it.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.file(path).is_some()
    }

    /// The regular file at this path, or behind it.
    pub(super) fn file(&self, path: &str) -> Option<&'a RepoPath> {
        let found = self.listing.file(path);
        if found.is_some() || self.links.is_empty() {
            return found;
        }
        self.listing.file(&self.behind(path)?)
    }

    /// Whether something lies below this directory, or the one behind it.
    pub(super) fn has_directory(&self, path: &str) -> bool {
        self.listing.has_directory(path)
            || (!self.links.is_empty()
                && self
                    .behind(path)
                    .is_some_and(|path| self.listing.has_directory(&path)))
    }

    /// The listing itself.
    pub(super) fn listing(&self) -> &'a Listing {
        self.listing
    }

    // The path with the links on it replaced; `None` when there are none.
    fn behind(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for step in 0..=MAX_LINKS {
            let mut ends = path
                .match_indices('/')
                .map(|(at, _)| at)
                .chain([path.len()]);
            let replaced = ends.find_map(|end| {
                let target = self.links.get(path.get(..end)?)?;
                Some(format!("{target}{}", path.get(end..)?))
            });
            match replaced {
                Some(next) => path = next,
                None => return (step > 0).then_some(path),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Files;
    use crate::model::RepoPath;
    use crate::source::{Entry, EntryKind, Listing};

    #[test]
    fn links_are_read_as_text() {
        let entry = |path: &str, target: Option<&str>| Entry {
            path: RepoPath::new(path).unwrap(),
            kind: target.map_or(EntryKind::File { executable: false }, |target| {
                EntryKind::Symlink {
                    target: target.to_owned(),
                }
            }),
            bytes: 0,
        };
        let listing = Listing::new(
            vec![
                entry("real/a.ts", None),
                entry("x/a.ts", Some("../real/a.ts")),
                entry("dir", Some("real")),
                entry("loop", Some("loop")),
                entry("out", Some("../../etc")),
                entry("abs", Some("/etc")),
            ],
            Vec::new(),
        );
        let files = Files::new(&listing);
        for path in ["real/a.ts", "x/a.ts", "dir/a.ts"] {
            assert_eq!(files.file(path).unwrap().as_str(), "real/a.ts", "{path}");
        }
        for path in ["loop", "loop/a.ts", "out/a.ts", "abs/passwd", "real"] {
            assert!(files.file(path).is_none(), "{path}");
        }
        assert!(files.has_directory("dir") && !files.has_directory("loop"));
    }
}
