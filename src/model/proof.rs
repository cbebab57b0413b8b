//! The evidence for the status `fixed`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Evidence for the status `fixed`: the test runner's report after the change, and before it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Proof {
    /// Whether the evidence is complete: nothing is missing.
    pub proven: bool,
    /// Missing evidence, one sentence each.
    pub missing: Vec<String>,
    /// The runner that decides: the one whose tests failed.
    #[serde(flatten)]
    pub decisive: RunnerProof,
    /// Other runners and commands of the same run.
    pub also: Vec<RunnerProof>,
    /// Runs without the change that failed.
    pub red_runs: u32,
    /// Runs with the change that passed; two when those without it did not end alike.
    pub green_runs: u32,
    /// Files that the command runs and the change touches: they determine the exit code.
    pub rests_on: Vec<String>,
    /// The mutation check; `null` if no fix was proven that it could test.
    pub mutation: Option<MutationCheck>,
    /// Values of failing tests that the change itself contains, given and expected, with their places: it may
    /// answer these tests alone.
    pub own_values: Vec<String>,
    /// Lines of the change that look like tampering, for a human to review.
    pub suspicions: Vec<String>,
    /// Its strength.
    pub level: ProofLevel,
}

/// The evidence behind the status `fixed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProofLevel {
    /// The exit code alone.
    #[default]
    ExitCode,
    /// The runner reports the formerly failing tests as passed.
    Tests,
    /// They also fail when an expected value changes.
    Mutation,
}

/// Assertions of the formerly failing tests, mutated one at a time after a passing run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MutationCheck {
    /// Whether any assertion could be mutated and was reached.
    pub applicable: bool,
    /// Each assertion that was mutated.
    #[serde(rename = "negated")]
    pub mutated: Vec<MutatedAssertion>,
    /// Why assertions could not be tried.
    pub reason: Option<String>,
    /// Runs of these tests that it took.
    pub runs: u32,
}

impl MutationCheck {
    /// Counts the assertions that ended so.
    pub fn count(&self, outcome: MutationOutcome) -> usize {
        self.mutated.iter().filter(|row| row.outcome == outcome).count()
    }
}

/// An assertion whose expected value was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutatedAssertion {
    /// The test.
    pub test: String,
    /// Its file.
    pub path: String,
    /// 1-based line of the assertion.
    pub line: u32,
    /// The change, as source text.
    pub was: String,
    /// How the test ended.
    pub outcome: MutationOutcome,
}

/// How a test ended after its assertion was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MutationOutcome {
    /// It failed, as expected.
    Failed,
    /// It passed: the assertion checks nothing, or is not reached.
    Passed,
    /// Unknown: it could not be run with the change.
    NotRun,
}

/// A runner's report of its tests before and after a change.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunnerProof {
    /// The runner; `null` if the command has no known runner.
    pub runner: Option<TestRunner>,
    /// The source of its report.
    pub source: ProofSource,
    /// Its own counts before the change; `null` when it gave none.
    pub before: Option<TestCounts>,
    /// Its own counts with the change; `null` when it gave none.
    pub after: Option<TestCounts>,
    /// Each test that failed before, and how it ended.
    pub tests: Vec<ProvenTest>,
}

/// The source of a runner's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProofSource {
    /// The report that mendit requested, at a path that only this run knows.
    Report,
    /// Its output.
    Text,
    /// The exit code alone.
    #[default]
    ExitCode,
}

/// A test that failed before a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvenTest {
    /// In the runner's own spelling.
    pub id: String,
    /// How it ended with the change.
    pub ended: TestEnd,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestEnd {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It was skipped, or is only planned.
    Skipped,
    /// It failed, as the test declares (an expected failure).
    ExpectedFailure,
    /// The runner names no test that passes; its counts leave no other end.
    Counted,
    /// No report mentions it.
    NotSeen,
}

/// Tests of a run, as its runner counts them. For a checker of types or style `failed` are its
/// errors and `passed` the files that it reports as checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestCounts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that were skipped, are only planned, or failed as expected.
    pub skipped: u64,
    /// Tests that the command chose to leave out.
    pub deselected: u64,
    /// Files, suites or set-ups that could not be run at all.
    pub errors: u64,
}

impl TestCounts {
    /// Tests that it had, those left out aside.
    pub fn total(&self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

impl fmt::Display for TestCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        for (count, word) in [
            (self.errors, "errors"),
            (self.skipped, "skipped"),
            (self.deselected, "deselected"),
        ] {
            if count > 0 {
                write!(f, ", {count} {word}")?;
            }
        }
        Ok(())
    }
}

macro_rules! runners {
    ($($name:ident $word:literal,)*) => {
        /// A program that runs tests, or checks types or style.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            JsonSchema,
        )]
                pub enum TestRunner {
            $(#[doc = concat!("`", $word, "`")] #[serde(rename = $word)] $name,)*
        }

        impl TestRunner {
            /// As in JSON, and as it is called.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}
runners! {
    Pytest "pytest",
    Unittest "unittest",
    Nose "nose",
    Jest "jest",
    Vitest "vitest",
    Mocha "mocha",
    NodeTest "node:test",
    Tap "tap",
    Ava "ava",
    Jasmine "jasmine",
    Playwright "playwright",
    Tsc "tsc",
    Eslint "eslint",
    Ruff "ruff",
    Mypy "mypy",
    Pyright "pyright",
    CargoTest "cargo test",
    GoTest "go test",
}

#[cfg(test)]
mod tests {
    use super::{Proof, ProofSource, RunnerProof, TestCounts, TestRunner};

    #[test]
    fn proof_round_trips_json() {
        let proof = Proof {
            proven: true,
            decisive: RunnerProof {
                runner: Some(TestRunner::NodeTest),
                source: ProofSource::Text,
                after: Some(TestCounts {
                    passed: 2,
                    ..TestCounts::default()
                }),
                ..RunnerProof::default()
            },
            red_runs: 2,
            green_runs: 1,
            ..Proof::default()
        };
        let text = serde_json::to_value(&proof).unwrap();
        assert_eq!(text["runner"], "node:test");
        assert_eq!(text["source"], "text");
        assert_eq!(text["after"]["passed"], 2);
        assert_eq!(serde_json::from_value::<Proof>(text).unwrap(), proof);
    }
}
