/// Modules that run tests or belong to what does, by their first part.
const RUNNERS: &[&str] = &[
    "_pytest",
    "ava",
    "chai",
    "jasmine",
    "jest",
    "mocha",
    "mock",
    "node:test",
    "nose",
    "nose2",
    "playwright",
    "pluggy",
    "pytest",
    "sinon",
    "tap",
    "testtools",
    "unittest",
    "unittest2",
    "uvu",
    "vitest",
];

/// Scopes whose packages all belong to a test runner.
const RUNNER_SCOPES: &[&str] = &["@jest/", "@vitest/", "@ava/", "@playwright/", "@tapjs/"];

/// Whether a module or package is a test runner, or a part of one.
#[must_use]
pub fn is_test_runner(module: &str) -> bool {
    let first = module.split(['.', '/']).next().unwrap_or_default();
    RUNNERS.contains(&first)
        || module.starts_with("node:test/")
        || RUNNERS.contains(&module)
        || RUNNER_SCOPES.iter().any(|scope| module.starts_with(scope))
}

/// What runners set in the environment of a test.
const MARKS: &[&str] = &[
    "PYTEST_CURRENT_TEST",
    "PYTEST_VERSION",
    "PYTEST_XDIST_WORKER",
    "PYTEST_ADDOPTS",
    "VITEST",
    "VITEST_WORKER_ID",
    "VITEST_POOL_ID",
    "VITEST_MODE",
    "JEST_WORKER_ID",
    "NODE_TEST_CONTEXT",
    "NODE_TEST_WORKER_ID",
    "MOCHA_WORKER_ID",
    "AVA_PATH",
    "TAP_CHILD_ID",
    "TEST_WORKER_INDEX",
    "PLAYWRIGHT_TEST",
];

pub(in crate::languages) fn is_mark(word: &str) -> bool {
    MARKS.contains(&word)
}

/// Whether a text names a runner, as a path or an argument would.
pub(in crate::languages) fn names_runner(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "pytest",
        "unittest",
        "nose",
        "vitest",
        "jest",
        "mocha",
        "node:test",
        "tinypool",
    ];
    let lower = text.to_ascii_lowercase();
    WORDS.iter().any(|word| {
        lower
            .split(|it: char| !(it.is_ascii_alphanumeric() || it == ':'))
            .any(|part| part == *word)
    })
}

/// What runners of scripts put into the global scope.
pub(in crate::languages) const RUNNER_GLOBALS: &[&str] = &[
    "afterAll",
    "afterEach",
    "assert",
    "beforeAll",
    "beforeEach",
    "describe",
    "expect",
    "it",
    "jest",
    "suite",
    "test",
    "vi",
];
