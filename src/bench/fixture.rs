//! The format of a fixture: `fixture.toml` and the files beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::exec::on_path;
use crate::model::{FailureKind, Level, RepoPath, RunStatus, StopReason};

/// A broken repository and all that is known of its repair: `fixture.toml` and what is
/// beside it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fixture {
    /// The name of its folder.
    #[serde(skip)]
    pub id: String,
    /// Its folder.
    #[serde(skip)]
    pub directory: PathBuf,
    /// The public repository that it comes from; none for one that was made.
    #[serde(skip)]
    pub repository: Option<String>,
    /// What is broken, in one sentence.
    pub title: String,
    /// The language, as totals are given by it.
    pub language: String,
    /// A line for a shell that fails, and passes once the repair is made.
    pub test: String,
    /// Programs without which the fixture is skipped.
    pub needs: Vec<String>,
    /// Files that are needed to write the fix.
    #[serde(default)]
    pub needed: Vec<RepoPath>,
    /// The lowest level whose packet holds them all; none where no packet helps.
    pub level: Option<Level>,
    /// Whether a fix without an LLM is right here. One that is made anyway counts as wrong.
    pub heal_safe: bool,
    /// Seconds that the test may take.
    #[serde(default = "default_timeout")]
    pub timeout_seconds: f64,
    /// Files that the failure is about, where the log names none.
    #[serde(default)]
    pub targets: Vec<RepoPath>,
    /// A line for a shell that runs what is in `hidden`, laid over the repaired files. It passes
    /// when it exits with 0 and prints [`HIDDEN_PASSED`] on a line of its own.
    pub hidden_test: Option<String>,
    /// The diagnosis, and how a run must end that is given what it needs.
    pub expect: Expected,
    /// How a run with the recorded replies must end.
    pub replay: Option<FixtureEnd>,
    /// Content that no packet, prompt, log or artifact may have.
    #[serde(default)]
    pub forbid: Forbidden,
    /// Values that represent `{{secret:NAME}}`, in parts, so that no scanner finds them here.
    #[serde(default)]
    pub secrets: BTreeMap<String, Vec<String>>,
    /// The patch that repairs it, when one can.
    #[serde(skip)]
    pub reference: Option<Vec<u8>>,
    /// Recorded replies, by file name.
    #[serde(skip)]
    pub replies: Vec<Reply>,
}

/// The expected result of a fixture.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Expected {
    /// The kind of its failure.
    pub kind: FailureKind,
    /// The finer word; any is right where none is given.
    pub subkind: Option<String>,
    /// How the run is at its end.
    pub status: RunStatus,
    /// How it ends.
    pub stop_reason: StopReason,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FixtureEnd {
    /// Its state.
    pub status: RunStatus,
    /// How it ended.
    pub stop_reason: StopReason,
}

/// Content that must not leak.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Forbidden {
    /// Texts, after secrets were filled in.
    pub text: Vec<String>,
    /// Files whose content may be in no packet.
    pub paths: Vec<RepoPath>,
}

/// A recorded reply of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Its file.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// What hidden tests print when all of them have passed. An exit code alone would believe a product
/// that leaves the process while it loads.
pub const HIDDEN_PASSED: &str = "hidden tests passed";

impl Fixture {
    /// The end that a run with what it needs must come to.
    pub fn end(&self) -> FixtureEnd {
        FixtureEnd {
            status: self.expect.status,
            stop_reason: self.expect.stop_reason,
        }
    }

    /// Whether a repair exists that a run can make.
    pub fn is_fixable(&self) -> bool {
        self.expect.status == RunStatus::Fixed
    }

    /// The time limit of its test.
    pub fn timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.timeout_seconds).unwrap_or(Duration::from_secs(1))
    }

    /// Replaces the names of the secrets with their values.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, parts) in &self.secrets {
            filled = filled.replace(&format!("{{{{secret:{name}}}}}"), &parts.concat());
        }
        filled
    }

    /// Every text that must not leave, filled in; the values of the secrets among them.
    pub fn forbidden_texts(&self) -> Vec<String> {
        let secrets = self.secrets.values().map(|parts| parts.concat());
        let forbidden = self.forbid.text.iter().map(|text| self.fill(text));
        let mut texts: Vec<String> = forbidden.chain(secrets).collect();
        texts.sort();
        texts.dedup();
        texts.retain(|text| !text.is_empty());
        texts
    }
}

/// Returns the programs that a fixture needs and that are not on the search path.
pub fn missing_programs(fixture: &Fixture) -> Vec<String> {
    fixture.needs.iter().filter(|name| on_path(name).is_none()).cloned().collect()
}

fn default_timeout() -> f64 {
    120.0
}
