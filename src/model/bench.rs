use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailureKind, Level, RunStatus, StopReason, Usage};

/// `bench --format json`: how often the loop repairs what fixtures broke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BenchDocument {
    /// Always [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `bench`.
    pub document: String,
    /// Who was asked: `builtin`, `oracle`, `replay` or a command.
    pub agent: String,
    /// The highest level that was allowed.
    pub max_level: Level,
    /// Which part of the fixtures this is; `null` is all.
    pub partition: Option<Partition>,
    /// One row a fixture, by name.
    pub fixtures: Vec<FixtureOutcome>,
    /// Over all of them.
    pub totals: Tally,
    /// Counts of what was fixed.
    #[serde(default)]
    pub repairs: Repairs,
    /// By the kind of the failure.
    pub by_kind: Vec<TallyRow>,
    /// By language.
    pub by_language: Vec<TallyRow>,
    /// By the public repository that they come from; empty for made ones.
    #[serde(default)]
    pub by_repository: Vec<TallyRow>,
    /// By the level that the fixture says it needs.
    pub by_level: Vec<TallyRow>,
    /// How many were fixed at each level.
    pub ladder: Vec<Rung>,
    /// Repairs without a model where the fixture calls that unsafe.
    pub wrong_heals: u64,
    /// Fixtures of which something forbidden was found in what a run wrote.
    pub leaks: u64,
    /// Fixtures of which a run was called fixed and the hidden tests failed.
    #[serde(default)]
    pub hidden_failed: u64,
    /// Against an earlier document.
    #[serde(default)]
    pub comparison: Option<Comparison>,
}

/// A part of the fixtures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Partition {
    /// Which one, from 1.
    pub index: u32,
    /// Of how many.
    pub count: u32,
}

/// How one fixture went.
#[expect(clippy::struct_excessive_bools, reason = "they vary independently")]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixtureOutcome {
    /// The fixture's folder.
    pub id: String,
    /// What is broken.
    pub title: String,
    /// Its language.
    pub language: String,
    /// The public repository that it comes from; `null` for one that was made.
    #[serde(default)]
    pub repository: Option<String>,
    /// The kind that it names.
    pub kind: FailureKind,
    /// The level that it says its repair needs.
    pub needed_level: Option<Level>,
    /// Whether a repair exists that a run can make.
    pub fixable: bool,
    /// Whether it came out as it should.
    pub result: FixtureResult,
    /// Whether it has hidden tests.
    #[serde(default)]
    pub hidden_tests: bool,
    /// Whether it was repaired: the run is fixed, and no hidden test says otherwise.
    #[serde(default)]
    pub repaired: bool,
    /// The result of its hidden tests on the fixed files; `null` if it has none or nothing was fixed.
    #[serde(default)]
    pub hidden: Option<HiddenTests>,
    /// The status of the run; `null` if there was none.
    pub status: Option<RunStatus>,
    /// How it ended.
    pub stop_reason: Option<StopReason>,
    /// The highest level that was used.
    pub level: Level,
    /// Attempts, including fixes without an LLM.
    pub attempts: u32,
    /// Whether a change without a model repaired it.
    pub healed: bool,
    /// Bytes of all its packets.
    pub packet_bytes: u64,
    /// Estimated tokens of the files of all its packets.
    #[serde(default)]
    pub packet_tokens: u64,
    /// Times the agent was called.
    #[serde(default)]
    pub agent_calls: u32,
    /// Tokens and cost that the agent reports.
    #[serde(default)]
    pub usage: Usage,
    /// Seconds in which its test was run, of all seconds.
    #[serde(default)]
    pub command_seconds: f64,
    /// Seconds.
    pub seconds: f64,
    /// Problems, one sentence each; empty if it passed.
    pub why: Vec<String>,
    /// Where something forbidden was found: files of the run's folder.
    pub leaks: Vec<String>,
}

/// Whether a fixture came out as it should.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixtureResult {
    /// It ended as its author says, nothing leaked, nothing was accepted that had to be refused.
    Passed,
    /// It did not.
    #[default]
    Failed,
    /// A program that it needs is missing here.
    Skipped,
    /// The run could not be made.
    Error,
}

/// The result of hidden tests on a fixed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HiddenTests {
    /// It is a repair.
    Passed,
    /// It is none: the tests that could be seen pass, and the fault is still there.
    Failed,
}

/// Shares of what was repaired. A run that is fixed and fails its hidden tests repaired nothing. Of
/// all fixtures that can be repaired.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repairs {
    /// Of all.
    pub all: Tally,
    /// Of those with hidden tests.
    pub with_hidden_tests: Tally,
}

/// A share and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Fixtures that passed.
    pub passed: u64,
    /// Fixtures that were run.
    pub run: u64,
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
#[serde(rename_all = "camelCase")]
pub struct TallyRow {
    /// The group.
    pub name: String,
    /// Its tally.
    #[serde(flatten)]
    pub tally: Tally,
}

/// A context level and its share of fixes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rung {
    /// The level.
    pub level: Level,
    /// Fixtures fixed with this as the highest level.
    pub fixed: u64,
    /// Fixtures fixed at this level or a lower one.
    pub fixed_so_far: u64,
    /// Fixtures that can be fixed and were run.
    pub of: u64,
    /// Packet bytes of those fixed at this level, on average.
    pub mean_packet_bytes: u64,
}

/// Differences from an earlier document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Passed then and not now.
    pub regressed: Vec<String>,
    /// Passes now and did not then.
    pub gained: Vec<String>,
    /// Not there then.
    pub added: Vec<String>,
    /// Passed then, and was not run now.
    pub missing: Vec<String>,
}
