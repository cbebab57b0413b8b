use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::error::RepairError;
use super::session::Session;
use crate::agent::{
    Adapter, Call, Live, Places, Reply, SettingsGuard, call, in_words, read_reply, retry_after,
    settings_folders, trouble,
};
use crate::exec::{Captured, CommandLine, End, ExecError, Job, Outcome, SandboxState};
use crate::model::{AgentProtocol, AgentTrouble, Code, ReplyStatus, RepoPath, TroubleKind};
use crate::patch::{Change, FileState, canonical};
use crate::policy::sanitize_log;
use crate::workplace::{Fingerprint, Kind, WorkplaceError};

/// What came of speaking to an agent.
#[derive(Debug, Default)]
pub(super) struct AgentCall {
    pub(super) reached: CallEnd,
    pub(super) reply: Option<Reply>,
    /// Whether it did anything: wrote output or changed files.
    pub(super) progress: bool,
    /// Why it could not do its work.
    pub(super) trouble: Option<AgentTrouble>,
    /// What it said, or what it made when it said nothing.
    pub(super) content: Option<Vec<u8>>,
}

/// How far the agent came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallEnd {
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
struct CallRecord {
    reached: CallEnd,
    progress: bool,
    #[serde(default)]
    trouble: Option<AgentTrouble>,
    end: String,
    duration_seconds: f64,
    #[serde(default)]
    session: Option<String>,
}

/// The agent that is spoken to: [`Agent::Command`](super::Agent::Command).
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) command: &'a str,
    pub(super) protocol: AgentProtocol,
    pub(super) adapter: Option<&'a Adapter>,
    pub(super) environment: &'a [String],
    pub(super) writable: &'a [PathBuf],
}

impl AgentCall {
    pub(super) fn of_text(text: &str) -> Self {
        Self {
            reached: CallEnd::Answered,
            reply: Some(read_reply(text)),
            progress: true,
            trouble: None,
            content: Some(text.as_bytes().to_vec()),
        }
    }
}

impl Session<'_> {
    pub(super) fn call_command(
        &mut self,
        folder: &str,
        request: Asked<'_>,
        stdin: &str,
        timeout: Duration,
    ) -> Result<AgentCall, RepairError> {
        let Asked {
            command,
            protocol,
            adapter,
            environment,
            writable,
        } = request;
        let document = format!("{folder}/agent.json");
        if let Some(called) = self.journal.document::<CallRecord>(&document) {
            return Ok(self.replay_call(folder, protocol, called));
        }
        let packet = &self.journal.path(&format!("{folder}/failure-packet.json"));
        let prompt = &self.journal.path(&format!("{folder}/prompt.md"));
        // The run's folder is closed to it.
        let out = &self.place.private().join(folder.replace('/', "-"));
        let mut job = self.agent_job(command, writable);
        let guard = self.guard_settings(command, &mut job)?;
        self.event(
            "info",
            "agent_called",
            json!({ "seconds": timeout.as_secs_f64() }),
        )?;
        let (root, source) = (self.setup.root, self.setup.source);
        let outside = Fingerprint::of(root, source, self.setup.git);
        let workdir = self.place.root().to_owned();
        let (redactor, journal) = (self.setup.redactor, &self.journal);
        let watch = &mut self.watch;
        let mut say = |what: &str| {
            let fields = json!({ "what": redactor.redact(what).text });
            watch(&journal.moment("info", "agent_works", fields));
        };
        let answer = match call(
            &Call {
                command,
                adapter,
                places: Places {
                    packet,
                    prompt,
                    out,
                    workdir: &workdir,
                },
                stdin,
                job: &job,
                timeout,
                environment,
                max_output: MAX_REPLY_BYTES,
            },
            self.stop,
            &mut Live::new(&workdir, &mut say),
        ) {
            Err(ExecError::SupervisorGone) => {
                self.place.reset()?;
                return Ok(AgentCall {
                    reached: CallEnd::Failed("the agent ended what watched over it".to_owned()),
                    ..AgentCall::default()
                });
            }
            answer => answer?,
        };
        let outcome = &answer.outcome;
        let steered = self.settle_settings(guard, folder)?;
        // What the agent wrote itself is masked before it stays.
        let _ = std::fs::remove_file(out);
        self.journal
            .text(&format!("{folder}/agent.stdout"), &outcome.stdout.text())?;
        self.journal
            .text(&format!("{folder}/agent.stderr"), &outcome.stderr.text())?;
        let mut reply = answer.reply.clone();
        let mut progress = outcome.stdout.bytes > 0 || reply.patch.is_some();
        let mut reached = match outcome.end {
            End::Exit(0) => CallEnd::Answered,
            End::Interrupted => CallEnd::Interrupted,
            End::TimedOut(_) => CallEnd::TimedOut,
            end if end.is_missing_command() => CallEnd::Missing,
            _ => CallEnd::Failed(String::new()),
        };
        self.say_refused(&outcome.refused, true)?;
        let now = Fingerprint::of(root, source, self.setup.git);
        let apart = self.place.kind() != Kind::InPlace;
        let differs = outside.differs(&now).filter(|_| apart);
        let meddled = differs.map(|it| it.display().to_string());
        match self.read_edits(folder, protocol, &mut reply)? {
            Ok(any) => progress |= any,
            Err(message) => reached = CallEnd::Failed(message),
        }
        if let Some(path) = meddled {
            let confined = outcome.sandbox == SandboxState::Enforced;
            let fields = json!({ "path": path, "confined": confined });
            self.event("warning", "worktree_changed", fields)?;
            // A confined agent cannot have been it: somebody works there.
            if !confined {
                let message = format!("`{path}` changed while the agent ran unconfined");
                reached = CallEnd::Meddled(message);
            }
        }
        if let Some(message) = steered {
            reached = CallEnd::Meddled(message);
        }
        self.place.reset()?;
        let trouble = self.own_trouble(outcome, &reached, &reply);
        if let Some(trouble) = trouble.as_ref().filter(|_| reached.has_no_message()) {
            reached = CallEnd::Failed(headline(trouble, outcome));
        }
        let called = CallRecord {
            reached: reached.clone(),
            progress,
            trouble: trouble.clone(),
            end: outcome.end.to_string(),
            duration_seconds: super::observe::seconds(outcome.duration),
            session: answer.session.clone(),
        };
        self.record_call(folder, &answer.text, reply.patch.as_deref(), &called)?;
        let content = content(&answer.text, &reply);
        Ok(AgentCall {
            reached,
            reply: Some(reply),
            progress,
            trouble,
            content,
        })
    }

    // Whether files were edited, which becomes the reply; in words, where that is no patch.
    fn read_edits(
        &self,
        folder: &str,
        protocol: AgentProtocol,
        reply: &mut Reply,
    ) -> Result<Result<bool, String>, RepairError> {
        let changed = match self.place.changes() {
            Ok(changed) => changed,
            Err(WorkplaceError::TooMuch(message)) => {
                return Ok(Err(format!("the agent's edits are no patch: {message}")));
            }
            Err(error) => return Err(error.into()),
        };
        let any = !changed.is_empty();
        // A patch that was said stands for what was tried on the way to it, unless editing is the
        // way to answer.
        if any && (protocol == AgentProtocol::Edit || reply.patch.is_none()) {
            let changed = changed.into_iter().map(Change::with_its_line_ends);
            let patch = canonical(&changed.collect::<Vec<_>>());
            self.journal
                .masked(&format!("{folder}/edited.diff"), &patch)?;
            take_edits(reply, patch);
        }
        Ok(Ok(any))
    }

    /// Where the last call ended that came to its own end, so that the next one goes on there.
    pub(super) fn agent_session(&self) -> Option<String> {
        let calls = (1..=self.all.len()).rev().map(|number| {
            let document = format!("attempts/{number:02}/agent.json");
            self.journal.document::<CallRecord>(&document)
        });
        let called = calls.flatten().next()?;
        called
            .session
            .filter(|_| called.reached == CallEnd::Answered)
    }

    // What was made over an edit of somebody else's is not taken up again, nor what is kept masked.
    fn record_call(
        &mut self,
        folder: &str,
        text: &[u8],
        patch: Option<&[u8]>,
        called: &CallRecord,
    ) -> Result<(), RepairError> {
        let plain = |bytes: &[u8]| self.setup.redactor.redact_bytes(bytes).findings.is_empty();
        let is_kept = plain(text) && patch.is_none_or(plain);
        if called.reached == CallEnd::Interrupted || !is_kept || self.has_moved()? {
            return Ok(());
        }
        let text = String::from_utf8_lossy(text);
        self.journal.text(&format!("{folder}/reply.txt"), &text)?;
        self.journal.json(&format!("{folder}/agent.json"), called)
    }

    // What kept an agent from its work: one that ended with an error, or that said nothing but what
    // it lacks.
    fn own_trouble(
        &self,
        outcome: &Outcome,
        reached: &CallEnd,
        reply: &Reply,
    ) -> Option<AgentTrouble> {
        // Colours of a terminal are no words.
        let text = |captured: &Captured| sanitize_log(captured.text().as_bytes());
        let (stdout, stderr) = (text(&outcome.stdout), text(&outcome.stderr));
        let nothing = reply.patch.is_none() && reply.packet.status == ReplyStatus::GiveUp;
        let found = trouble(&stderr).or_else(|| trouble(&stdout));
        let kind = match reached {
            // What was edited shows that its service answered.
            CallEnd::Failed(_) if nothing => found.unwrap_or(TroubleKind::Crash),
            CallEnd::Failed(_) => TroubleKind::Crash,
            // One that tries again and again until its time is up.
            CallEnd::TimedOut if nothing => found?,
            CallEnd::Answered if nothing && distinct_bytes(&stdout) <= MAX_COMPLAINT => found?,
            _ => return None,
        };
        let log = if stderr.trim().is_empty() {
            &stdout
        } else {
            &stderr
        };
        let lines = log.lines().map(str::trim_end).filter(|it| !it.is_empty());
        let lines: Vec<&str> = lines.collect();
        let from = lines.len().saturating_sub(LAST_LINES);
        let shown = lines[from..].iter().map(|line| {
            let masked = self.setup.redactor.redact(line).text;
            masked.chars().take(LAST_WORDS).collect()
        });
        let again = retry_after(&stderr).or_else(|| retry_after(&stdout));
        Some(AgentTrouble {
            kind,
            retry_after_seconds: again.filter(|_| kind == TroubleKind::RateLimit),
            end: outcome.end.to_string(),
            last_lines: shown.collect(),
        })
    }

    // The call was made before an interruption; its reply stands in the folder.
    fn replay_call(&self, folder: &str, protocol: AgentProtocol, called: CallRecord) -> AgentCall {
        let read = |name: &str| self.journal.read(&format!("{folder}/{name}"));
        let text = read("reply.txt").unwrap_or_default();
        let mut reply = read_reply(&text);
        let edited = read("edited.diff").unwrap_or_default();
        if !edited.is_empty() && (protocol == AgentProtocol::Edit || reply.patch.is_none()) {
            take_edits(&mut reply, edited.into_bytes());
        }
        let content = content(text.as_bytes(), &reply);
        AgentCall {
            reached: called.reached,
            reply: Some(reply),
            progress: called.progress,
            trouble: called.trouble,
            content,
        }
    }

    // Private folders over the agent's own settings; without overlays they lie open, which is said.
    fn guard_settings(
        &mut self,
        command: &str,
        job: &mut Job,
    ) -> Result<Option<SettingsGuard>, RepairError> {
        let home = std::env::home_dir().unwrap_or_default();
        if settings_folders(command, &home)
            .iter()
            .all(|it| !it.exists())
        {
            return Ok(None);
        }
        if self.place.kind() != Kind::Overlay {
            let message = json!({ "code": Code::R214, "guarded": false });
            self.event("warning", "agent_settings", message)?;
            return Ok(None);
        }
        let slot = self.place.aside("settings")?;
        let guard = SettingsGuard::open(command, &home, &slot)
            .map_err(|error| RepairError::write(&slot, &error))?;
        job.overlays.extend(guard.overlays());
        Ok(Some(guard))
    }

    // What the agent changed of its settings is dropped and told; in words, when it would steer a later session.
    fn settle_settings(
        &mut self,
        guard: Option<SettingsGuard>,
        folder: &str,
    ) -> Result<Option<String>, RepairError> {
        let home = std::env::home_dir().unwrap_or_default();
        let Some(guard) = guard else {
            return Ok(None);
        };
        let dropped = guard
            .close(&home)
            .map_err(|error| RepairError::write(&home, &error))?;
        let steering = dropped.iter().filter(|it| it.steers);
        let steering: Vec<String> = steering.map(|it| format!("~/{}", it.path)).collect();
        if !dropped.is_empty() {
            let paths: Vec<&str> = dropped.iter().map(|it| it.path.as_str()).collect();
            let message = json!({ "code": Code::R214, "guarded": true, "dropped": paths, "steers": steering.len() });
            self.event("warning", "agent_settings", message)?;
            let state =
                |bytes: &Option<Vec<u8>>| bytes.clone().map(|it| FileState::new(it, 0o100_644));
            let changes = dropped.iter().filter_map(|file| {
                let path = RepoPath::new(&file.path).ok()?;
                Some(Change::between(
                    path,
                    state(&file.before),
                    state(&file.after),
                ))
            });
            let patch = canonical(&changes.collect::<Vec<_>>());
            self.journal
                .masked(&format!("{folder}/settings.diff"), &patch)?;
        }
        Ok((!steering.is_empty()).then(|| {
            let named = steering.get(..MOST_NAMED).unwrap_or(&steering).join(", ");
            let more = match steering.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "{}: the agent changed its own settings, which was dropped: {named}{more}",
                Code::R214
            )
        }))
    }

    // It stands where the commands stand, confined as they are, with its network and its settings.
    fn agent_job(&self, command: &str, writable: &[PathBuf]) -> Job {
        let directory = self.place.root().join(self.setup.prefix);
        let mut job = Job::new(CommandLine::Shell(String::new()), directory);
        job.sandbox.mode = self.setup.commands.sandbox;
        job.sandbox.writable = writable.to_vec();
        job.sandbox
            .writable
            .extend(self.setup.commands.writable.iter().cloned());
        if let Some(home) = std::env::home_dir() {
            job.sandbox
                .writable
                .extend(settings_folders(command, &home));
        }
        self.place.confine(&mut job);
        job
    }
}

impl CallEnd {
    // A failure that nobody has put into words yet, or an answer.
    fn has_no_message(&self) -> bool {
        match self {
            Self::Answered | Self::TimedOut => true,
            Self::Failed(message) => message.is_empty(),
            _ => false,
        }
    }
}

// What was edited is the answer, whatever was said beside it.
fn take_edits(reply: &mut Reply, patch: Vec<u8>) {
    reply.packet.status = ReplyStatus::Patch;
    reply.patch = Some(patch);
    reply.two_forms = false;
}

// The first thing a person should read of a run that an agent's own trouble ended.
fn headline(trouble: &AgentTrouble, outcome: &Outcome) -> String {
    let ended = format!("ended with {}", trouble.end);
    let mut text = match trouble.kind {
        TroubleKind::Crash => format!("the agent {ended}"),
        kind => format!("{}: it {ended}", in_words(kind)),
    };
    if let Some(path) = outcome.refused.first() {
        let path = path.display();
        text.push_str(&format!(
            ": mendit's sandbox refused writing {path}; --agent-write {path}"
        ));
    } else if let Some(last) = trouble.last_lines.last() {
        text.push_str(&format!(": {}", last.trim()));
    }
    text
}

// What two calls are compared by.
fn content(text: &[u8], reply: &Reply) -> Option<Vec<u8>> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return reply.patch.clone();
    }
    Some(text.to_vec())
}

/// Changed settings that are named.
const MOST_NAMED: usize = 3;
/// Characters of one line of an agent that are shown.
const LAST_WORDS: usize = 200;
/// Lines of a failing agent that are kept.
const LAST_LINES: usize = 10;

// The bytes of what was said, each line once: some say with each new try what hinders them.
fn distinct_bytes(text: &str) -> usize {
    let lines: BTreeSet<&str> = text.lines().map(str::trim).collect();
    lines.iter().map(|line| line.len()).sum()
}

/// An answer that is longer is more than a complaint.
const MAX_COMPLAINT: usize = 700;
/// An agent that says more than this is stopped.
const MAX_REPLY_BYTES: u64 = 64 << 20;
