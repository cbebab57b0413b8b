use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::model::RepoPath;
use crate::runners::pattern;
use crate::source::{Entry, EntryKind, Listing, Source};

/// Where a log was written: what it can be mapped into.
#[derive(Clone, Copy, Default)]
pub struct Scene<'a> {
    /// The files of the repository; without them nothing is found.
    pub source: Option<&'a dyn Source>,
    /// The directory that the person stands in, relative to the root; empty is the root.
    pub directory: &'a str,
}

/// Finds the repository's file that a log means by a path: with runners' and containers' roots
/// before it, below the directory that a log names, in an installed copy of a package of the
/// repository, or by the only file that ends like it.
#[derive(Default)]
pub(super) struct Locator<'a> {
    listing: Option<&'a Listing>,
    by_name: HashMap<&'a str, Vec<&'a str>>,
    // Directory of a package by its name.
    packages: BTreeMap<String, String>,
    directory: &'a str,
    // Directories that commands of the log ran in, relative to the root, each from an index of a line
    // on.
    ran_in: Vec<(usize, String)>,
}

const MOST_PACKAGES: usize = 2000;
const DEEPEST: usize = 24;

impl<'a> Locator<'a> {
    /// A finder over a listing; without one it finds nothing.
    pub(super) fn new(listing: Option<&'a Listing>) -> Self {
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
            ..Self::default()
        }
    }

    /// The same where the manifests can be read and the person stands in a directory.
    pub(super) fn at(scene: Scene<'a>) -> Self {
        let mut locator = Self::new(scene.source.map(Source::listing));
        locator.directory = scene.directory.trim_matches('/');
        let manifests = locator.by_name.get("package.json");
        for manifest in manifests.into_iter().flatten().take(MOST_PACKAGES) {
            let named = || {
                let path = RepoPath::new(manifest).ok()?;
                let read: Value = serde_json::from_slice(&scene.source?.read(&path).ok()?).ok()?;
                Some((read["name"].as_str()?.to_owned(), directory_of(manifest)))
            };
            if let Some((name, directory)) = named() {
                locator.packages.entry(name).or_insert(directory.to_owned());
            }
        }
        locator
    }

    /// The same, with the directories in which the log's commands ran, in log order.
    pub(super) fn running_in(mut self, ran_in: Vec<(usize, String)>) -> Self {
        self.ran_in = ran_in;
        self
    }

    /// Whether there is a listing to look into.
    pub(super) fn knows_repository(&self) -> bool {
        self.listing.is_some()
    }

    /// The directory of a package by its name, else the only one with a manifest that ends like it.
    pub(super) fn package(&self, name: &str) -> Option<&str> {
        if let Some(directory) = self.packages.get(name) {
            return Some(directory);
        }
        let last = name.rsplit('/').next().filter(|last| !last.is_empty())?;
        let mut named = [
            "package.json",
            "pyproject.toml",
            "setup.py",
            "Cargo.toml",
            "go.mod",
        ]
        .iter()
        .filter_map(|manifest| self.by_name.get(manifest))
        .flatten()
        .map(|manifest| directory_of(manifest))
        .filter(|directory| directory.rsplit('/').next() == Some(last))
        .collect::<Vec<_>>();
        named.sort_unstable();
        named.dedup();
        match named.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The longest end of a directory's path that is a directory of the repository.
    pub(super) fn directory(&self, path: &str) -> Option<String> {
        let listing = self.listing?;
        let parts = parts(path);
        (0..parts.len())
            .map(|start| parts[start..].join("/"))
            .find(|directory| listing.has_directory(directory))
    }

    /// The file that a line means by a path, the line given by its index: below the directory that
    /// its command ran in, at the longest end of the path that is a file, else the only file that
    /// ends like it. Several that end alike are ambiguous and give none.
    pub(super) fn find(&self, path: &str, at: usize) -> Option<&'a str> {
        let listing = self.listing?;
        let path = path
            .strip_prefix("file://")
            .unwrap_or(path)
            .replace('\\', "/");
        if let Some(end) = installed(&path) {
            return self.of_installed(end);
        }
        if SYSTEM.is_match(&path) {
            return None;
        }
        let absolute = super::special::is_absolute(&path);
        // A file of a submodule is none of the files here that are called the same.
        let mut modules = listing.entries().iter();
        let below = |entry: &Entry| {
            let is_module = matches!(entry.kind, EntryKind::Submodule { .. });
            is_module && format!("/{path}").contains(&format!("/{}/", entry.path))
        };
        if modules.any(below) {
            return None;
        }
        let parts = parts(&path);
        let candidates = self.by_name.get(*parts.last()?)?;
        let from = parts.len().saturating_sub(DEEPEST);
        let ends = || (from..parts.len()).map(|start| parts[start..].join("/"));
        let whole = parts[from..].join("/");
        if !absolute {
            let near = self
                .near(at)
                .find_map(|below| joined(listing, below, &path));
            if near.is_some() {
                return near;
            }
        }
        for end in ends() {
            if let Some(file) = listing.file(&end) {
                return Some(file.as_str());
            }
            if !absolute {
                break;
            }
        }
        let ends = ends().filter(|end| !absolute || end.contains('/') || end == &whole);
        for end in ends {
            let mut alike = candidates.iter().filter(|file| {
                file.strip_suffix(end.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            });
            if let Some(first) = alike.next() {
                if alike.next().is_none() {
                    return Some(*first);
                }
                // Several end alike: the one in a package that the log names elsewhere.
                let mut ran_in = self.ran_in.iter().rev();
                return ran_in.find_map(|row| joined(listing, &row.1, &end));
            }
            if !absolute && !path.starts_with("../") {
                break;
            }
        }
        None
    }

    // Where the command of a line ran: the place named last before it first, then where the person
    // stands.
    fn near(&self, at: usize) -> impl Iterator<Item = &str> {
        let before = self.ran_in.partition_point(|row| row.0 <= at);
        let named = self.ran_in[..before].iter().rev().take(1);
        let named = named.map(|row| row.1.as_str());
        named.chain(std::iter::once(self.directory))
    }

    // An installed copy of a package of the repository: at its root, in `src` or `lib`.
    fn of_installed(&self, end: &str) -> Option<&'a str> {
        let listing = self.listing?;
        let scoped = end.starts_with('@');
        let border = end.match_indices('/').nth(usize::from(scoped))?.0;
        let (package, rest) = end.split_at(border);
        if let Some(directory) = self.packages.get(package) {
            return joined(listing, directory, rest.trim_start_matches('/'));
        }
        let roots = ["", "src", "lib", "python"];
        roots.iter().find_map(|root| joined(listing, root, end))
    }

    /// Whether a path begins with a directory of the repository: so an absolute one is written where
    /// its root was taken off.
    pub(super) fn has_folder_of(&self, path: &str) -> bool {
        let top = path.split_once('/').filter(|(top, _)| !top.is_empty());
        let listing = self.listing.zip(top);
        listing.is_some_and(|(listing, (top, _))| listing.has_directory(top))
    }

    /// Whether a module's first part is a file or directory of the repository.
    pub(super) fn has_top(&self, name: &str) -> bool {
        let Some(listing) = self.listing else {
            return false;
        };
        ["", "src/", "lib/", "tests/", "test/"].iter().any(|root| {
            listing.has_directory(&format!("{root}{name}"))
                || listing.has_file(&format!("{root}{name}.py"))
        }) || self.by_name.contains_key(format!("{name}.py").as_str())
    }
}

// What a machine brings along; `/usr/src/app` is where images keep a project.
pattern!(
    SYSTEM,
    r"^(?:/usr/(?:lib|local/lib|share|include)|/etc|/lib|/proc|/sys|/nix/store|/System|/Library|C:/Windows|C:/Program Files|(?:C:|/opt)/hostedtoolcache)/"
);

// What stands behind the folder of installed packages.
fn installed(path: &str) -> Option<&str> {
    ["site-packages/", "dist-packages/", "node_modules/"]
        .iter()
        .filter_map(|folder| path.rfind(folder).map(|at| at + folder.len()))
        .max()
        .and_then(|at| path.get(at..))
}

fn parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != "." && *part != ".." && !part.ends_with(':'))
        .collect()
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

// The file at a relative path below a directory.
fn joined<'a>(listing: &'a Listing, directory: &str, path: &str) -> Option<&'a str> {
    let path = RepoPath::resolve(directory, path).ok()?;
    listing.file(path.as_str()).map(RepoPath::as_str)
}

#[cfg(test)]
mod tests {
    use super::{Locator, Scene};
    use crate::source::Memory;

    fn repository() -> Memory {
        let manifest = |name: &str| format!(r#"{{"name":"{name}"}}"#);
        let files = [
            ("src/x.ts", String::new()),
            ("index.js", String::new()),
            ("main.py", String::new()),
            ("src/tool/core.py", String::new()),
            ("packages/a/package.json", manifest("@acme/alpha")),
            ("packages/a/src/only.ts", String::new()),
            ("packages/a/src/both.ts", String::new()),
            ("packages/a/src/x.ts", String::new()),
            ("packages/b/package.json", manifest("@acme/beta")),
            ("packages/b/src/both.ts", String::new()),
            ("services/api/pyproject.toml", String::new()),
            ("services/api/app/main.py", String::new()),
        ];
        Memory::named(files)
    }

    #[test]
    fn a_path_of_a_log_is_a_file_of_the_repository() {
        let source = repository();
        let locator = Locator::at(Scene {
            source: Some(&source),
            directory: "",
        });
        for (path, expected) in [
            ("./src/x.ts", Some("src/x.ts")),
            // runners and containers
            ("/__w/app/app/src/x.ts", Some("src/x.ts")),
            ("/home/runner/work/a/a/src/x.ts", Some("src/x.ts")),
            ("/Users/runner/work/a/a/src/x.ts", Some("src/x.ts")),
            ("/builds/group/app/src/x.ts", Some("src/x.ts")),
            ("/home/circleci/project/src/x.ts", Some("src/x.ts")),
            ("/var/lib/jenkins/workspace/app/src/x.ts", Some("src/x.ts")),
            ("/usr/src/app/src/x.ts", Some("src/x.ts")),
            ("/app/src/only.ts", Some("packages/a/src/only.ts")),
            ("C:\\a\\app\\app\\src\\x.ts", Some("src/x.ts")),
            ("D:/a/app/main.py", Some("main.py")),
            ("file:///home/runner/work/a/a/src/x.ts", Some("src/x.ts")),
            ("/ci/packages/b/src/both.ts", Some("packages/b/src/both.ts")),
            // a unique end
            ("src/only.ts", Some("packages/a/src/only.ts")),
            ("../src/only.ts", Some("packages/a/src/only.ts")),
            ("src/both.ts", None),
            ("src/gone.ts", None),
            // installed copies of what is under test, and what is not
            (
                "/opt/py/lib/python3.12/site-packages/tool/core.py",
                Some("src/tool/core.py"),
            ),
            (
                "C:\\py\\Lib\\site-packages\\tool\\core.py",
                Some("src/tool/core.py"),
            ),
            (
                "node_modules/@acme/alpha/src/x.ts",
                Some("packages/a/src/x.ts"),
            ),
            ("/app/node_modules/left-pad/index.js", None),
            ("/py/site-packages/other/main.py", None),
            ("/usr/share/nodejs/index.js", None),
        ] {
            assert_eq!(locator.find(path, 0), expected, "{path}");
        }
    }

    #[test]
    fn where_a_command_ran_comes_before_the_root() {
        let source = repository();
        let scene = |directory| Scene {
            source: Some(&source),
            directory,
        };
        let ran_in = vec![(2, "packages/a".to_owned()), (9, "packages/b".to_owned())];
        let locator = Locator::at(scene("")).running_in(ran_in);
        for (path, at, expected) in [
            ("src/both.ts", 3, Some("packages/a/src/both.ts")),
            ("src/both.ts", 9, Some("packages/b/src/both.ts")),
            ("src/x.ts", 3, Some("packages/a/src/x.ts")),
            ("src/x.ts", 9, Some("src/x.ts")),
            ("src/x.ts", 0, Some("src/x.ts")),
            ("../a/src/x.ts", 9, Some("packages/a/src/x.ts")),
        ] {
            assert_eq!(locator.find(path, at), expected, "{path} at {at}");
        }
        let standing = Locator::at(scene("packages/b"));
        assert_eq!(
            standing.find("src/both.ts", 0),
            Some("packages/b/src/both.ts")
        );
        assert_eq!(standing.find("src/x.ts", 0), Some("src/x.ts"));
    }

    #[test]
    fn packages_are_known_by_name_and_by_directory() {
        let source = repository();
        let locator = Locator::at(Scene {
            source: Some(&source),
            directory: "",
        });
        for (name, directory) in [
            ("@acme/alpha", Some("packages/a")),
            ("@acme/a", Some("packages/a")),
            ("api", Some("services/api")),
            ("gone", None),
        ] {
            assert_eq!(locator.package(name), directory, "{name}");
        }
    }
}
