use std::collections::HashMap;

use super::change::{ChangeRules, ChangedFile, SEND_WITHOUT};
use super::test_files::is_test;
use crate::languages::{Meddles, Meddling, is_test_runner, meddling};
use crate::model::{Code, PatchProblem, RepoPath};
use crate::source::{Listing, Source};

/// What the changed files do to their process or to their test runner that no file of the patch did
/// before: code that only moves adds nothing.
pub(super) fn added(
    files: &[ChangedFile<'_>],
    rules: &ChangeRules<'_>,
) -> Vec<(usize, PatchProblem)> {
    let after: Vec<(usize, Vec<Meddling>)> = files
        .iter()
        .enumerate()
        .filter(|(_, file)| file.before != file.after)
        .map(|(at, file)| (at, read(file, file.after, rules)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    if after.is_empty() {
        return Vec::new();
    }
    let mut known: HashMap<(Meddles, String), usize> = HashMap::new();
    for file in files {
        for found in read(file, file.before, rules) {
            *known.entry((found.what, found.text)).or_default() += 1;
        }
    }
    let mut problems = Vec::new();
    for (at, found) in after {
        for finding in found {
            let key = (finding.what, finding.text);
            if let Some(left) = known.get_mut(&key).filter(|left| **left > 0) {
                *left -= 1;
                continue;
            }
            let (what, text) = key;
            let message = format!(
                "line {} `{text}` {}: {SEND_WITHOUT}",
                finding.line,
                what.as_str()
            );
            problems.push((at, PatchProblem::new(Code::P712, message)));
        }
    }
    problems
}

fn read(file: &ChangedFile<'_>, bytes: Option<&[u8]>, rules: &ChangeRules<'_>) -> Vec<Meddling> {
    let (Some(bytes), Ok(path)) = (bytes, RepoPath::new(file.path)) else {
        return Vec::new();
    };
    let mut found = meddling(&path, bytes);
    // What belongs to tests may use their runner in every way; it must neither end the process nor
    // change the runner, unless that is what the repository makes.
    let makes_runner = !found.is_empty() && is_runner_itself(rules.source);
    if makes_runner || is_for_tests(file.path) {
        found.retain(|it| match it.what {
            Meddles::EndsProcess => true,
            // Tests of command lines stand in for the process.
            Meddles::Patches => !makes_runner && !it.text.starts_with("process."),
            _ => false,
        });
    }
    found
}

// Tests, what helps them, and what shows or measures the product.
fn is_for_tests(path: &str) -> bool {
    const WORDS: &[&str] = &[
        "bench",
        "benches",
        "benchmark",
        "benchmarks",
        "conftest",
        "cypress",
        "demo",
        "doc",
        "docs",
        "e2e",
        "example",
        "examples",
        "fixture",
        "fixtures",
        "mock",
        "mocks",
        "playground",
        "playwright",
        "pytest",
        "spec",
        "specs",
        "stories",
        "story",
        "test",
        "testdata",
        "testing",
        "tests",
        "testutil",
        "testutils",
        "vitest",
    ];
    is_test(path)
        || path
            .to_ascii_lowercase()
            .split(['/', '.', '_', '-'])
            .any(|word| WORDS.contains(&word))
}

// A repository that makes a test runner.
fn is_runner_itself(source: &dyn Source) -> bool {
    let listing: &Listing = source.listing();
    let made = [
        "_pytest", "unittest", "nose2", "vitest", "mocha", "jest", "chai", "sinon", "ava",
    ];
    let has = |directory: String| listing.has_directory(&directory);
    made.iter().any(|name| {
        has((*name).to_owned())
            || has(format!("src/{name}"))
            || has(format!("Lib/{name}"))
            || has(format!("packages/{name}"))
    }) || listing.file("package.json").is_some_and(|path| {
        source
            .read(path)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
            .and_then(|manifest| manifest.get("name")?.as_str().map(is_test_runner))
            .unwrap_or(false)
    })
}
