use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::RepoPath;
use crate::source::{EntryKind, Listing, Source};

/// Links followed for one path.
const MAX_LINKS: usize = 8;

/// The files of a source as imports see them: symlinks inside the repository count. Only the texts
/// of links are used; nothing on disk is followed.
pub(super) struct Files<'a> {
    listing: &'a Listing,
    links: BTreeMap<&'a str, Link<'a>>,
}

struct Link<'a> {
    path: &'a RepoPath,
    target: String,
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
                let link = Link {
                    path: &entry.path,
                    target: target.as_str().to_owned(),
                };
                Some((entry.path.as_str(), link))
            })
            .collect();
        Self { listing, links }
    }

    /// Whether a regular file stands at this path, or behind it.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.file(path).is_some()
    }

    /// The regular file at this path, the link to one, or the file below a linked directory.
    pub(super) fn file(&self, path: &str) -> Option<&'a RepoPath> {
        let found = self.listing.file(path);
        if found.is_some() || self.links.is_empty() {
            return found;
        }
        let behind = self.listing.file(&self.behind(path)?)?;
        Some(self.links.get(path).map_or(behind, |link| link.path))
    }

    /// The regular file behind a path that [`Files::file`] gave.
    pub(super) fn real<'p>(&self, path: &'p RepoPath) -> &'p RepoPath
    where
        'a: 'p,
    {
        if self.links.is_empty() || self.listing.has_file(path.as_str()) {
            return path;
        }
        self.behind(path.as_str())
            .and_then(|behind| self.listing.file(&behind))
            .unwrap_or(path)
    }

    /// Reads the file at this path, or behind it.
    pub(super) fn read(&self, source: &dyn Source, path: &str) -> Option<Arc<[u8]>> {
        source.read(self.real(self.file(path)?)).ok()
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
                let link = self.links.get(path.get(..end)?)?;
                Some(format!("{}{}", link.target, path.get(end..)?))
            });
            match replaced {
                Some(next) => path = next,
                None => return (step > 0).then_some(path),
            }
        }
        None
    }
}

/// Joins and normalises; `None` when the result leaves the repository. The root is `""`.
pub(super) fn join(directory: &str, relative: &str) -> Option<String> {
    match RepoPath::resolve(directory, relative) {
        Ok(path) => Some(path.as_str().to_owned()),
        Err(crate::model::PathProblem::Empty) => Some(String::new()),
        Err(_) => None,
    }
}

/// `directory/name`, without a leading slash at the root.
pub(super) fn child(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// The rest of a path below a directory; `""` is the root.
pub(super) fn below<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    if directory.is_empty() {
        return Some(path);
    }
    path.strip_prefix(directory)?.strip_prefix('/')
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
        for (path, expected) in [
            ("real/a.ts", "real/a.ts"),
            ("x/a.ts", "x/a.ts"),
            ("dir/a.ts", "real/a.ts"),
        ] {
            let found = files.file(path).unwrap();
            assert_eq!(found.as_str(), expected);
            assert_eq!(files.real(found).as_str(), "real/a.ts", "{path}");
        }
        for path in ["loop", "loop/a.ts", "out/a.ts", "abs/passwd", "real"] {
            assert!(files.file(path).is_none(), "{path}");
        }
        assert!(files.has_directory("dir") && !files.has_directory("loop"));
    }
}
