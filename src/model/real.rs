use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FailureKind, RepoPath, Tally};

/// Fixes of one repository's history, by reference: what `bench mine` writes and `bench real` runs.
/// It contains nothing of the repository's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RealFixes {
    /// Always [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `real-fixes`.
    pub document: String,
    /// Whose fixes they are.
    pub repository: RealRepository,
    /// The environments of their tests.
    pub environments: Vec<RealEnvironment>,
    /// The fixes, newest first.
    pub fixes: Vec<RealFix>,
}

/// A public repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
    /// The commit whose files the set-up is run on.
    pub commit: String,
    /// Lines for a shell, run once in the checkout; `{env}` is a folder of the environment's own.
    pub setup: Vec<String>,
    /// A line for a shell; `{tests}` are the test files.
    pub test: String,
    /// Variables of all its commands, `NAME=VALUE`.
    pub variables: Vec<String>,
    /// Programs without which it cannot be had.
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
    /// Test files that import what the fix changes and are run with `tests` on the repaired files;
    /// no run sees them asked for.
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
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
    /// Commits that change tests and product and were tried, now or earlier.
    pub tried: u64,
    /// Fixes in the set.
    pub kept: u64,
    /// Why the others were dropped: how many, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// The tried candidates that were dropped, newest first.
    pub candidates: Vec<DroppedCandidate>,
    /// Problems of the available history; empty if it is complete.
    pub incomplete: Vec<String>,
    /// Whether there is more to look at: `--limit` was reached.
    pub more: bool,
    /// Seconds of this run.
    pub seconds: f64,
}

/// A candidate that was tried and dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// Cases that one of them did not run; they count for nothing.
    pub unpaired: Vec<String>,
    /// The two-sided exact test for paired shares: how likely a difference as large is where there is none.
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
    /// Estimated tokens of the files of all packets.
    pub packet_tokens: u64,
}
