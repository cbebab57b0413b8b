use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::error::RepairError;
use super::journal::read_json;
use super::session::Session;
use crate::agent::{Call, Places, Protocol, Reply, call, read_reply};
use crate::exec::{Discard, End};
use crate::model::ReplyStatus;
use crate::patch::{Change, FileState, canonical};

/// What came of speaking to an agent.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) reached: Reached,
    pub(super) reply: Option<Reply>,
    /// Whether it did anything: wrote output or changed files.
    pub(super) progress: bool,
}

/// How far the agent came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reached {
    /// It ended by itself.
    #[default]
    Answered,
    /// Its time was up.
    TimedOut,
    /// There is no such command.
    Missing,
    /// It ended with an error, in words.
    Failed(String),
    /// It changed what is not its own, in words.
    Meddled(String),
    /// Someone asked to stop.
    Interrupted,
}

/// `agent.json`: what is left of a call, so that it need not be made again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Called {
    reached: Reached,
    progress: bool,
    end: String,
    duration_seconds: f64,
}

impl Spoken {
    pub(super) fn of_text(text: &str) -> Self {
        Self {
            reached: Reached::Answered,
            reply: Some(read_reply(text)),
            progress: true,
        }
    }
}

impl Session<'_> {
    pub(super) fn call_command(
        &mut self,
        folder: &str,
        command: &str,
        protocol: Protocol,
        environment: &[String],
        stdin: &str,
        timeout: Duration,
    ) -> Result<Spoken, RepairError> {
        let document = format!("{folder}/agent.json");
        if let Some(called) = read_json::<Called>(&self.journal, &document) {
            return Ok(self.heard_before(folder, protocol, called));
        }
        let paths: Vec<PathBuf> = ["failure-packet.json", "prompt.md", "reply"]
            .iter()
            .map(|name| self.journal.path(&format!("{folder}/{name}")))
            .collect();
        let [packet, prompt, out] = paths.as_slice() else {
            return Ok(Spoken::default());
        };
        let directory = match protocol {
            Protocol::Edit => self.scratch.root().join(self.setup.prefix),
            Protocol::Json | Protocol::Prompt => self.setup.root.join(self.setup.prefix),
        };
        self.event(
            "info",
            "agent_called",
            json!({ "seconds": timeout.as_secs_f64() }),
        )?;
        let outside = self.outside(protocol);
        let answer = call(
            &Call {
                command,
                protocol,
                places: Places {
                    packet,
                    prompt,
                    out,
                    workdir: self.scratch.root(),
                },
                stdin,
                directory: &directory,
                timeout,
                environment,
                max_output: MAX_REPLY_BYTES,
            },
            self.stop,
            &mut Discard,
        )?;
        let outcome = &answer.outcome;
        // What the agent wrote itself is masked before it stays.
        let _ = std::fs::remove_file(out);
        self.journal
            .text(&format!("{folder}/agent.stdout"), &outcome.stdout.text())?;
        self.journal
            .text(&format!("{folder}/agent.stderr"), &outcome.stderr.text())?;
        let mut reply = answer.reply.clone();
        let mut progress = outcome.stdout.bytes > 0 || reply.patch.is_some();
        let mut reached = match outcome.end {
            End::Exit(0) => Reached::Answered,
            End::Interrupted => Reached::Interrupted,
            End::TimedOut(_) => Reached::TimedOut,
            end if end.is_missing_command() => Reached::Missing,
            end => Reached::Failed(format!("the agent ended with {end}")),
        };
        if protocol == Protocol::Edit {
            let changed = self.edited()?;
            progress |= !changed.is_empty();
            if let Some(said) = self.meddled(&outside) {
                reached = Reached::Meddled(said);
            } else if !changed.is_empty() {
                let patch = canonical(&changed);
                self.journal
                    .masked(&format!("{folder}/edited.diff"), &patch)?;
                reply.packet.status = ReplyStatus::Patch;
                reply.patch = Some(patch);
            }
            self.scratch.reset()?;
        }
        if reached != Reached::Interrupted {
            let called = Called {
                reached: reached.clone(),
                progress,
                end: outcome.end.to_string(),
                duration_seconds: super::observe::seconds(outcome.duration),
            };
            if protocol != Protocol::Edit {
                let text = String::from_utf8_lossy(&answer.text).into_owned();
                self.journal.text(&format!("{folder}/reply.txt"), &text)?;
            }
            self.journal.json(&document, &called)?;
        }
        Ok(Spoken {
            reached,
            reply: Some(reply),
            progress,
        })
    }

    // The call was made before an interruption; its reply stands in the folder.
    fn heard_before(&self, folder: &str, protocol: Protocol, called: Called) -> Spoken {
        let read = |name: &str| {
            let path = self.journal.path(&format!("{folder}/{name}"));
            std::fs::read_to_string(path).unwrap_or_default()
        };
        let mut reply = read_reply(&read(if protocol == Protocol::Edit {
            "agent.stdout"
        } else {
            "reply.txt"
        }));
        if protocol == Protocol::Edit {
            let edited = read("edited.diff");
            reply.patch = (!edited.is_empty()).then(|| edited.into_bytes());
            if reply.patch.is_some() {
                reply.packet.status = ReplyStatus::Patch;
            }
        }
        Spoken {
            reached: called.reached,
            reply: Some(reply),
            progress: called.progress,
        }
    }

    fn edited(&self) -> Result<Vec<Change>, RepairError> {
        let state = |side: Option<(std::sync::Arc<[u8]>, u32)>| {
            side.map(|(bytes, mode)| FileState { bytes, mode })
        };
        let changes = self.scratch.changes()?;
        Ok(changes
            .into_iter()
            .map(|it| Change::between(it.path, state(it.before), state(it.after)))
            .collect())
    }

    // What an agent that edits must leave alone outside its copy: the user's files, by time and
    // size.
    fn outside(&self, protocol: Protocol) -> Vec<Option<(u64, Option<std::time::SystemTime>)>> {
        if protocol != Protocol::Edit {
            return Vec::new();
        }
        self.setup
            .source
            .listing()
            .entries()
            .iter()
            .map(|entry| {
                let at = self.setup.root.join(entry.path.as_str());
                let metadata = at.symlink_metadata().ok()?;
                Some((metadata.len(), metadata.modified().ok()))
            })
            .collect()
    }

    fn meddled(&self, outside: &[Option<(u64, Option<std::time::SystemTime>)>]) -> Option<String> {
        if !self.scratch.repository_is_untouched() {
            return Some("the agent changed the copy's git settings, hooks or refs".to_owned());
        }
        (self.outside(Protocol::Edit) != outside)
            .then(|| "files of the worktree changed while the agent ran".to_owned())
    }
}

/// An agent that says more than this is stopped.
const MAX_REPLY_BYTES: u64 = 64 << 20;
