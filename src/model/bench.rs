//! The document of `mendit bench`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailureKind, Level, RepoPath, RunStatus, StopReason, Usage};

/// `bench --format json`: how often the fix loop repairs broken fixtures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BenchDocument {
    /// Always [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `bench`.
    pub document: String,
    /// The agent: `builtin`, `oracle`, `replay` or a command.
    pub agent: String,
    /// The highest level allowed.
    pub max_level: Level,
    /// The part of the fixtures; `null` for all.
    pub partition: Option<Partition>,
    /// One row per fixture, sorted by name.
    pub fixtures: Vec<FixtureOutcome>,
    /// Totals over all fixtures.
    pub totals: Tally,
    /// Counts of what was fixed.
    pub repairs: Repairs,
    /// By the kind of the failure.
    pub by_kind: Vec<TallyRow>,
    /// By language.
    pub by_language: Vec<TallyRow>,
    /// By the public repository that they come from; empty for made ones.
    pub by_repository: Vec<TallyRow>,
    /// By the level that the fixture requires.
    pub by_level: Vec<TallyRow>,
    /// Fixes without an LLM where the fixture calls that unsafe.
    pub wrong_heals: u64,
    /// Fixtures whose run leaked forbidden content.
    pub leaks: u64,
    /// Fixtures whose run ended as fixed while the hidden tests failed.
    pub hidden_failed: u64,
    /// Against an earlier document.
    pub comparison: Option<Comparison>,
}

/// A part of the fixtures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// The number of this part, from 1.
    pub index: u32,
    /// The number of parts.
    pub count: u32,
}

/// The result of one fixture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixtureOutcome {
    /// The fixture's folder.
    pub id: String,
    /// The breakage.
    pub title: String,
    /// Its language.
    pub language: String,
    /// The public repository that it comes from; `null` for a written one.
    pub repository: Option<String>,
    /// The kind of failure that it names.
    pub kind: FailureKind,
    /// The context level that its fix needs, by its own account.
    pub needed_level: Option<Level>,
    /// Whether a run can fix it.
    pub fixable: bool,
    /// Whether it passed.
    pub result: FixtureResult,
    /// Whether it has hidden tests.
    pub hidden_tests: bool,
    /// Whether it was fixed: the run ended as fixed, and no hidden test failed.
    pub repaired: bool,
    /// The result of its hidden tests on the fixed files; `null` if it has none or nothing was fixed.
    pub hidden: Option<HiddenTests>,
    /// The status of the run; `null` if there was none.
    pub status: Option<RunStatus>,
    /// How it ended.
    pub stop_reason: Option<StopReason>,
    /// The highest level that was used.
    pub level: Level,
    /// Attempts, including fixes without an LLM.
    pub attempts: u32,
    /// Whether a fix without an LLM fixed it.
    pub healed: bool,
    /// Bytes of all its packets.
    pub packet_bytes: u64,
    /// Times the agent was called.
    pub agent_calls: u32,
    /// Tokens and cost that the agent reports.
    pub usage: Usage,
    /// Seconds spent in its test, included in `seconds`.
    pub command_seconds: f64,
    /// Seconds.
    pub seconds: f64,
    /// Problems, one sentence each; empty if it passed.
    pub why: Vec<String>,
    /// Files of the run's folder that contain forbidden content.
    pub leaks: Vec<String>,
    /// The patch that it ended with.
    #[serde(skip)]
    pub patch: Option<String>,
}

/// Whether a fixture passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixtureResult {
    /// It ended as its author expects, nothing leaked, and every dishonest reply was refused.
    Passed,
    /// It failed.
    #[default]
    Failed,
    /// A required program is not installed.
    Skipped,
    /// It could not be run.
    Error,
}

/// The result of hidden tests on a fixed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HiddenTests {
    /// The fix is right.
    Passed,
    /// The visible tests pass, and the fault remains.
    Failed,
}

/// Shares of fixed fixtures. A run that fails its hidden tests counts as not fixed. Of
/// all fixtures that can be repaired.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repairs {
    /// The share of all fixtures.
    pub all: Tally,
    /// The share of the fixtures with hidden tests.
    pub with_hidden_tests: Tally,
}

/// A share with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// Fixtures that passed.
    pub passed: u64,
    /// Fixtures that were run.
    #[serde(rename = "run")]
    pub fixtures_run: u64,
    /// Fixtures that were skipped.
    pub skipped: u64,
    /// Passed of run; 0 when none was run.
    pub rate: f64,
    /// Lower end of the 95 % interval of Wilson.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A tally with the name of its group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TallyRow {
    /// The group.
    pub name: String,
    /// Its tally.
    #[serde(flatten)]
    pub tally: Tally,
}

/// Differences from an earlier document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Passed before and fails now.
    pub regressed: Vec<String>,
    /// Passes now and failed before.
    pub gained: Vec<String>,
    /// In only one of the two documents.
    pub missing: Vec<String>,
}

/// Fixes of one repository's history, by reference: what `bench mine` writes and `bench real` runs.
/// It contains nothing of the repository's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RealFixes {
    /// Always [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `real-fixes`.
    pub document: String,
    /// The repository that the fixes come from.
    pub repository: RealRepository,
    /// The environments of their tests.
    pub environments: Vec<RealEnvironment>,
    /// The fixes, newest first.
    pub fixes: Vec<RealFix>,
}

/// A public repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RealRepository {
    /// Owner and name, such as `pallets/click`.
    pub name: String,
    /// Where it can be cloned from.
    pub url: String,
    /// Its licence, as SPDX writes it.
    pub licence: String,
    /// The language that totals are given by.
    pub language: String,
}

/// The environment of the tests of some fixes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RealEnvironment {
    /// Its name in the set.
    pub name: String,
    /// The commit that the setup runs on.
    pub commit: String,
    /// Lines for a shell, run once in the checkout; `{env}` is a folder of the environment's own.
    pub setup: Vec<String>,
    /// A line for a shell; `{tests}` are the test files.
    pub test: String,
    /// Variables of all its commands, `NAME=VALUE`.
    pub variables: Vec<String>,
    /// Programs without which it is not available.
    pub needs: Vec<String>,
    /// Seconds that a run of tests may take.
    pub timeout_seconds: f64,
}

/// One fix that was proven both ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RealFix {
    /// Its name, such as `click-c3535905c`.
    pub id: String,
    /// The commit that fixes; its tests are taken from there.
    pub commit: String,
    /// The commit that is to be fixed.
    pub parent: String,
    /// Seconds since 1970 of the fix.
    pub time: i64,
    /// The environment's name.
    pub environment: String,
    /// Files of tests and their data, as the fix has them, laid over the parent.
    pub taken: Vec<RepoPath>,
    /// Test files that are run and seen.
    pub tests: Vec<RepoPath>,
    /// Test files that import what the fix changes and are run with `tests` on the repaired files.
    /// They are never named in a command that the agent can see.
    pub hidden: Vec<RepoPath>,
    /// Tests that passed with the fix when `tests` and `hidden` were run.
    pub hidden_passed: u64,
    /// Files that the fix changes, and the lines of the parent that it changes.
    pub needed: Vec<NeededFile>,
    /// The diagnosed kind of failure.
    pub kind: FailureKind,
    /// Tests that failed, by number; 0 where the output names none.
    pub failing: u64,
}

/// A file that a fix changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeededFile {
    /// The file.
    pub path: RepoPath,
    /// Lines of the parent that change, first and last, from 1; where lines only come, the line
    /// before. Empty for a file that the fix makes or removes.
    pub lines: Vec<[u32; 2]>,
}

/// `bench mine --format json`: what was looked at, kept and dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MineDocument {
    /// Always [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `bench-mine`.
    pub document: String,
    /// Owner and name.
    pub repository: String,
    /// Commits of the main line that were looked at.
    pub commits: u64,
    /// Commits that change tests and product and were tried.
    pub tried: u64,
    /// Fixes in the set.
    pub kept: u64,
    /// Why the others were dropped: how many, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// The tried candidates that were dropped, newest first.
    pub candidates: Vec<DroppedCandidate>,
    /// Whether there is more to look at: `--limit` was reached.
    pub more: bool,
    /// Seconds of this run.
    pub seconds: f64,
}

/// A candidate that was tried and dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DroppedCandidate {
    /// The commit.
    pub commit: String,
    /// The reason, one of the keys of `dropped`.
    pub reason: String,
    /// The observation, in a few words.
    pub said: String,
}

/// `bench compare`: two benches over the same cases, case by case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchPairs {
    /// Always [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `bench-pairs`.
    pub document: String,
    /// The first.
    pub first: PairedSide,
    /// The second.
    pub second: PairedSide,
    /// Cases that both ran.
    pub cases: u64,
    /// Repaired by both.
    pub both: u64,
    /// Repaired by neither.
    pub neither: u64,
    /// Repaired by the first alone.
    pub only_first: Vec<String>,
    /// Repaired by the second alone.
    pub only_second: Vec<String>,
    /// Cases that only one of the two ran; they are not counted.
    pub unpaired: Vec<String>,
    /// The p-value of the exact two-sided test for paired shares: the probability of a difference this large by chance.
    pub p: f64,
}

/// One side of a paired comparison, over the cases that both ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PairedSide {
    /// The agent.
    pub agent: String,
    /// Repaired.
    pub repaired: Tally,
    /// Seconds of all cases.
    pub seconds: f64,
    /// Calls of the agent.
    pub agent_calls: u64,
    /// Bytes of all packets.
    pub packet_bytes: u64,
}
