//! Decides which files a fix may have to change. Tests and generated files are left out, since fixes
//! rarely change them.

use std::collections::BTreeMap;

use crate::languages::Language;
use crate::model::RepoPath;
use crate::policy::{TEST_FOLDERS, is_test_name};
use crate::source::{Listing, Source};

/// Which files a repair may have to change: source code that is no test, fixture, example,
/// generated or vendored file. Others are still given when the log or a request names them.
///
/// A failure inside an example, a demo or vendored code is about that project: its sources are
/// candidates too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    /// Folders of targets, each with a `/` at its end, whose own place in the tree says nothing.
    projects: Vec<String>,
    /// Packages that are named like tests and are what the product offers for tests.
    offered: Vec<String>,
}

impl Pool {
    /// The pool of a failure about these files of a repository.
    pub fn new(targets: &[RepoPath], listing: &Listing) -> Self {
        let mut projects: Vec<String> = targets.iter().filter_map(project_of).collect();
        projects.sort();
        projects.dedup();
        Self {
            projects,
            offered: packages_for_tests(listing),
        }
    }

    /// Returns the part of the project that a file belongs to; `None` outside the pool.
    pub fn standing(&self, path: &RepoPath) -> Option<ProjectPart> {
        let inside = self.projects.iter().map(|project| {
            let below = path.as_str().strip_prefix(project.as_str());
            below.map_or(0, |below| path.as_str().len() - below.len())
        });
        let start = inside.max().unwrap_or(0);
        if !self.is_source(path, start) {
            return None;
        }
        Some(if start > 0 { ProjectPart::SetApart } else { ProjectPart::Product })
    }

    // Whether the file is product code by its name and its folders from `start` on.
    fn is_source(&self, path: &RepoPath, start: usize) -> bool {
        let text = path.as_str();
        let is_source = Language::of_path(text).is_some();
        let mut end = start;
        let mut folders = path.directory().get(start..).unwrap_or_default().split('/');
        is_source
            && !is_test_file(path.file_name())
            && !is_configuration(path.file_name())
            && folders.all(|part| {
                end += part.len();
                let folder = text.get(..end).unwrap_or_default();
                end += 1;
                let part: &str = &part.to_ascii_lowercase();
                let is_test = TEST_FOLDERS.contains(&part) || part == "testing";
                let is_offered = self.offered.iter().any(|package| package == folder);
                (!is_test || is_offered) && !SET_APART.contains(&part)
            })
    }
}

/// The part of the project that a candidate belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectPart {
    /// The product itself.
    Product,
    /// The example, demo or vendored project that a target lies in.
    SetApart,
}

/// Returns the package inside another one that a file lies in and that has a version or a license of its own, as a
/// copy of another project has (`requests/packages/urllib3/`).
pub(super) fn vendored_package<'p>(source: &dyn Source, path: &'p RepoPath) -> Option<&'p str> {
    let folders = path.as_str().match_indices('/');
    let mut packages = folders.map(|(end, _)| path.as_str().split_at(end).0);
    packages.find(|package| {
        let above = package.rsplit_once('/').map_or("", |(above, _)| above);
        let is_inside = source.listing().has_file(&format!("{above}/__init__.py"));
        let head = RepoPath::new(&format!("{package}/__init__.py"));
        let text = head.ok().filter(|_| is_inside);
        let text = text.and_then(|head| source.read(&head).ok()).unwrap_or_default();
        let mut lines = text.split(|byte| *byte == b'\n');
        lines.any(|line| line.starts_with(b"__version__ =") || line.starts_with(b"__license__ ="))
    })
}

// `examples/shop/` for `examples/shop/src/cart.test.ts`; of several such folders the innermost.
fn project_of(target: &RepoPath) -> Option<String> {
    let parts: Vec<&str> = target.directory().split('/').collect();
    let place = parts
        .iter()
        .rposition(|part| SET_APART.contains(&part.to_ascii_lowercase().as_str()))?;
    let folder = parts.get(..parts.len().min(place + 2))?.join("/");
    Some(folder + "/")
}

// `django/test/` and `numpy/testing/`: packages inside a package that hold no test themselves.
fn packages_for_tests(listing: &Listing) -> Vec<String> {
    let mut found: BTreeMap<&str, bool> = BTreeMap::new();
    for path in listing.files().map(|entry| &entry.path) {
        let parts = path.directory().match_indices('/').map(|(at, _)| at);
        for end in parts.chain([path.directory().len()]) {
            let folder = path.as_str().get(..end).unwrap_or_default();
            let Some((above, "test" | "testing")) = folder.rsplit_once('/') else {
                continue;
            };
            let below = path.as_str().get(end + 1..).unwrap_or_default();
            let own = !below.starts_with("tests/");
            let may_be = found.entry(folder).or_insert_with(|| {
                let mut folders = [above, folder].into_iter();
                folders.all(|folder| listing.has_file(&format!("{folder}/__init__.py")))
            });
            *may_be &= !(own && is_test_file(path.file_name()));
        }
    }
    let kept = found.into_iter().filter(|(_, is_offered)| *is_offered);
    kept.map(|(folder, _)| folder.to_owned()).collect()
}

// What a runner takes beside the tests themselves is no product either.
fn is_test_file(name: &str) -> bool {
    is_test_name(name) || name.contains(".bench.") || name.split('.').next() == Some("conftest")
}

fn is_configuration(name: &str) -> bool {
    name.contains(".config.") || matches!(name, "setup.py" | "noxfile.py" | "gulpfile.js")
}

/// Folders of projects beside the product.
const SET_APART: [&str; 19] = [
    "__testfixtures__", "__fixtures__", "fixture", "fixtures", "doc", "docs", "docs_src",
    "example", "examples", "sample", "samples", "demo", "demos", "benchmark", "benchmarks",
    "bench", "dist", "playground", "playgrounds",
];

#[cfg(test)]
mod tests {
    use super::Pool;
    use crate::model::RepoPath;
    use crate::source::{Listing, Memory, Source};

    #[test]
    fn tests_and_fixtures_are_no_candidates() {
        let ranks = |text| Pool::default().standing(&RepoPath::new(text).unwrap()).is_some();
        assert!(
            ranks("src/user.ts")
                && ranks("coverage/sort.py")
                && ranks("pkg/contest.py")
                && ranks("app/View.vue")
        );
        for outside in [
            "tests/user.py", "src/user.test.ts", "src/test_user.py", "docs/conf.py",
            "src/__tests__/a.ts", "vite.config.ts", "dist/x.d.ts", "README.md",
        ] {
            assert!(!ranks(outside), "{outside}");
        }
    }

    #[test]
    fn test_helpers_of_package_are_product() {
        let files = [
            "django/__init__.py",
            "django/test/__init__.py",
            "django/test/client.py",
            "numpy/__init__.py",
            "numpy/testing/__init__.py",
            "numpy/testing/_private/extra.py",
            "numpy/testing/tests/test_extra.py",
            "app/__init__.py",
            "app/test/__init__.py",
            "app/test/world.py",
            "app/test/unit/test_a.py",
            "test/__init__.py",
            "test/world.py",
            "django/tests/__init__.py",
        ];
        let source = Memory::named(files.map(|file| (file, "")));
        let pool = Pool::new(&[], source.listing());
        let held = files.map(|file| (file, RepoPath::new(file).unwrap()));
        let held = held.iter().filter(|(_, path)| pool.standing(path).is_some());
        let held: Vec<&str> = held.map(|(file, _)| *file).collect();
        assert_eq!(
            held,
            [
                "django/__init__.py",
                "django/test/__init__.py",
                "django/test/client.py",
                "numpy/__init__.py",
                "numpy/testing/__init__.py",
                "numpy/testing/_private/extra.py",
                "app/__init__.py",
            ]
        );
    }

    #[test]
    fn failure_in_example_ranks_example() {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let none = Listing::default();
        let holds = |target: &str, file: &str| {
            let pool = Pool::new(&[path(target)], &none);
            pool.standing(&path(file)).is_some()
        };
        let target = "examples/shop/src/cart.test.ts";
        assert!(holds(target, "examples/shop/src/cart.ts") && holds(target, "src/a.ts"));
        assert!(!holds(target, "examples/chat/src/cart.ts"));
        assert!(!holds(target, "examples/shop/src/price.test.ts"));
        assert!(!holds(target, "examples/shop/tests/cart.ts"));
        assert!(!holds(target, "examples/shop/dist/cart.ts"));
        let target = "tests/fixtures/app/main.py";
        assert!(holds(target, "tests/fixtures/app/models.py"));
        assert!(!holds(target, "tests/runner.py"));
        assert!(holds("docs/build.py", "docs/theme.py"));
        assert!(!holds("tests/test_a.py", "docs/theme.py"));
    }
}
