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

/// A layer of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// Writing files outside of what may be written.
    Files,
    /// Writing places that are closed inside of what may be written.
    Closed,
    /// Writing into named pipes and connecting to abstract sockets of other programs.
    Pipes,
    /// Changing modes, owners, times and attributes outside.
    Metadata,
    /// Making and opening devices.
    Devices,
    /// The superuser's rights over the system.
    Privileges,
    /// Seeing and touching other programs' processes.
    Processes,
    /// Shared memory, semaphores and message queues of other programs.
    SharedMemory,
    /// The bound on how many processes there are.
    ProcessCount,
}

/// A layer that is not available.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotConfined {
    /// Which.
    pub wall: Wall,
    /// The reason, as the system reports it.
    pub why: String,
}

impl NotConfined {
    /// Creates a missing layer with the system's reason.
    pub fn new(wall: Wall, why: &str) -> Self {
        Self {
            wall,
            why: why.to_owned(),
        }
    }
}

/// Walls in words, those of one reason together: `metadata, devices (namespaces are refused)`.
pub fn walls_in_words(missing: &[NotConfined]) -> String {
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    for layer in missing {
        let word = layer.wall.to_string();
        match by_reason.iter_mut().find(|(why, _)| *why == layer.why) {
            Some((_, words)) => words.push(word),
            None => by_reason.push((&layer.why, vec![word])),
        }
    }
    let reasons = by_reason.iter().map(|(why, words)| match *why {
        "" => words.join(", "),
        why => format!("{} ({why})", words.join(", ")),
    });
    reasons.collect::<Vec<_>>().join("; ")
}
