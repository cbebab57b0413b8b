//! The built-in agents of the bench: the oracle and recorded replies.

use serde_json::json;

use super::Fixture;
use crate::model::{FailurePacket, Level, RepoPath, RunStatus};
use crate::repair::AgentCommand;

/// Who is asked for patches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BenchAgent {
    /// No agent: only fixes without an LLM.
    Builtin,
    /// A fake agent that knows the reference.
    Oracle,
    /// Recorded replies, in the order of their names.
    Replay,
    /// A command, spoken to as `repair --agent` does.
    Command {
        /// What it is called in documents.
        name: String,
        /// The command, and how it is spoken to.
        command: AgentCommand,
    },
}

impl BenchAgent {
    /// Its name in documents.
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin => "builtin",
            Self::Oracle => "oracle",
            Self::Replay => "replay",
            Self::Command { name, .. } => name,
        }
    }
}

/// Returns the oracle's reply: the reference when the packet contains every needed file, whole or in part. Below level
/// 2 it gives up, so that the level rises; from there it asks for the missing files.
pub(super) fn oracle_reply(fixture: &Fixture, packet: &FailurePacket) -> String {
    let missing = fixture
        .needed
        .iter()
        .filter(|path| !packet.file_snapshots.iter().any(|file| file.path == **path));
    let missing: Vec<&str> = missing.map(RepoPath::as_str).collect();
    let reply = if fixture.expect.status == RunStatus::InvalidTask {
        json!({ "status": "invalid_task", "notes": "the tests contradict each other" })
    } else if !missing.is_empty() && packet.context_level >= Level::TwoHops {
        json!({ "status": "request_files", "requestedFiles": missing })
    } else if let (true, Some(patch)) = (missing.is_empty(), &fixture.reference) {
        json!({ "status": "patch", "patch": String::from_utf8_lossy(patch) })
    } else {
        json!({ "status": "give_up", "notes": format!("not in the packet: {}", missing.join(", ")) })
    };
    reply.to_string()
}

/// The recorded reply to a call, counted from 1.
pub(super) fn recorded_reply(fixture: &Fixture, call: u32) -> String {
    let reply = (call as usize).checked_sub(1).and_then(|at| fixture.replies.get(at));
    reply.map_or_else(
        || json!({ "status": "give_up", "notes": "no reply is left" }).to_string(),
        |reply| reply.text.clone(),
    )
}
