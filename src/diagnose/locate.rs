//! Maps a path in a log to a file of the repository. CI checkouts and containers have other roots, so
//! prefixes are dropped.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::line::Line;
use super::providers::PROVIDERS;
use super::runners::relative_path;
use crate::model::RepoPath;
use crate::runners::{Pattern, pattern};
use crate::source::{Listing, Source};

/// The repository to whose files the paths of a log are mapped; the log may be from another machine.
#[derive(Clone, Copy, Default)]
pub struct Scene<'a> {
    /// The files of the repository; without them nothing is found.
    pub source: Option<&'a dyn Source>,
    /// The directory that the person is in, relative to the root; empty is the root.
    pub directory: &'a str,
}

/// Finds the repository's file that a log means by a path: with runners' and containers' roots
/// before it, below the directory that a log names, in an installed copy of the repository's package,
/// or by the only file that ends like it.
#[derive(Default)]
pub(super) struct Locator<'a> {
    listing: Option<&'a Listing>,
    by_name: HashMap<&'a str, Vec<&'a str>>,
    directory: &'a str,
    // Directories of the repository that commands of the log ran in, each from an index of a line on.
    ran_in: Vec<(usize, String)>,
}

// Where scripts say that they run: the rows of the table, each with one group.
static PLACES: LazyLock<Regex> =
    LazyLock::new(|| Pattern::any(PROVIDERS.place.iter().map(|row| &row.line)));

impl<'a> Locator<'a> {
    /// A finder over a listing; without one it finds nothing.
    pub(super) fn new(listing: Option<&'a Listing>) -> Self {
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for entry in listing.into_iter().flat_map(Listing::files) {
            by_name.entry(entry.path.file_name()).or_default().push(entry.path.as_str());
        }
        Self {
            listing,
            by_name,
            ..Self::default()
        }
    }

    /// The same where the person is in a directory.
    pub(super) fn at(scene: Scene<'a>) -> Self {
        Self {
            directory: scene.directory.trim_matches('/'),
            ..Self::new(scene.source.map(Source::listing))
        }
    }

    /// Notes the directories that the log's commands ran in.
    pub(super) fn note_directories(&mut self, lines: &[Line<'_>]) {
        let Some(listing) = self.listing else { return };
        for (at, line) in lines.iter().enumerate() {
            let text = line.text.as_ref();
            let may = text.len() <= 300 && (text.contains('/') || text.contains("cd "));
            let found = may.then(|| PLACES.captures(text)).flatten();
            let Some(place) = found.and_then(|found| found.iter().skip(1).flatten().next()) else {
                continue;
            };
            let parts = path_parts(place.as_str());
            let mut ends = (0..parts.len()).map(|start| parts[start..].join("/"));
            let directory = ends.find(|end| listing.has_directory(end));
            self.ran_in.extend(directory.map(|directory| (at, directory)));
            // Changes of place that are kept; a log in which two packages take turns has many.
            if self.ran_in.len() >= 50_000 {
                return;
            }
        }
    }

    /// Whether there is a listing to look into.
    pub(super) fn knows_repository(&self) -> bool {
        self.listing.is_some()
    }

    /// Finds the file that a line, given by its index, means by a path: below the directory that its
    /// command ran in, at the longest end of the path that is a file, else the only file that ends like
    /// it. Several that end alike are ambiguous and give none.
    pub(super) fn find(&self, path: &str, at: usize) -> Option<&'a str> {
        let listing = self.listing?;
        let path = path.strip_prefix("file://").unwrap_or(path).replace('\\', "/");
        if let Some(end) = installed_path(&path) {
            let mut roots = ["", "src", "lib", "python"].iter();
            return roots.find_map(|root| joined_path(listing, root, end));
        }
        if SYSTEM.is_match(&path) {
            return None;
        }
        let is_absolute = is_absolute(&path);
        let parts = path_parts(&path);
        let candidates = self.by_name.get(*parts.last()?)?;
        let max_depth = 24;
        let from = parts.len().saturating_sub(max_depth);
        let whole = parts[from..].join("/");
        if !is_absolute {
            let directories = self.near(at).map(|directory| (directory, &path));
            let mut near = directories.chain([("", &whole)]);
            if let Some(file) = near.find_map(|(at, path)| joined_path(listing, at, path)) {
                return Some(file);
            }
        }
        let is_cut = is_absolute || path.starts_with("../");
        let ends = (from..parts.len()).map(|start| parts[start..].join("/"));
        let ends: Vec<String> = ends.take(if is_cut { max_depth } else { 1 }).collect();
        let mut rooted = ends.iter().filter(|_| is_absolute);
        if let Some(file) = rooted.find_map(|end| joined_path(listing, "", end)) {
            return Some(file);
        }
        ends.iter()
            .filter(|end| !is_absolute || end.contains('/') || **end == whole)
            .find_map(|end| {
                let files = candidates.iter().filter(|file| {
                    let rest = file.strip_suffix(end.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
                });
                let alike: Vec<&&str> = files.collect();
                match alike.as_slice() {
                    [one] => Some(**one),
                    _ => None,
                }
            })
    }

    /// The file of the repository that a line means by a path, else the path without the root of its checkout.
    pub(super) fn shown(&self, path: &str, at: usize) -> String {
        let found = self.find(path, at).map(str::to_owned);
        found.unwrap_or_else(|| relative_path(path))
    }

    // Where the command of a line ran: first the directory named last before it, then the current
    // directory.
    fn near(&self, at: usize) -> impl Iterator<Item = &str> {
        let before = self.ran_in.partition_point(|row| row.0 <= at);
        let named = self.ran_in[..before].last().map(|row| row.1.as_str());
        named.into_iter().chain(std::iter::once(self.directory))
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

// Folders of the system; `/usr/src/app` is where images keep a project.
pattern!(
    SYSTEM,
    r"^(?:/usr/(?:lib|local/lib|share|include)|/etc|/lib|/proc|/sys|/nix/store|/System|/Library|C:/Windows|C:/Program Files|(?:C:|/opt)/hostedtoolcache)/"
);

/// Checks whether a path starts at a root or a drive.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':')
}

// The path inside the folder of installed packages.
fn installed_path(path: &str) -> Option<&str> {
    ["site-packages/", "dist-packages/", "node_modules/"]
        .iter()
        .filter_map(|folder| path.rfind(folder).map(|at| at + folder.len()))
        .max()
        .and_then(|at| path.get(at..))
}

fn path_parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != "." && *part != ".." && !part.ends_with(':'))
        .collect()
}

// The file at a relative path below a directory.
fn joined_path<'a>(listing: &'a Listing, directory: &str, path: &str) -> Option<&'a str> {
    let path = RepoPath::resolve(directory, path).ok()?;
    listing.file(path.as_str()).map(RepoPath::as_str)
}

#[cfg(test)]
mod tests {
    use super::{Locator, Scene};
    use crate::diagnose::normalise::lines;
    use crate::source::Memory;

    fn repository() -> Memory {
        let files = [
            ("src/x.ts", String::new()),
            ("index.js", String::new()),
            ("main.py", String::new()),
            ("src/tool/core.py", String::new()),
            ("packages/a/package.json", String::new()),
            ("packages/a/src/only.ts", String::new()),
            ("packages/a/src/both.ts", String::new()),
            ("packages/a/src/x.ts", String::new()),
            ("packages/b/package.json", String::new()),
            ("packages/b/src/both.ts", String::new()),
            ("services/api/pyproject.toml", String::new()),
            ("services/api/app/main.py", String::new()),
        ];
        Memory::named(files)
    }

    #[test]
    fn maps_log_path_to_repository() {
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
            ("/app/node_modules/left-pad/index.js", None),
            ("/py/site-packages/other/main.py", None),
            ("/usr/share/nodejs/index.js", None),
        ] {
            assert_eq!(locator.find(path, 0), expected, "{path}");
        }
    }

    #[test]
    fn prefers_command_directory_to_root() {
        let source = repository();
        let scene = |directory| Scene {
            source: Some(&source),
            directory,
        };
        let log = "\n\ncd packages/a\n\n\n\n\n\n\ncd packages/b\n";
        let mut locator = Locator::at(scene(""));
        locator.note_directories(&lines(log));
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
}
