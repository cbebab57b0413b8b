//! Tells which files hold the failing tests.

use crate::model::{Diagnosis, RepoPath};
use crate::policy::is_test;

/// Whether a file holds the lines of a failing test, which say what is wanted. The place of a failure may be a
/// line of the product, so the test must bear the file's name, or the file must be named as tests are.
pub fn holds_failing_test(path: &RepoPath, diagnosis: &Diagnosis) -> bool {
    let path = path.as_str();
    let module = path.strip_suffix(".py").map(|stem| stem.replace('/', "."));
    diagnosis.tests.iter().any(|test| {
        let is_named = test.path.as_deref() == Some(path);
        // Runners for JavaScript name no file in the id of a test.
        let is_foreign = module.is_none() && is_test(path);
        let by_module = is_named || test.runner == "unittest";
        // `shop.tests.T.test_a`, `test_a (shop.tests.T)`.
        let mut names = test
            .id
            .split(|letter: char| !(letter.is_alphanumeric() || "_.".contains(letter)));
        let module = module.as_deref().filter(|_| by_module);
        is_named && (test.id.starts_with(path) || is_foreign)
            || names.any(|name| {
                let rest = module.and_then(|module| name.strip_prefix(module));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
    })
}
