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
    /// What the figures say with that agent, and what they do not.
    pub measures: String,
    /// The highest rung that was allowed.
    pub max_level: Level,
    /// Which part of the fixtures this is; `null` is all.
    pub partition: Option<Partition>,
    /// One row a fixture, by name.
    pub fixtures: Vec<FixtureOutcome>,
    /// Over all of them.
    pub totals: Tally,
    /// What was repaired, with and without what is easy.
    #[serde(default)]
    pub repairs: Repairs,
    /// What the packets showed of what a repair needs.
    #[serde(default)]
    pub sight: Sight,
    /// By the kind of the failure.
    pub by_kind: Vec<TallyRow>,
    /// By language.
    pub by_language: Vec<TallyRow>,
    /// By the public repository that they come from; empty for made ones.
    #[serde(default)]
    pub by_repository: Vec<TallyRow>,
    /// What packets showed up to each rung.
    #[serde(default)]
    pub sight_by_level: Vec<LevelSight>,
    /// By the level that the fixture says it needs.
    pub by_level: Vec<TallyRow>,
    /// How many were fixed by each rung.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Whether it is easy: the failure names the one file, and the one place in it, to change.
    #[serde(default)]
    pub toy: bool,
    /// Whether it came out as it should.
    pub result: FixtureResult,
    /// Whether it has hidden tests.
    #[serde(default)]
    pub hidden_tests: bool,
    /// Whether it was repaired: the run is fixed, and no hidden test says otherwise.
    #[serde(default)]
    pub repaired: bool,
    /// What its hidden tests said of the repaired files; `null` when it has none or nothing was
    /// fixed.
    #[serde(default)]
    pub hidden: Option<HiddenTests>,
    /// How the run stood; `null` when there was none.
    pub status: Option<RunStatus>,
    /// How it ended.
    pub stop_reason: Option<StopReason>,
    /// The highest rung that was used.
    pub level: Level,
    /// Attempts, heals included.
    pub attempts: u32,
    /// Whether a change without a model repaired it.
    pub healed: bool,
    /// The lowest rung whose packet held every needed file, whole or in part; `null` when none did.
    #[serde(default)]
    pub held_level: Option<Level>,
    /// The lowest rung whose packet held them and showed every line that the repair changes; `null`
    /// when none did.
    #[serde(default)]
    pub shown_level: Option<Level>,
    /// Whether the first packet held every needed file, whole or in part.
    #[serde(default)]
    pub first_held: bool,
    /// Bytes of all its packets.
    pub packet_bytes: u64,
    /// Estimated tokens of the files of all its packets.
    #[serde(default)]
    pub packet_tokens: u64,
    /// Times the agent was called.
    #[serde(default)]
    pub agent_calls: u32,
    /// What the agent says it cost.
    #[serde(default)]
    pub usage: Usage,
    /// Seconds in which its test was run, of all seconds.
    #[serde(default)]
    pub command_seconds: f64,
    /// A digest over level and files of each packet, in order.
    pub packets: Vec<String>,
    /// Seconds.
    pub seconds: f64,
    /// What is not as it should be, a sentence each; empty when it passed.
    pub why: Vec<String>,
    /// Where something forbidden was found: files of the run's folder.
    pub leaks: Vec<String>,
}

/// Whether a fixture came out as it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixtureResult {
    /// It ended as its author says, nothing leaked, nothing was accepted that had to be refused.
    Passed,
    /// It did not.
    Failed,
    /// A program that it needs is missing here.
    Skipped,
    /// The run could not be made.
    Error,
}

/// What hidden tests say of what a run calls fixed.
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
    /// Of those that are no toys.
    pub without_toys: Tally,
    /// Of the toys.
    pub toys: Tally,
    /// Of those with hidden tests.
    pub with_hidden_tests: Tally,
}

/// How many packets held what a repair needs, over the fixtures whose agent was given one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sight {
    /// Fixtures that can be repaired and whose agent was given a packet.
    pub of: u64,
    /// Every needed file was in a packet, whole or in part.
    pub held: u64,
    /// A packet held them and showed every line that the reference changes.
    pub shown: u64,
    /// The first packet held every needed file, whole or in part.
    #[serde(default)]
    pub first: u64,
}

/// How many packets held what a repair needs up to one rung.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LevelSight {
    /// The rung.
    pub level: Level,
    /// Every needed file was in a packet of this rung or a lower one.
    pub held_so_far: u64,
    /// And every line that the reference changes was shown.
    pub shown_so_far: u64,
    /// Fixtures that can be repaired and whose agent was given a packet.
    pub of: u64,
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

/// A rung of the ladder and what it was worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rung {
    /// The rung.
    pub level: Level,
    /// Fixtures fixed with this rung as the highest used.
    pub fixed: u64,
    /// Fixtures fixed with this rung or a lower one.
    pub fixed_so_far: u64,
    /// Fixtures that can be fixed and were run.
    pub of: u64,
    /// Bytes of packets of those fixed at this rung, on average.
    pub mean_packet_bytes: u64,
}

/// What differs from an earlier document.
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
