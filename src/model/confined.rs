use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

impl Wall {
    /// The word of documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Closed => "closed",
            Self::Pipes => "pipes",
            Self::Metadata => "metadata",
            Self::Devices => "devices",
            Self::Privileges => "privileges",
            Self::Processes => "processes",
            Self::SharedMemory => "shared_memory",
            Self::ProcessCount => "process_count",
        }
    }
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
    #[must_use]
    pub fn new(wall: Wall, why: &str) -> Self {
        Self {
            wall,
            why: why.to_owned(),
        }
    }
}

/// Walls in words, those of one reason together: `metadata, devices (namespaces are refused)`.
#[must_use]
pub fn walls_in_words(missing: &[NotConfined]) -> String {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for it in missing {
        let word = it.wall.as_str();
        match told.iter_mut().find(|(why, _)| *why == it.why) {
            Some((_, words)) => words.push(word),
            None => told.push((&it.why, vec![word])),
        }
    }
    let told = told.iter().map(|(why, words)| match *why {
        "" => words.join(", "),
        why => format!("{} ({why})", words.join(", ")),
    });
    told.collect::<Vec<_>>().join("; ")
}
