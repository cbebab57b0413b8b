//! Finds assertions of failing tests, and the values that a patch copies from them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::error::RepairError;
use super::run::Session;
use crate::fixes::{lies_where_it_shows, own_files};
use crate::graph::Graph;
use crate::languages::{Language, words};
use crate::model::{RepoPath, Subkind};
use crate::patch::Change;
use crate::policy::{is_test, is_test_text};
use crate::rank::Pool;
use crate::source::Source;

impl Session<'_> {
    /// Returns the files of a change that are test code and may not be what turns a failure green: those in which it
    /// does not lie, and which nobody let pass.
    pub(super) fn changed_tests(
        &self,
        changes: &[Change],
    ) -> Result<BTreeSet<RepoPath>, RepairError> {
        let source = self.stage.place.source()?;
        let source = source.as_ref();
        let pool = Pool::new(&[], source.listing());
        let diagnosis = self.seen.diagnosis.as_ref();
        // Tests that run more lines are what a missed threshold asks for.
        if diagnosis.is_some_and(|diagnosis| diagnosis.subkind == Some(Subkind::Coverage)) {
            return Ok(BTreeSet::new());
        }
        let own = diagnosis.map(own_files).unwrap_or_default();
        let lies_in_tests = diagnosis.is_some_and(|diagnosis| lies_where_it_shows(diagnosis.kind));
        let tests = changes.iter().filter(|change| {
            let path = &change.path;
            let before = change.standing.as_ref().or(change.before.as_ref());
            is_test(path.as_str()) && pool.standing(path).is_none()
                || before.is_some_and(|before| is_test_text(path.as_str(), &before.bytes))
                || change.before.is_some() && is_data_of_tests(path, source)
                || is_loaded_before_tests(path, source)
        });
        let tests = tests.filter(|change| {
            let path = &change.path;
            // A missing file that a test reads as data or could not load is new, not changed test code.
            let is_missing = change.standing.is_none()
                && (lies_in_tests || Language::of_path(path.as_str()).is_none());
            !self.is_allowed(path) && own.iter().all(|test| test != path.as_str()) && !is_missing
        });
        Ok(tests.map(|change| change.path.clone()).collect())
    }
}

// Whether a file without code is named in tests and nowhere in the product.
fn is_data_of_tests(path: &RepoPath, source: &dyn Source) -> bool {
    if Language::of_path(path.as_str()).is_some() {
        return false;
    }
    let files = source.listing().files().map(|file| &file.path);
    let naming = files.filter(|file| Language::of_path(file.as_str()).is_some()).filter(|file| {
        let text = source.read(file).unwrap_or_default();
        memchr::memmem::find(&text, path.file_name().as_bytes()).is_some()
    });
    let mut by_tests = naming.map(|file| is_test(file.as_str())).peekable();
    by_tests.peek().is_some() && by_tests.all(|is_test| is_test)
}

// Where runners are configured to load code before tests: https://docs.pytest.org/en/stable/reference/reference.html,
// https://vitest.dev/config/#setupfiles, https://jestjs.io/docs/configuration#setupfiles-array, https://mochajs.org.
#[expect(clippy::expect_used, reason = "constants")]
static LOADS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?:pytest_plugins|setupFiles\w*|globalSetup|--require|['\x22]?require['\x22]?\s*:|-p)\s*[=:\s]\s*(?:\[[^\]]*\]|\([^)]*\)|[^\n,]*)";
    Regex::new(pattern).expect("the pattern is valid")
});
#[expect(clippy::expect_used, reason = "constants")]
static BASES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^class \w+(?:\(([^)]*)\)|\s+extends\s+([\w.]+))")
        .expect("the pattern is valid")
});

// Whether a runner loads a file before the tests, or tests inherit from it, and the product does not import it.
fn is_loaded_before_tests(path: &RepoPath, source: &dyn Source) -> bool {
    if Language::of_path(path.as_str()).is_none() || is_test(path.as_str()) {
        return false;
    }
    let stem = path.as_str().rsplit_once('.').map_or("", |(stem, _)| stem);
    let module = stem.replace('/', ".");
    let short = module.strip_prefix("src.").unwrap_or(&module);
    let own = source.read(path).unwrap_or_default();
    let own = String::from_utf8_lossy(&own).into_owned();
    let files = source.listing().files().map(|file| &file.path);
    let mut files = files.filter(|file| *file != path && !file.as_str().contains("node_modules"));
    let is_loaded = files.any(|file| {
        let is_test = is_test(file.as_str());
        let is_config = file.file_name().contains("config")
            || matches!(
                file.file_name(),
                "pytest.ini" | "pyproject.toml" | "setup.cfg" | "tox.ini" | "package.json"
            )
            || file.file_name().starts_with(".mocharc");
        if !is_test && !is_config {
            return false;
        }
        let text = source.read(file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut lists = LOADS.find_iter(&text).map(|list| list.as_str());
        let mut bases = BASES.captures_iter(&text).filter(|_| is_test);
        lists.any(|list| list.contains(stem) || list.contains(short))
            || bases.any(|bases| {
                let bases = bases.get(1).or(bases.get(2)).map_or("", |text| text.as_str());
                let mut names = bases.split(',').map(|base| base.trim().rsplit('.').next());
                names.any(|name| {
                    name.is_some_and(|name| {
                        !name.is_empty()
                            && words(own.as_bytes(), &format!("class {name}")).next().is_some()
                    })
                })
            })
    });
    is_loaded
        && Graph::new(source)
            .importing(std::slice::from_ref(path), 1, false)
            .nodes
            .iter()
            .all(|node| node.path == *path || is_test(node.path.as_str()))
}
