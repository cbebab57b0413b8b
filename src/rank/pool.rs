use crate::model::{Language, RepoPath};

/// Which files a repair may have to change: source code that is no test, fixture, example,
/// generated or vendored file. Others are still given when the log or a request names them.
///
/// A failure inside an example, a demo or vendored code is about that project: its sources are
/// candidates too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    /// Folders of targets, each with a `/` at its end, whose own place in the tree says nothing.
    projects: Vec<String>,
}

impl Pool {
    /// The pool of a failure about these files.
    #[must_use]
    pub fn of(targets: &[RepoPath]) -> Self {
        let mut projects: Vec<String> = targets.iter().filter_map(project_of).collect();
        projects.sort();
        projects.dedup();
        Self { projects }
    }

    /// Where a file stands; `None` for one that the pool does not hold.
    #[must_use]
    pub fn standing(&self, path: &RepoPath) -> Option<Standing> {
        let inside = self.projects.iter().map(|project| {
            let below = path.as_str().strip_prefix(project.as_str());
            below.map_or(0, |below| path.as_str().len() - below.len())
        });
        let start = inside.max().unwrap_or(0);
        if !is_source(path, path.directory().get(start..).unwrap_or_default()) {
            return None;
        }
        Some(if start > 0 {
            Standing::SetApart
        } else {
            Standing::Product
        })
    }
}

/// What a candidate is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The product itself.
    Product,
    /// The example, demo or vendored project that a target lies in.
    SetApart,
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

fn is_source(path: &RepoPath, directory: &str) -> bool {
    let text = path.as_str();
    let is_source = Language::of_path(text).is_some() || has_script_block(text);
    is_source
        && !is_test_file(path.file_name())
        && !is_configuration(path.file_name())
        && !directory.split('/').any(|part| {
            let part = part.to_ascii_lowercase();
            TESTS.contains(&part.as_str()) || SET_APART.contains(&part.as_str())
        })
}

fn has_script_block(path: &str) -> bool {
    matches!(path.rsplit_once('.'), Some((_, "vue" | "svelte")))
}

/// Whether a file name is that of a test, by the conventions of the common runners.
pub(super) fn is_test_file(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem == "conftest"
        || name.contains(".test.")
        || name.contains(".spec.")
        || name.contains(".test-d.")
        || name.contains(".bench.")
}

fn is_configuration(name: &str) -> bool {
    name.contains(".config.") || matches!(name, "setup.py" | "noxfile.py" | "gulpfile.js")
}

/// Folders of tests and of what only tests use.
const TESTS: [&str; 11] = [
    "test",
    "tests",
    "testing",
    "__tests__",
    "__mocks__",
    "__snapshots__",
    "spec",
    "specs",
    "e2e",
    "cypress",
    "mocks",
];

/// Folders of projects beside the product.
const SET_APART: [&str; 22] = [
    "__testfixtures__",
    "__fixtures__",
    "fixture",
    "fixtures",
    "doc",
    "docs",
    "docs_src",
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "benchmark",
    "benchmarks",
    "bench",
    "vendor",
    "vendored",
    "third_party",
    "dist",
    "playground",
    "playgrounds",
];

#[cfg(test)]
mod tests {
    use super::Pool;
    use crate::model::RepoPath;

    #[test]
    fn tests_and_fixtures_are_no_candidates() {
        let is = |text| {
            Pool::default()
                .standing(&RepoPath::new(text).unwrap())
                .is_some()
        };
        assert!(is("src/user.ts") && is("pkg/contest.py") && is("app/View.vue"));
        for outside in [
            "tests/user.py",
            "src/user.test.ts",
            "src/test_user.py",
            "docs/conf.py",
            "src/__tests__/a.ts",
            "vite.config.ts",
            "dist/x.d.ts",
            "README.md",
        ] {
            assert!(!is(outside), "{outside}");
        }
    }

    #[test]
    fn a_failure_in_an_example_is_about_the_example() {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let holds =
            |target: &str, file: &str| Pool::of(&[path(target)]).standing(&path(file)).is_some();
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
