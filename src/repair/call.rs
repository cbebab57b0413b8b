//! Calls the agent and turns its reply or edits into a patch.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::attempt::{Ask, Attempt};
use super::error::RepairError;
use super::history::History;
use super::journal::{digest, round_millis};
use super::packet::Question;
use super::run::Session;
use super::setup::{Agent, AgentCommand};
use crate::agent::{
    AgentHome, AgentOutput, AgentRequest, Places, Reply, find_trouble, in_words, read_reply,
    run_agent,
};
use crate::exec::{CommandLine, End, Job, Outcome, SandboxState};
use crate::model::{
    AgentProtocol, AgentTrouble, AtPath as _, Code, EventKind, ReplyStatus, StopReason, TroubleKind,
};
use crate::patch::{Change, canonical};
use crate::policy::sanitize_log;
use crate::workplace::WorkplaceError;

/// The result of one call of the agent.
#[derive(Debug, Default)]
struct AgentResult {
    end: CallEnd,
    reply: Reply,
    /// Whether it did anything: wrote output or changed files.
    has_reacted: bool,
    trouble: Option<AgentTrouble>,
    /// Its reply, or its patch when it printed nothing: a repeated answer is recognized by it.
    content: Vec<u8>,
}

/// How the call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum CallEnd {
    #[default]
    Answered,
    TimedOut,
    /// There is no such command.
    Missing,
    /// It ended with an error, in words.
    Failed(String),
    Interrupted,
}

impl CallEnd {
    fn from_exit(end: End) -> Self {
        match end {
            End::Exit(0) => Self::Answered,
            End::Interrupted => Self::Interrupted,
            End::TimedOut => Self::TimedOut,
            end if end.is_missing_command() => Self::Missing,
            _ => Self::Failed(String::new()),
        }
    }

    // Takes the trouble's headline as the message, unless the end has a message of its own.
    fn explained_by(self, trouble: Option<&AgentTrouble>, outcome: &Outcome) -> Self {
        let has_message = match &self {
            Self::Failed(message) => !message.is_empty(),
            end => matches!(end, Self::Missing | Self::Interrupted),
        };
        match trouble {
            Some(trouble) if !has_message => Self::Failed(trouble_headline(trouble, outcome)),
            _ => self,
        }
    }
}

impl Session<'_> {
    /// Asks the agent and reads its reply; returns the patch to try. Without one the attempt has its end.
    pub(super) fn ask_agent(
        &mut self,
        attempt: &mut Attempt<'_>,
        ask: &Ask<'_>,
        history: &History,
    ) -> Result<Option<Vec<u8>>, RepairError> {
        self.stage.event(EventKind::AttemptStarted {
            attempt: attempt.result.attempt,
            context_level: ask.level,
            seconds: ask.timeout,
        })?;
        self.trace_run()?;
        let question = self.build_question(attempt, ask, history)?;
        attempt.result.agent_timeout_seconds = ask.timeout;
        let call = match &self.asked.agent {
            Agent::None => AgentResult::default(),
            Agent::Function(function) => {
                let text = function(&question.packet, self.seen.calls() + 1);
                let name = format!("{}/agent.stdout", attempt.folder);
                self.stage.journal.write_text(&name, &text)?;
                AgentResult {
                    reply: read_reply(&text),
                    has_reacted: true,
                    content: text.into_bytes(),
                    ..AgentResult::default()
                }
            }
            Agent::Command(agent) => {
                let timeout = Duration::try_from_secs_f64(ask.timeout).unwrap_or(Duration::MAX);
                self.call_command(&attempt.folder, agent, &question, timeout)?
            }
        };
        let packet = &call.reply.packet;
        let name = format!("{}/repair-packet.json", attempt.folder);
        self.stage.journal.write_json(&name, packet)?;
        let result = &mut attempt.result;
        result.agent_reacted = call.has_reacted;
        result.agent_trouble.clone_from(&call.trouble);
        result.reply_digest = (!call.content.is_empty()).then(|| digest(&call.content));
        result.timed_out_agent = call.end == CallEnd::TimedOut;
        result.completed_steps.clone_from(&packet.completed_steps);
        result.requested_files.clone_from(&packet.requested_files);
        result.usage = packet.usage;
        if result.timed_out_agent {
            let task = self.stage.task_ids();
            self.stage.event(EventKind::CoderTimeoutDetected {
                timeout_seconds: round_millis(ask.timeout),
                task,
            })?;
        }
        if self.stage.has_moved()? {
            let message = self.stage.moved.clone().unwrap_or_default();
            attempt.end(StopReason::WorktreeChanged, message);
            return Ok(None);
        }
        self.stage.interrupted |= call.end == CallEnd::Interrupted;
        Ok(read_answer(attempt, call))
    }

    fn call_command(
        &mut self,
        folder: &str,
        agent: &AgentCommand,
        question: &Question,
        timeout: Duration,
    ) -> Result<AgentResult, RepairError> {
        let command = self.command_line(agent);
        let home = self.private_home(&command)?;
        let mut job = self.agent_job(agent);
        let mut environment = agent.environment.clone();
        if let Some(home) = &home {
            job.sandbox.writable.extend(home.writable());
            environment.extend(home.variables());
        }
        let seconds = timeout.as_secs_f64();
        self.stage.event(EventKind::AgentCalled { seconds })?;
        // The run's folder is closed to it.
        let out = self.stage.place.private().join(folder.replace('/', "-"));
        let [packet, prompt] = ["failure-packet.json", "prompt.md"]
            .map(|name| self.stage.journal.path(&format!("{folder}/{name}")));
        let request = AgentRequest {
            command: &command,
            adapter: agent.adapter,
            places: Places {
                packet: &packet,
                prompt: &prompt,
                out: &out,
                workdir: self.stage.place.root(),
            },
            stdin: match agent.protocol {
                AgentProtocol::Json => &question.json,
                AgentProtocol::Prompt | AgentProtocol::Edit => &question.prompt,
            },
            job: &job,
            timeout,
            environment: &environment,
            // An agent that says more than this is stopped.
            max_output: 64 << 20,
        };
        let output = run_agent(&request, self.stage.stop)?;
        self.settle_home(home)?;
        // Remove the agent's unmasked reply; a masked copy is journaled below.
        let _ = std::fs::remove_file(&out);
        self.settle_output(folder, agent.protocol, output)
    }

    // Journals what the agent printed, turns its reply or its edits into a result, and resets the copy.
    fn settle_output(
        &mut self,
        folder: &str,
        protocol: AgentProtocol,
        output: AgentOutput,
    ) -> Result<AgentResult, RepairError> {
        let (outcome, mut reply, text) = (output.outcome, output.reply, output.text);
        let journal = &self.stage.journal;
        journal.write_text(&format!("{folder}/agent.stdout"), &outcome.stdout.text())?;
        journal.write_text(&format!("{folder}/agent.stderr"), &outcome.stderr.text())?;
        self.stage.report_refused(&outcome.refused, true)?;
        let (edits, end) = match self.stage.place.changes() {
            Err(WorkplaceError::TooMuch(message)) => {
                let message = format!("the agent's edits are not a valid patch: {message}");
                (Vec::new(), CallEnd::Failed(message))
            }
            edits => (edits?, CallEnd::from_exit(outcome.end)),
        };
        let has_reacted = outcome.stdout.bytes > 0 || reply.patch.is_some() || !edits.is_empty();
        // A patch in the reply supersedes edits, which may be attempts on the way to it, unless the agent is to edit.
        let takes_edits = protocol == AgentProtocol::Edit || reply.patch.is_none();
        if takes_edits && !edits.is_empty() {
            let edits = edits.into_iter().map(Change::with_its_line_ends);
            let patch = canonical(&edits.collect::<Vec<_>>());
            self.stage.journal.write_masked(&format!("{folder}/edited.diff"), &patch)?;
            reply.packet.status = ReplyStatus::Patch;
            reply.patch = Some(patch);
            reply.two_forms = false;
        }
        self.stage.place.reset()?;
        let trouble = self.classify_failure(&outcome, &text, &end, &reply);
        let content = match text.trim_ascii() {
            [] => reply.patch.clone().unwrap_or_default(),
            text => text.to_vec(),
        };
        Ok(AgentResult {
            end: end.explained_by(trouble.as_ref(), &outcome),
            reply,
            has_reacted,
            trouble,
            content,
        })
    }

    // The preset's command line, filled in for this sandbox and the failing command.
    fn command_line(&self, agent: &AgentCommand) -> String {
        let Some(adapter) = agent.adapter else {
            return agent.command.clone();
        };
        let confined = self.stage.sandbox.state == Some(SandboxState::Enforced);
        let failing = self.asked.commands.lines.last().map(String::as_str);
        adapter.line(&agent.command, confined, failing)
    }

    // The agent runs in the isolated copy with the sandbox of the commands, but with network access.
    fn agent_job(&self, agent: &AgentCommand) -> Job {
        let directory = self.stage.place.root().join(self.asked.prefix);
        let mut job = Job::new(CommandLine::Shell(String::new()), directory);
        job.sandbox.mode = self.asked.commands.sandbox;
        job.sandbox.writable = [&*agent.writable, &self.asked.commands.writable].concat();
        self.stage.place.confine(&mut job);
        job
    }

    fn private_home(&self, command: &str) -> Result<Option<AgentHome>, RepairError> {
        let Some(real) = std::env::home_dir().filter(|home| home.is_dir()) else {
            return Ok(None);
        };
        let own = self.stage.place.private().join("home");
        let home = AgentHome::prepare(command, &real, &own);
        Ok(Some(home.at(&own)?))
    }

    // Logins and sessions are copied out; what else the agent wrote into its home is dropped and reported.
    fn settle_home(&mut self, home: Option<AgentHome>) -> Result<(), RepairError> {
        let dropped = home.map_or_else(|| Ok(Vec::new()), AgentHome::close).at(Path::new("~"))?;
        if dropped.is_empty() {
            return Ok(());
        }
        self.stage.event(EventKind::AgentSettings {
            code: Code::R214,
            dropped,
        })
    }

    // Why the agent did not do its work: it ended with an error, or replied nothing but what it lacks.
    fn classify_failure(
        &self,
        outcome: &Outcome,
        said: &[u8],
        end: &CallEnd,
        reply: &Reply,
    ) -> Option<AgentTrouble> {
        let stdout = sanitize_log(said);
        let stderr = sanitize_log(outcome.stderr.text().as_bytes());
        // A patch shows that the agent's service answered, so that its words are not about a login or a limit.
        let gave_up = reply.patch.is_none() && reply.packet.status == ReplyStatus::GiveUp;
        let recognized = find_trouble(&stderr).or_else(|| find_trouble(&stdout));
        let kind = match end {
            CallEnd::Failed(_) if gave_up => recognized.unwrap_or(TroubleKind::Crash),
            CallEnd::Failed(_) => TroubleKind::Crash,
            CallEnd::TimedOut if gave_up => recognized?,
            CallEnd::Answered if gave_up && is_complaint(&stdout) => recognized?,
            _ => return None,
        };
        let log = if stderr.trim().is_empty() { &stdout } else { &stderr };
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        // The last lines of a failed agent are enough to show why it failed.
        let masked = lines.iter().skip(lines.len().saturating_sub(10)).map(|line| {
            let masked = self.asked.redactor.redact(line.trim_end()).text;
            // Enough of a line for one row of a report.
            masked.chars().take(200).collect()
        });
        Some(AgentTrouble {
            kind,
            end: outcome.end.to_string(),
            last_lines: masked.collect(),
        })
    }
}

// Whether a reply is short enough to be an error message and nothing else. Some agents repeat the message with each
// retry, so equal lines count once.
fn is_complaint(stdout: &str) -> bool {
    let distinct: BTreeSet<&str> = stdout.lines().map(str::trim).collect();
    distinct.iter().map(|line| line.len()).sum::<usize>() <= 700
}

// Returns the patch of a reply, or ends the attempt with the reason that there is none. The reply's `status` is advice:
// a patch or a request counts whatever it says.
fn read_answer(attempt: &mut Attempt<'_>, call: AgentResult) -> Option<Vec<u8>> {
    let reply = call.reply;
    let requested = attempt.result.requested_files.len();
    let status = reply.packet.status;
    let asks = requested > 0 && (reply.patch.is_none() || status == ReplyStatus::RequestFiles);
    let notes = reply.packet.notes.map(|notes| format!(": {notes}")).unwrap_or_default();
    let (reason, message) = match call.end {
        CallEnd::Interrupted => (StopReason::Interrupted, "it was interrupted".to_owned()),
        CallEnd::Missing => (
            StopReason::UserActionRequired,
            "the agent's command was not found or cannot be run".to_owned(),
        ),
        CallEnd::TimedOut | CallEnd::Failed(_) => {
            let seconds = attempt.result.agent_timeout_seconds;
            let end = match call.end {
                CallEnd::Failed(message) => (StopReason::AgentError, message),
                _ => (
                    StopReason::AgentTimeout,
                    format!("the agent did not answer within {seconds:.0} s"),
                ),
            };
            // A patch that was finished in time is tried all the same.
            if reply.patch.is_some() && !reply.two_forms {
                attempt.cut_off = Some(end);
                return reply.patch;
            }
            end
        }
        CallEnd::Answered if asks => (
            StopReason::RequestedFiles,
            format!("the agent asked for files: {requested}"),
        ),
        CallEnd::Answered if status == ReplyStatus::InvalidTask => (
            StopReason::InvalidTask,
            format!("the agent reported that the task cannot be done as stated{notes}"),
        ),
        CallEnd::Answered if reply.two_forms => (
            StopReason::PatchInvalid,
            "the reply has changes in two formats, `patch` and `edits` or `files`; send everything in one format"
                .to_owned(),
        ),
        CallEnd::Answered if reply.patch.is_some() => return reply.patch,
        CallEnd::Answered => (
            StopReason::NoPatch,
            format!("there is no patch in the reply{notes}"),
        ),
    };
    attempt.end(reason, message);
    None
}

// The headline of a run that the agent's own failure ended.
fn trouble_headline(trouble: &AgentTrouble, outcome: &Outcome) -> String {
    let ended = format!("ended with {}", trouble.end);
    let text = match trouble.kind {
        TroubleKind::Crash => format!("the agent {ended}"),
        kind => format!("{}: it {ended}", in_words(kind)),
    };
    if let Some(path) = outcome.refused.first() {
        let path = path.display();
        return format!("{text}: mendit's sandbox refused writing {path}; --agent-write {path}");
    }
    let last = trouble.last_lines.last();
    last.map_or(text.clone(), |last| format!("{text}: {}", last.trim()))
}
