use crate::model::{Language, RepoPath};

/// Whether a file is one that a repair may have to change: source code that is no test, fixture,
/// example, generated or vendored file. Others are still given when the log or a request names
/// them.
#[must_use]
pub fn is_candidate(path: &RepoPath) -> bool {
    let text = path.as_str();
    let is_source = Language::of_path(text).is_some() || has_script_block(text);
    is_source
        && !is_test_file(path.file_name())
        && !is_configuration(path.file_name())
        && !path
            .directory()
            .split('/')
            .any(|directory| OUTSIDE.contains(&directory.to_ascii_lowercase().as_str()))
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

const OUTSIDE: [&str; 31] = [
    "test",
    "tests",
    "testing",
    "__tests__",
    "__mocks__",
    "__snapshots__",
    "__fixtures__",
    "fixture",
    "fixtures",
    "spec",
    "specs",
    "e2e",
    "cypress",
    "mocks",
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
];

#[cfg(test)]
mod tests {
    use super::is_candidate;
    use crate::model::RepoPath;

    #[test]
    fn tests_and_fixtures_are_no_candidates() {
        let is = |text| is_candidate(&RepoPath::new(text).unwrap());
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
}
