use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use super::agent_call::{AgentCall, Asked, CallEnd};
use super::error::RepairError;
use super::history::{self, History, failing};
use super::session::{Ask, Session};
use super::setup::Agent;
use super::task::Task;
use super::trial::{Trial, digest};
use crate::context::{LevelChoice, Request, Retry, build, choose_level, failure_packet};
use crate::exec::SandboxState;
use crate::model::{
    AgentProtocol, AttemptResult, FailureKind, KeptChange, Level, Observed, Origin, PacketBudget,
    ReplyStatus, RepoPath, StopReason, UnchangedFile,
};
use crate::policy::When;
use crate::remedies::Candidate;
use crate::report::{ReplyForm, agent_prompt};
use crate::source::Source;

impl Session<'_> {
    /// Asks the agent, judges and tries its reply, and says how that ended.
    pub(super) fn ask(
        &mut self,
        ask: &Ask<'_>,
        history: &History,
    ) -> Result<AttemptResult, RepairError> {
        let number = self.all.len() + 1;
        let folder = format!("attempts/{number:02}");
        if let Some(earlier) = self.earlier(&folder)? {
            return Ok(earlier);
        }
        let started = self.journal.seconds();
        let fields = json!({ "attempt": number, "level": ask.level, "seconds": ask.timeout });
        self.event("info", "attempt_started", fields)?;
        let old_log = self.log.clone();
        self.trace()?;
        let (packet, prompt, bytes) = self.packet(ask, history, &folder)?;
        self.purpose = Some(format!("with the change of attempt {number}"));
        let mut result = AttemptResult::new(number, Origin::Agent, ask.level);
        result.packet_bytes = bytes;
        result.agent_timeout_seconds = ask.timeout;
        let call = self.speak(&folder, &packet, &prompt, ask.timeout)?;
        result.progress = call.progress;
        if let Some(reply) = &call.reply {
            self.journal
                .json(&format!("{folder}/repair-packet.json"), &reply.packet)?;
            result
                .completed_steps
                .clone_from(&reply.packet.completed_steps);
            result
                .requested_files
                .clone_from(&reply.packet.requested_files);
            result.usage = reply.packet.usage;
            result.context_used = self.used(reply.packet.context_used.as_ref());
        }
        result.reply_digest = call.content.as_deref().map(digest);
        result.agent_trouble.clone_from(&call.trouble);
        let before = failing(history).cloned();
        // An agent that did it itself is told so.
        let meddled = matches!(call.reached, CallEnd::Meddled(_));
        if !meddled && self.has_moved()? {
            result.stop_reason = StopReason::WorktreeChanged;
            result.message = self.moved.clone().unwrap_or_default();
        } else {
            self.weigh(&mut result, call, before.as_ref(), ask.focus, &folder)?;
        }
        if result.timed_out_agent {
            let fields = json!({ "timeout_seconds": millis(ask.timeout) });
            self.event_of_task("warning", "coder_timeout_detected", fields)?;
        }
        result.duration_seconds = millis(self.journal.seconds() - started);
        self.finish(result, &folder, &old_log)
    }

    /// Tries a change that needs no model.
    pub(super) fn try_heal(
        &mut self,
        heal: &Candidate,
        history: &History,
    ) -> Result<AttemptResult, RepairError> {
        let number = self.all.len() + 1;
        let folder = format!("attempts/{number:02}");
        if let Some(earlier) = self.earlier(&folder)? {
            return Ok(earlier);
        }
        let started = self.journal.seconds();
        let fields = json!({ "attempt": number, "what": heal.what });
        self.event("info", "heal_started", fields)?;
        if !heal.imports.is_empty() {
            let names: Vec<&String> = heal.imports.keys().collect();
            let fields = json!({
                "attempt": number,
                "undefined_names": names,
                "suggested_imports": heal.imports,
            });
            self.event_of_task("warning", "import_error_recovery", fields)?;
        }
        let old_log = self.log.clone();
        self.purpose = Some(format!("with the change of attempt {number}"));
        let mut result = AttemptResult {
            certain: heal.certain,
            ..AttemptResult::new(number, Origin::Heal, Level::Targets)
        };
        let before = failing(history).cloned();
        let trial = Trial {
            must_fix: heal.must_fix,
            unattended: true,
            ..Trial::new(&heal.patch, before.as_ref())
        };
        self.try_patch(&mut result, &trial, &folder)?;
        result.message = format!("{}: {}", heal.what, result.message);
        result.duration_seconds = millis(self.journal.seconds() - started);
        self.finish(result, &folder, &old_log)
    }

    // What became of a reply, up to the patch in it.
    fn weigh(
        &mut self,
        result: &mut AttemptResult,
        call: AgentCall,
        before: Option<&Observed>,
        focus: &[String],
        folder: &str,
    ) -> Result<(), RepairError> {
        result.timed_out_agent = call.reached == CallEnd::TimedOut;
        let mut ended = |reason: StopReason, message: String| {
            result.stop_reason = reason;
            result.message = message;
        };
        match call.reached {
            CallEnd::Interrupted => {
                self.interrupted = true;
                ended(StopReason::Interrupted, "it was interrupted".to_owned());
                return Ok(());
            }
            CallEnd::TimedOut | CallEnd::Failed(_) => {
                let (reason, message) = match call.reached {
                    CallEnd::Failed(message) => (StopReason::AgentError, message),
                    _ => (
                        StopReason::AgentTimeout,
                        format!(
                            "the agent did not answer within {:.0} s",
                            result.agent_timeout_seconds
                        ),
                    ),
                };
                // What it did until then may be all that was needed.
                let reply = call.reply.filter(|reply| !reply.two_forms);
                if let Some(patch) = reply.and_then(|reply| reply.patch) {
                    let trial = Trial {
                        focus,
                        ..Trial::new(&patch, before)
                    };
                    self.try_patch(result, &trial, folder)?;
                    if result.kept || result.stop_reason == StopReason::Interrupted {
                        return Ok(());
                    }
                    let tried = format!("{message}; its edits: {}", result.message);
                    (result.stop_reason, result.message) = (reason, tried);
                    return Ok(());
                }
                ended(reason, message);
                return Ok(());
            }
            CallEnd::Missing => {
                let message = "the agent's command was not found or cannot be run".to_owned();
                ended(StopReason::UserActionRequired, message);
                return Ok(());
            }
            CallEnd::Meddled(message) => {
                ended(StopReason::PolicyRejected, message);
                return Ok(());
            }
            CallEnd::Answered => {}
        }
        let Some(reply) = call.reply else {
            ended(StopReason::NoPatch, "the agent said nothing".to_owned());
            return Ok(());
        };
        let notes = reply.packet.notes.unwrap_or_default();
        match (reply.packet.status, reply.patch) {
            (ReplyStatus::RequestFiles, _) if !reply.packet.requested_files.is_empty() => {
                let count = reply.packet.requested_files.len();
                ended(
                    StopReason::RequestedFiles,
                    format!("the agent asks for files: {count}"),
                );
            }
            (ReplyStatus::InvalidTask, _) => {
                ended(
                    StopReason::InvalidTask,
                    format!("the agent says that the task cannot be done as it stands: {notes}"),
                );
            }
            (_, Some(_)) if reply.two_forms => {
                let message = "the reply changes files in two forms, `patch` beside `edits` or \
                            `files`; send everything in one of them";
                ended(StopReason::PatchInvalid, message.to_owned());
            }
            (_, Some(patch)) => {
                let trial = Trial {
                    focus,
                    ..Trial::new(&patch, before)
                };
                return self.try_patch(result, &trial, folder);
            }
            (_, None) => ended(
                StopReason::NoPatch,
                if notes.is_empty() {
                    "there is no patch in the reply".to_owned()
                } else {
                    format!("there is no patch in the reply: {notes}")
                },
            ),
        }
        Ok(())
    }

    // What a packet rests on, whatever is asked.
    fn request(&self) -> Request {
        Request {
            log: (!self.log.trim().is_empty()).then(|| self.log.clone().into()),
            traced: self.traced.clone(),
            ..self.setup.request.clone()
        }
    }

    // Builds and writes the packet and the prompt; gives both texts and the packet's size.
    fn packet(
        &mut self,
        ask: &Ask<'_>,
        history: &History,
        folder: &str,
    ) -> Result<(String, String, u64), RepairError> {
        let source = self.place.source()?;
        let failure = failing(history);
        let mut request = self.request();
        request.exit_code = failure.and_then(|it| it.test_result.exit);
        request.timed_out = failure.is_some_and(|it| it.test_result.timed_out);
        request.test_commands.clone_from(&self.setup.commands.lines);
        let asked = history::of(history, Origin::Agent).map(|attempt| &attempt.requested_files);
        request.requests = asked.filter(|paths| !paths.is_empty()).cloned().collect();
        request.seen = self.seen(history);
        request.level = LevelChoice::Exactly(if request.include_bundle {
            Level::Bundle
        } else {
            ask.level
        });
        let last = history::of(history, Origin::Agent).last();
        request.retry = Retry {
            stop_reason: last.map(|it| it.stop_reason),
            level: last.map(|it| it.level),
        };
        request.level_reason = why_level(ask, failure.map(|it| it.kind), &request);
        let named = ask.task.map_or(&[][..], |task| &task.targets);
        request.targets = named
            .iter()
            .filter_map(|path| RepoPath::new(path).ok())
            .filter(|path| source.listing().has_file(path.as_str()))
            .collect();
        let setup = self.setup;
        let built = build(&source, setup.known, setup.read, setup.redactor, &request)?;
        let budget = PacketBudget {
            attempts_left: Some(u64::from(ask.attempts_left)),
            seconds_left: ask
                .seconds_left
                .map(|left| Duration::try_from_secs_f64(left).map_or(0, |left| left.as_secs())),
        };
        let (protected, more_protected) = self.protected(&source);
        let mut packet = failure_packet(
            &built,
            self.setup.redactor,
            &request.test_commands,
            &protected,
            self.previous.clone(),
            budget,
        );
        let mask = |text: String| self.setup.redactor.redact(&text).text.into_owned();
        packet.task = ask.task.map(|task| mask(text_of(task, ask.focus)));
        packet.kept = self.kept();
        packet.more_protected_paths = more_protected;
        if last.is_none()
            && let Some(recovery) = &mut packet.recovery_context
        {
            // Nothing was tried yet: the hints are no recovery from anything.
            let hint = &recovery.recovery_hint;
            recovery.recovery_hint = hint.replacen(RECOVERY_HEADING, IMPORTS_HEADING, 1);
        }
        let form = match self.setup.agent {
            Agent::Command {
                protocol: AgentProtocol::Edit,
                ..
            } => ReplyForm::Edits,
            _ => ReplyForm::Patch,
        };
        let prompt = agent_prompt(&built.context, &packet, form);
        self.journal
            .json(&format!("{folder}/context.json"), &built.context)?;
        self.journal
            .json(&format!("{folder}/failure-packet.json"), &packet)?;
        self.journal.text(&format!("{folder}/prompt.md"), &prompt)?;
        if let Some(recovery) = &packet.recovery_context {
            let message = json!({
                "attempt": history.attempts.len() + 1,
                "undefined_names": recovery.undefined_names,
                "suggested_imports": recovery.suggested_imports,
            });
            self.event_of_task("warning", "import_error_recovery", message)?;
        }
        self.packet = Some(packet);
        let written = self.journal.read(&format!("{folder}/failure-packet.json"));
        let json = written.unwrap_or_default();
        Ok((json, prompt, built.context.total_bytes))
    }

    // The files of the packet that the agent was given last.
    fn seen(&self, history: &History) -> Vec<UnchangedFile> {
        let last = history::of(history, Origin::Agent).last();
        let written = last.and_then(|last| {
            let folder = format!("attempts/{:02}", last.attempt);
            let name = format!("{folder}/context.json");
            self.journal.document::<serde_json::Value>(&name)
        });
        let files = written.and_then(|mut it| serde_json::from_value(it["files"].take()).ok());
        files.unwrap_or_default()
    }

    // Of the files that were sent, those that the agent says it used, however it says so.
    fn used(&self, reported: Option<&serde_json::Value>) -> Vec<String> {
        let sent = self.packet.iter().flat_map(|it| &it.file_snapshots);
        let sent: BTreeSet<&str> = sent.map(|it| it.path.as_str()).collect();
        let mut used = BTreeSet::new();
        let mut open: Vec<&serde_json::Value> = reported.into_iter().collect();
        while let Some(value) = open.pop() {
            match value {
                serde_json::Value::String(path) => used.extend(sent.get(path.as_str()).copied()),
                serde_json::Value::Array(items) => open.extend(items),
                serde_json::Value::Object(members) => {
                    used.extend(
                        members
                            .keys()
                            .filter_map(|it| sent.get(it.as_str()).copied()),
                    );
                    open.extend(members.values());
                }
                _ => {}
            }
        }
        used.into_iter().map(str::to_owned).collect()
    }

    // What later attempts stand on, in order.
    fn kept(&self) -> Vec<KeptChange> {
        let kept = self.all.iter().filter(|it| it.kept);
        kept.map(|attempt| KeptChange {
            attempt: attempt.attempt,
            origin: attempt.origin,
            message: attempt.message.clone(),
            files: attempt.files_modified.clone(),
        })
        .collect()
    }

    // Files of this repository that a patch may not change, those nearest to the root first, and how
    // many there are beyond those.
    fn protected(&self, source: &dyn Source) -> (Vec<String>, Option<u64>) {
        let allowed = &self.setup.allowed;
        let entries = source.listing().entries();
        let mut paths: Vec<String> = entries
            .iter()
            .map(|entry| entry.path.as_str())
            .filter(|path| !allowed.has(path))
            .filter(|path| {
                let guard = allowed.guard(path);
                guard.is_some_and(|guard| guard.when != When::Created)
            })
            .map(str::to_owned)
            .collect();
        paths.sort_by_key(|path| (path.matches('/').count(), path.clone()));
        let more = paths.len().saturating_sub(MAX_PROTECTED) as u64;
        paths.truncate(MAX_PROTECTED);
        (paths, Some(more).filter(|it| *it > 0))
    }

    fn speak(
        &mut self,
        folder: &str,
        packet: &str,
        prompt: &str,
        timeout: f64,
    ) -> Result<AgentCall, RepairError> {
        match self.setup.agent {
            Agent::None => Ok(AgentCall::default()),
            Agent::Function(function) => {
                let calls = self.calls() + 1;
                let Some(packet) = &self.packet else {
                    return Ok(AgentCall::default());
                };
                let text = function(packet, calls);
                self.journal
                    .text(&format!("{folder}/agent.stdout"), &text)?;
                Ok(AgentCall::of_text(&text))
            }
            Agent::Command {
                command,
                protocol,
                adapter,
                environment,
                writable,
            } => {
                let stdin = match protocol {
                    AgentProtocol::Json => packet,
                    AgentProtocol::Prompt | AgentProtocol::Edit => prompt,
                };
                let timeout = Duration::try_from_secs_f64(timeout).unwrap_or(Duration::MAX);
                let lines = &self.setup.commands.lines;
                let confined = self.sandbox == Some(SandboxState::Enforced);
                let failing = lines.last().map(String::as_str);
                let session = self.agent_session();
                let line =
                    adapter.map(|it| it.line(command, confined, failing, session.as_deref()));
                let request = Asked {
                    command: line.as_deref().unwrap_or(command),
                    protocol,
                    adapter,
                    environment,
                    writable,
                };
                self.call_command(folder, request, stdin, timeout)
            }
        }
    }
}

/// More protected files than this are not listed; the rule stands for all.
const MAX_PROTECTED: usize = 40;
const RECOVERY_HEADING: &str = "Recovery Context (IMPORTANT - Previous Attempt Failed)";
const IMPORTS_HEADING: &str = "Imports that may be missing";

// Why the plan chose this rung.
fn why_level(ask: &Ask<'_>, kind: Option<FailureKind>, request: &Request) -> Option<String> {
    if request.include_bundle {
        return None;
    }
    let count = ask.requested.len();
    let (level, why) = choose_level(LevelChoice::Auto, kind, request.retry, count, false).ok()?;
    Some(match level.cmp(&ask.level) {
        Ordering::Equal => why,
        Ordering::Greater => format!("level {} is the highest that is allowed", ask.level),
        Ordering::Less => format!("level {} was reached before", ask.level),
    })
}

fn text_of(task: &Task, focus: &[String]) -> String {
    let mut text = String::new();
    if !task.title.is_empty() {
        text.push_str(&format!("{}\n", task.title));
    }
    for (name, id) in [("Task", &task.id), ("Issue", &task.issue)] {
        if let Some(id) = id {
            text.push_str(&format!("{name}: {id}\n"));
        }
    }
    if let Some(whole) = &task.whole {
        text.push_str("\nThis is one part of a larger task, which is told below for orientation");
        if !whole.is_empty() {
            text.push_str(&format!(": {whole}"));
        }
        text.push_str(".\n");
    }
    if !task.description.is_empty() && task.description != task.title {
        text.push_str(&format!("\n{}\n", task.description));
    }
    let unsaid = |it: &&String| task.whole.is_some() || !task.description.contains(*it);
    let criteria: Vec<&String> = task.criteria.iter().filter(unsaid).collect();
    if task.whole.is_some() && !criteria.is_empty() {
        text.push_str("\nOf it, only this is wanted now:\n");
    }
    for criterion in criteria {
        text.push_str(&format!("- {criterion}\n"));
    }
    if !focus.is_empty() {
        text.push_str("\nOnly these tests are yours; others may still fail:\n");
        for test in focus {
            text.push_str(&format!("- {test}\n"));
        }
    }
    text
}

/// Seconds in steps of a millisecond.
pub(super) fn millis(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
