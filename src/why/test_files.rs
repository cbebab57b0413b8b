//! Tells which files hold the failing tests.

use crate::model::{Diagnosis, RepoPath};
use crate::policy::is_test;

/// Checks whether a file contains a failing test. The location of a failure may be a line of the product, so
/// the test's id must contain the file's name, or the file must be named like a test.
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
