use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::attempt::{Ask, Attempt};
use super::error::RepairError;
use super::history::History;
use super::journal::{digest, millis};
use super::packet::{Question, within_request};
use super::run::Session;
use super::setup::{Agent, AgentCommand};
use crate::agent::{AgentHome, Call, Places, Reply, call, in_words, read_reply, trouble};
use crate::exec::{CommandLine, Discard, End, ExecError, Job, Outcome, SandboxState};
use crate::model::{
    AgentProtocol, AgentTrouble, Code, EventKind, ReplyStatus, RepoPath, StopReason, TroubleKind,
};
use crate::patch::{Change, FileState, canonical};
use crate::policy::sanitize_log;
use crate::workplace::WorkplaceError;

/// What came of asking an agent.
#[derive(Debug, Default)]
struct AgentCall {
    end: CallEnd,
    reply: Option<Reply>,
    /// Whether it did anything: wrote output or changed files.
    progress: bool,
    trouble: Option<AgentTrouble>,
    /// What it said, or what it made when it said nothing.
    content: Option<Vec<u8>>,
}

/// How far the agent came.
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

/// Characters of one line of an agent that are shown, and lines of a failing one that are kept.
const LAST_WORDS: usize = 200;
const LAST_LINES: usize = 10;
/// An answer that is longer is more than a complaint.
const MAX_COMPLAINT: usize = 700;
/// An agent that says more than this is stopped.
const MAX_REPLY_BYTES: u64 = 64 << 20;

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
        self.trace()?;
        let question = self.build_question(attempt, ask, history)?;
        attempt.result.agent_timeout_seconds = ask.timeout;
        let call = self.speak(attempt, &question, ask.timeout)?;
        let result = &mut attempt.result;
        result.progress = call.progress;
        result.agent_trouble.clone_from(&call.trouble);
        result.reply_digest = call.content.as_deref().map(digest);
        result.timed_out_agent = call.end == CallEnd::TimedOut;
        if let Some(reply) = &call.reply {
            let packet = &reply.packet;
            let name = format!("{}/repair-packet.json", attempt.folder);
            self.stage.journal.json(&name, packet)?;
            result.completed_steps.clone_from(&packet.completed_steps);
            let source = self.stage.place.source()?;
            result.requested_files = within_request(&packet.requested_files, &source);
            result.usage = packet.usage;
        }
        if result.timed_out_agent {
            let task = self.stage.task_ids();
            self.stage.event(EventKind::CoderTimeoutDetected {
                timeout_seconds: millis(ask.timeout),
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

    fn speak(
        &mut self,
        attempt: &Attempt<'_>,
        question: &Question,
        timeout: f64,
    ) -> Result<AgentCall, RepairError> {
        match &self.asked.agent {
            Agent::None => Ok(AgentCall::default()),
            Agent::Function(function) => {
                let text = function(&question.packet, self.seen.calls() + 1);
                let name = format!("{}/agent.stdout", attempt.folder);
                self.stage.journal.text(&name, &text)?;
                Ok(AgentCall {
                    reply: Some(read_reply(&text)),
                    progress: true,
                    content: Some(text.into_bytes()),
                    ..AgentCall::default()
                })
            }
            Agent::Command(agent) => {
                let timeout = Duration::try_from_secs_f64(timeout).unwrap_or(Duration::MAX);
                self.call_command(&attempt.folder, *agent, question, timeout)
            }
        }
    }

    fn call_command(
        &mut self,
        folder: &str,
        agent: AgentCommand<'_>,
        question: &Question,
        timeout: Duration,
    ) -> Result<AgentCall, RepairError> {
        let command = self.command_line(&agent);
        let home = self.private_home(&command)?;
        let mut job = self.agent_job(&agent);
        let mut environment = agent.environment.to_vec();
        if let Some(home) = &home {
            job.sandbox.writable.extend(home.writable());
            environment.extend(home.variables());
        }
        let seconds = timeout.as_secs_f64();
        self.stage.event(EventKind::AgentCalled { seconds })?;
        let workdir = self.stage.place.root().to_owned();
        // The run's folder is closed to it.
        let out = self.stage.place.private().join(folder.replace('/', "-"));
        let path = |name: &str| self.stage.journal.path(&format!("{folder}/{name}"));
        let (packet, prompt) = (path("failure-packet.json"), path("prompt.md"));
        let request = Call {
            command: &command,
            adapter: agent.adapter,
            places: Places {
                packet: &packet,
                prompt: &prompt,
                out: &out,
                workdir: &workdir,
            },
            stdin: match agent.protocol {
                AgentProtocol::Json => &question.json,
                AgentProtocol::Prompt | AgentProtocol::Edit => &question.prompt,
            },
            job: &job,
            timeout,
            environment: &environment,
            max_output: MAX_REPLY_BYTES,
        };
        let stop = self.stage.stop;
        let answer = match call(&request, stop, &mut Discard) {
            Err(ExecError::SupervisorGone) => {
                self.stage.place.reset()?;
                let message = "the agent ended what watched over it".to_owned();
                return Ok(AgentCall {
                    end: CallEnd::Failed(message),
                    ..AgentCall::default()
                });
            }
            answer => answer?,
        };
        let outcome = &answer.outcome;
        self.settle_home(home, folder)?;
        // What the agent wrote itself is masked before it stays.
        let _ = std::fs::remove_file(&out);
        let journal = &self.stage.journal;
        journal.text(&format!("{folder}/agent.stdout"), &outcome.stdout.text())?;
        journal.text(&format!("{folder}/agent.stderr"), &outcome.stderr.text())?;
        self.stage.report_refused(&outcome.refused, true)?;
        let mut reply = answer.reply.clone();
        let mut end = match outcome.end {
            End::Exit(0) => CallEnd::Answered,
            End::Interrupted => CallEnd::Interrupted,
            End::TimedOut => CallEnd::TimedOut,
            end if end.is_missing_command() => CallEnd::Missing,
            _ => CallEnd::Failed(String::new()),
        };
        let mut progress = outcome.stdout.bytes > 0 || reply.patch.is_some();
        match self.read_edits(folder, agent.protocol, &mut reply)? {
            Ok(any) => progress |= any,
            Err(message) => end = CallEnd::Failed(message),
        }
        self.stage.place.reset()?;
        let said = String::from_utf8_lossy(&answer.text).into_owned();
        let trouble = self.find_trouble(outcome, &said, &end, &reply);
        let is_said = match &end {
            CallEnd::Failed(message) => !message.is_empty(),
            end => !matches!(end, CallEnd::Answered | CallEnd::TimedOut),
        };
        if let Some(trouble) = trouble.as_ref().filter(|_| !is_said) {
            end = CallEnd::Failed(headline(trouble, outcome));
        }
        if end == CallEnd::Answered {
            self.seen.agent_session.clone_from(&answer.session);
        }
        Ok(AgentCall {
            end,
            content: content(&answer.text, &reply),
            reply: Some(reply),
            progress,
            trouble,
        })
    }

    // The command as its row says, going on in the session of the last call that came to its own end.
    fn command_line(&self, agent: &AgentCommand<'_>) -> String {
        let Some(adapter) = agent.adapter else {
            return agent.command.to_owned();
        };
        let session = self.seen.agent_session.as_deref();
        let confined = self.stage.sandbox.state == Some(SandboxState::Enforced);
        let failing = self.asked.commands.lines.last().map(String::as_str);
        adapter.line(agent.command, confined, failing, session)
    }

    // It stands where the commands stand, confined as they are, with its network.
    fn agent_job(&self, agent: &AgentCommand<'_>) -> Job {
        let directory = self.stage.place.root().join(self.asked.prefix);
        let mut job = Job::new(CommandLine::Shell(String::new()), directory);
        job.sandbox.mode = self.asked.commands.sandbox;
        job.sandbox.writable = [agent.writable, &self.asked.commands.writable].concat();
        self.stage.place.confine(&mut job);
        job
    }

    fn private_home(&self, command: &str) -> Result<Option<AgentHome>, RepairError> {
        let Some(real) = std::env::home_dir().filter(|home| home.is_dir()) else {
            return Ok(None);
        };
        let own = self.stage.place.private().join("home");
        let home = AgentHome::prepare(command, &real, &own);
        let home = home.map_err(|error| RepairError::write(&own, &error))?;
        Ok(Some(home))
    }

    // Logins and sessions are copied out; what else the agent wrote into its home is dropped and reported.
    fn settle_home(&mut self, home: Option<AgentHome>, folder: &str) -> Result<(), RepairError> {
        let Some(home) = home else { return Ok(()) };
        let failed = |error: std::io::Error| RepairError::write(&PathBuf::from("~"), &error);
        let dropped = home.close().map_err(failed)?;
        if dropped.is_empty() {
            return Ok(());
        }
        self.stage.event(EventKind::AgentSettings {
            code: Code::R214,
            dropped: dropped.iter().map(|file| file.path.clone()).collect(),
        })?;
        let state =
            |bytes: &Option<Vec<u8>>| bytes.clone().map(|bytes| FileState::new(bytes, 0o100_644));
        let changes = dropped.iter().filter_map(|file| {
            let path = RepoPath::new(&file.path).ok()?;
            Some(Change::between(
                path,
                state(&file.before),
                state(&file.after),
            ))
        });
        let patch = canonical(&changes.collect::<Vec<_>>());
        let name = format!("{folder}/settings.diff");
        self.stage.journal.masked(&name, &patch)
    }

    // Whether files were edited, which becomes the reply; in words, where that is no patch.
    fn read_edits(
        &self,
        folder: &str,
        protocol: AgentProtocol,
        reply: &mut Reply,
    ) -> Result<Result<bool, String>, RepairError> {
        let changed = match self.stage.place.changes() {
            Ok(changed) => changed,
            Err(WorkplaceError::TooMuch(message)) => {
                return Ok(Err(format!("the agent's edits are no patch: {message}")));
            }
            Err(error) => return Err(error.into()),
        };
        let any = !changed.is_empty();
        if any && takes_edits(protocol, reply) {
            let patch = canonical(&changed);
            let name = format!("{folder}/edited.diff");
            self.stage.journal.masked(&name, &patch)?;
            use_edits(reply, patch);
        }
        Ok(Ok(any))
    }

    // What kept an agent from its work: one that ended with an error, or that said nothing but what it lacks.
    fn find_trouble(
        &self,
        outcome: &Outcome,
        said: &str,
        end: &CallEnd,
        reply: &Reply,
    ) -> Option<AgentTrouble> {
        let stdout = sanitize_log(said.as_bytes());
        let stderr = sanitize_log(outcome.stderr.text().as_bytes());
        let says_nothing = reply.patch.is_none() && reply.packet.status == ReplyStatus::GiveUp;
        let found = trouble(&stderr).or_else(|| trouble(&stdout));
        // Some say with each new try what hinders them.
        let distinct: BTreeSet<&str> = stdout.lines().map(str::trim).collect();
        let is_short = distinct.iter().map(|line| line.len()).sum::<usize>() <= MAX_COMPLAINT;
        let kind = match end {
            // What was edited shows that its service answered.
            CallEnd::Failed(_) if says_nothing => found.unwrap_or(TroubleKind::Crash),
            CallEnd::Failed(_) => TroubleKind::Crash,
            CallEnd::TimedOut if says_nothing => found?,
            CallEnd::Answered if says_nothing && is_short => found?,
            _ => return None,
        };
        let log = if stderr.trim().is_empty() {
            &stdout
        } else {
            &stderr
        };
        let lines = log
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty());
        let mut last: Vec<&str> = lines.rev().take(LAST_LINES).collect();
        last.reverse();
        let masked = last.iter().map(|line| {
            let masked = self.asked.redactor.redact(line).text;
            masked.chars().take(LAST_WORDS).collect()
        });
        Some(AgentTrouble {
            kind,
            end: outcome.end.to_string(),
            last_lines: masked.collect(),
        })
    }
}

// What became of a reply, up to the patch in it. Its `status` is advice: a patch or a request counts whatever it says.
fn read_answer(attempt: &mut Attempt<'_>, call: AgentCall) -> Option<Vec<u8>> {
    let cut_off = match call.end {
        CallEnd::Answered => None,
        CallEnd::TimedOut => {
            let seconds = attempt.result.agent_timeout_seconds;
            let message = format!("the agent did not answer within {seconds:.0} s");
            Some((StopReason::AgentTimeout, message))
        }
        CallEnd::Failed(message) => Some((StopReason::AgentError, message)),
        CallEnd::Interrupted => {
            attempt.end(StopReason::Interrupted, "it was interrupted");
            return None;
        }
        CallEnd::Missing => {
            let message = "the agent's command was not found or cannot be run";
            attempt.end(StopReason::UserActionRequired, message);
            return None;
        }
    };
    if let Some((reason, message)) = cut_off {
        attempt.end(reason, message.clone());
        // What it did until then may be all that was needed.
        let patch = call.reply.filter(|reply| !reply.two_forms)?.patch?;
        attempt.cut_off = Some((reason, message));
        return Some(patch);
    }
    let Some(reply) = call.reply else {
        attempt.end(StopReason::NoPatch, "the agent said nothing");
        return None;
    };
    let status = reply.packet.status;
    let notes = reply.packet.notes.unwrap_or_default();
    let requested = attempt.result.requested_files.len();
    let asks = requested > 0 && (reply.patch.is_none() || status == ReplyStatus::RequestFiles);
    if asks {
        let message = format!("the agent asks for files: {requested}");
        attempt.end(StopReason::RequestedFiles, message);
    } else if status == ReplyStatus::InvalidTask {
        let message = format!("the agent says that the task cannot be done as it stands: {notes}");
        attempt.end(StopReason::InvalidTask, message);
    } else if reply.two_forms {
        let message = "the reply changes files in two forms, `patch` beside `edits` or `files`; send \
                       everything in one of them";
        attempt.end(StopReason::PatchInvalid, message);
    } else if reply.patch.is_some() {
        return reply.patch;
    } else {
        let colon = if notes.is_empty() { "" } else { ": " };
        let message = format!("there is no patch in the reply{colon}{notes}");
        attempt.end(StopReason::NoPatch, message);
    }
    None
}

// A patch that was said stands for what was tried on the way to it, unless editing is the way to answer.
fn takes_edits(protocol: AgentProtocol, reply: &Reply) -> bool {
    protocol == AgentProtocol::Edit || reply.patch.is_none()
}

// What was edited is the answer, whatever was said beside it.
fn use_edits(reply: &mut Reply, patch: Vec<u8>) {
    reply.packet.status = ReplyStatus::Patch;
    reply.patch = Some(patch);
    reply.two_forms = false;
}

// The first thing a person should read of a run that an agent's own trouble ended.
fn headline(trouble: &AgentTrouble, outcome: &Outcome) -> String {
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

// What two calls are compared by.
fn content(text: &[u8], reply: &Reply) -> Option<Vec<u8>> {
    match text.trim_ascii() {
        [] => reply.patch.clone(),
        text => Some(text.to_vec()),
    }
}
