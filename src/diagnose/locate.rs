use std::collections::HashMap;

use crate::source::Listing;

/// Finds the repository's file that a log means by a path: with runners' and containers' roots before
/// it, below the directory that a log names, or by the only file that ends like it.
pub struct Locator<'a> {
    listing: Option<&'a Listing>,
    by_name: HashMap<&'a str, Vec<&'a str>>,
    // Directories that commands of the log ran in, relative to the root.
    directories: Vec<String>,
}

impl<'a> Locator<'a> {
    /// A finder over a listing; without one it finds nothing.
    #[must_use]
    pub fn new(listing: Option<&'a Listing>) -> Self {
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for entry in listing.into_iter().flat_map(Listing::files) {
            by_name
                .entry(entry.path.file_name())
                .or_default()
                .push(entry.path.as_str());
        }
        Self {
            listing,
            by_name,
            directories: Vec::new(),
        }
    }

    /// The same, with directories (relative to the root) in which relative paths are tried too.
    #[must_use]
    pub fn below(mut self, directories: Vec<String>) -> Self {
        self.directories = directories;
        self
    }

    /// Whether there is a listing to look into.
    #[must_use]
    pub fn knows_repository(&self) -> bool {
        self.listing.is_some()
    }

    /// The file: at the longest end of the path that is a file of the repository, else the only
    /// file that ends like it. Several that end alike are ambiguous and give none.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&'a str> {
        let listing = self.listing?;
        let absolute = super::special::is_absolute(path);
        let path = path.replace('\\', "/");
        let parts: Vec<&str> = path
            .split('/')
            .filter(|part| !part.is_empty() && *part != "." && !part.ends_with(':'))
            .collect();
        let candidates = self.by_name.get(*parts.last()?)?;
        let from = parts.len().saturating_sub(24);
        let ends = || (from..parts.len()).map(|start| parts[start..].join("/"));
        for end in ends() {
            if let Some(file) = listing.file(&end) {
                return Some(file.as_str());
            }
            if !absolute {
                break;
            }
        }
        for end in ends().filter(|end| !absolute || end.contains('/')) {
            let mut alike = candidates.iter().filter(|file| {
                file.strip_suffix(end.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            });
            if let Some(first) = alike.next() {
                if alike.next().is_none() {
                    return Some(*first);
                }
                // Several end alike: the one in the package that the log names.
                let below = |directory: &String| {
                    listing
                        .file(&format!("{directory}/{end}"))
                        .map(crate::model::RepoPath::as_str)
                };
                return self.directories.iter().find_map(below);
            }
            if !absolute && !path.starts_with("../") {
                break;
            }
        }
        None
    }

    /// Whether a module's first part is a file or directory of the repository.
    #[must_use]
    pub fn has_top(&self, name: &str) -> bool {
        let Some(listing) = self.listing else {
            return false;
        };
        ["", "src/", "lib/", "tests/", "test/"].iter().any(|root| {
            listing.has_directory(&format!("{root}{name}"))
                || listing.has_file(&format!("{root}{name}.py"))
        }) || self.by_name.contains_key(format!("{name}.py").as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Locator;
    use crate::model::RepoPath;
    use crate::source::{Entry, EntryKind, Listing};

    fn listing(paths: &[&str]) -> Listing {
        let entries = paths
            .iter()
            .map(|path| Entry {
                path: RepoPath::new(path).unwrap(),
                kind: EntryKind::File { executable: false },
                bytes: 1,
            })
            .collect();
        Listing::new(entries, Vec::new())
    }

    #[test]
    fn maps_ci_paths_and_package_paths() {
        let listing = listing(&[
            "src/x.ts",
            "packages/a/src/only.ts",
            "packages/a/src/both.ts",
            "packages/b/src/both.ts",
            "main.py",
        ]);
        let locator = Locator::new(Some(&listing));
        let below = Locator::new(Some(&listing)).below(vec!["packages/b".to_owned()]);
        assert_eq!(below.find("src/both.ts"), Some("packages/b/src/both.ts"));
        for (path, expected) in [
            ("/__w/app/app/src/x.ts", Some("src/x.ts")),
            ("/home/runner/work/a/a/src/x.ts", Some("src/x.ts")),
            ("C:\\a\\app\\app\\src\\x.ts", Some("src/x.ts")),
            ("D:/a/app/main.py", Some("main.py")),
            ("./src/x.ts", Some("src/x.ts")),
            ("src/only.ts", Some("packages/a/src/only.ts")),
            ("src/both.ts", None),
            ("/ci/packages/b/src/both.ts", Some("packages/b/src/both.ts")),
            ("/app/src/only.ts", Some("packages/a/src/only.ts")),
            ("../src/only.ts", None),
            ("src/gone.ts", None),
        ] {
            let found = locator.find(path);
            if path.starts_with("..") {
                assert!(found.is_none() || found == Some("packages/a/src/only.ts"));
            } else {
                assert_eq!(found, expected, "{path}");
            }
        }
    }
}
