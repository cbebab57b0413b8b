use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailureKind, KnownCause, Level, RepoPath};

/// What a person or an agent wants to know of a command that failed, in a few lines.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunSummary {
    /// What failed.
    pub kind: FailureKind,
    /// A finer word.
    pub subkind: Option<super::Subkind>,
    /// The same in one sentence.
    pub explanation: String,
    /// The tests that failed, each with its error; without tests, the lines that say what failed.
    pub failures: Vec<RunFailure>,
    /// Failures beyond those listed, without those that are like one of them.
    pub more: u64,
    /// Imports that are certain: `mendit fix` adds them and tries the command.
    pub certain: Vec<CertainImport>,
    /// For names without a certain import the likeliest one each, at most three.
    pub perhaps: Vec<CertainImport>,
    /// What `mendit fix` tries beside imports, each in a sentence: a spelling that a compiler
    /// suggests, a bracket that is missing. At most three.
    pub mends: Vec<String>,
    /// All that it tries, in its order, each in a sentence.
    pub tried: Vec<String>,
    /// The change that made it fail; `null` where no trial showed one.
    pub cause: Option<KnownCause>,
    /// Changes that are not committed, as `path:line`, the likeliest first, at most five: those that the
    /// failing tests reach, else all; none of them was tried. `mendit why` does that.
    pub suspects: Vec<String>,
    /// How many more there are.
    pub more_suspects: u64,
    /// What a packet for an agent comes to.
    pub packet: Option<PacketSize>,
    /// What mends the environment, when that is what fails.
    pub remedies: Vec<Remedy>,
    /// Whether nothing but a person's action helps.
    pub requires_user_action: bool,
}

/// One failure of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunFailure {
    /// The test, in the runner's own spelling; empty when no test is named.
    pub test: String,
    /// What it died of, in one line.
    pub error: String,
    /// The file of the repository, when it is known.
    pub path: Option<String>,
    /// The 1-based line in it.
    pub line: Option<u32>,
    /// The test's own file, where the error was raised in another place.
    pub test_path: Option<String>,
    /// The 1-based line in it that led there.
    pub test_line: Option<u32>,
    /// Further tests that died of the same in the same place and are not listed; told with the last
    /// one that is.
    pub alike: u64,
}

impl RunFailure {
    /// The file and the line it was raised in, where that is a path of a repository.
    #[must_use]
    pub fn place(&self) -> Option<(&str, Option<u32>)> {
        let path = self.path.as_deref()?;
        RepoPath::new(path).ok().map(|_| (path, self.line))
    }

    /// The test, its error, and where the test stands when the error was raised elsewhere.
    #[must_use]
    pub fn told(&self) -> String {
        let mut text = match self.test.as_str() {
            "" => self.error.clone(),
            test => format!("{test}: {}", self.error),
        };
        if let Some(path) = &self.test_path {
            let line = self.test_line.map_or(String::new(), |it| format!(":{it}"));
            text.push_str(&format!("\nin {path}{line}"));
        }
        if self.alike > 0 {
            text.push_str(&format!("\nand {} more tests alike", self.alike));
        }
        text
    }
}

/// What a name that is missing wants.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CertainImport {
    /// The name that is missing.
    pub name: String,
    /// The statement that binds it, `right for wrong` for a spelling, or where a module stands now.
    pub statement: String,
    /// Whether `mendit fix` adds it, or tries it under the tests.
    pub tried: bool,
}

/// How large a packet is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PacketSize {
    /// The rung of the ladder.
    pub level: Level,
    /// Files in it.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their tokens, estimated.
    pub tokens: u64,
    /// Estimated tokens of the whole prompt: files, log and what is said of both.
    #[serde(default)]
    pub prompt_tokens: u64,
}

/// A problem of the environment and the command that mends it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Remedy {
    /// What is wrong.
    pub problem: String,
    /// The line to type, for a person to decide on; nothing runs it.
    pub command: Option<String>,
}

impl Remedy {
    /// What is wrong, and the line to type.
    pub fn new(problem: impl Into<String>, command: Option<String>) -> Self {
        let problem = problem.into();
        Self { problem, command }
    }
}
