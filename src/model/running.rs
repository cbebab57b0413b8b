use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far commands are confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// As far as the system can
    #[default]
    Auto,
    /// In full, or refuse to run
    Require,
    /// Not at all
    Off,
}

/// Which workplace is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkplaceMode {
    /// An overlay where the system has it, else a copy
    #[default]
    Auto,
    /// The worktree at its own path; what is changed there lands in a private folder
    Overlay,
    /// A copy in another folder
    Copy,
    /// The worktree itself
    InPlace,
}

/// How an agent is spoken to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentProtocol {
    /// The packet on stdin, a repair packet on stdout
    #[default]
    Json,
    /// A prompt on stdin, any text with a patch on stdout
    Prompt,
    /// The agent edits a copy; the difference is the patch
    Edit,
}
