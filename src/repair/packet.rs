//! Builds the packet of an attempt, with feedback on the last one.

use std::time::Duration;

use super::attempt::{Ask, Attempt};
use super::error::RepairError;
use super::history::{self, History, last_failing};
use super::run::Session;
use super::setup::Agent;
use super::task::Task;
use crate::context::{LevelChoice, Request, Retry, build, choose_level, failure_packet};
use crate::model::{
    AgentProtocol, EventKind, FailurePacket, KeptChange, Level, Origin, PacketBudget, RepoPath,
};
use crate::policy::When;
use crate::report::{ReplyForm, agent_prompt};
use crate::source::Source;

const RECOVERY_HEADING: &str = "Recovery Context (IMPORTANT - Previous Attempt Failed)";
const IMPORTS_HEADING: &str = "Imports that may be missing";

/// What is sent to an agent.
pub(super) struct Question {
    pub(super) packet: FailurePacket,
    /// The packet as it is written, with secrets masked.
    pub(super) json: String,
    pub(super) prompt: String,
}

impl Session<'_> {
    /// Builds and writes the packet and the prompt.
    pub(super) fn build_question(
        &mut self,
        attempt: &mut Attempt<'_>,
        ask: &Ask<'_>,
        history: &History,
    ) -> Result<Question, RepairError> {
        let setup = self.asked;
        let source = self.stage.place.source()?;
        let request = self.packet_request(ask, history, &source);
        let built = build(&source, setup.known, setup.read, setup.redactor, &request)?;
        let budget = PacketBudget {
            attempts_left: Some(u64::from(ask.attempts_left)),
            seconds_left: ask
                .seconds_left
                .map(|left| Duration::try_from_secs_f64(left).map_or(0, |left| left.as_secs())),
        };
        let (protected, more_protected) = self.protected_files(&source);
        let mut packet = failure_packet(
            &built,
            setup.redactor,
            &request.test_commands,
            &protected,
            self.seen.previous.clone(),
            budget,
        );
        let task = ask.task.map(|task| describe_task(task, ask.focus));
        packet.task = task.map(|task| setup.redactor.mask(&task));
        packet.kept = self.kept_changes();
        packet.more_protected_paths = more_protected;
        if let Some(recovery) = &mut packet.recovery_context {
            if history.replies() == 0 {
                // Nothing was tried yet: the hints are no recovery from anything.
                let hint = &recovery.recovery_hint;
                recovery.recovery_hint = hint.replacen(RECOVERY_HEADING, IMPORTS_HEADING, 1);
            }
            let task = self.stage.task_ids();
            self.stage.event(EventKind::ImportErrorRecovery {
                attempt: attempt.result.attempt,
                undefined_names: recovery.undefined_names.clone(),
                suggested_imports: recovery.suggested_imports.clone(),
                task,
            })?;
        }
        let form = match setup.agent {
            Agent::Command(agent) if agent.protocol == AgentProtocol::Edit => ReplyForm::Edits,
            _ => ReplyForm::Patch,
        };
        let prompt = agent_prompt(&built.context, &packet, form);
        let journal = &self.stage.journal;
        let name = |name: &str| format!("{}/{name}", attempt.folder);
        journal.write_json(&name("context.json"), &built.context)?;
        journal.write_json(&name("failure-packet.json"), &packet)?;
        journal.write_text(&name("prompt.md"), &prompt)?;
        attempt.result.packet_bytes = built.context.total_bytes;
        Ok(Question {
            json: journal.read(&name("failure-packet.json")).unwrap_or_default(),
            packet,
            prompt,
        })
    }

    fn packet_request(&self, ask: &Ask<'_>, history: &History, source: &dyn Source) -> Request {
        let failure = last_failing(history);
        let last = history::attempts_of(history, Origin::Agent).last();
        let mut request = self.asked.request.clone();
        request.log = (!self.seen.log.trim().is_empty()).then(|| self.seen.log.clone().into());
        request.traced.clone_from(&self.seen.traced);
        request.facts.exit_code = failure.and_then(|failure| failure.test_result.exit);
        request.facts.timed_out = failure.is_some_and(|failure| failure.test_result.timed_out);
        request.test_commands.clone_from(&self.asked.commands.lines);
        let asked =
            history::attempts_of(history, Origin::Agent).map(|attempt| &attempt.requested_files);
        request.requests = asked.filter(|paths| !paths.is_empty()).cloned().collect();
        let level = match request.include_bundle {
            true => Level::Bundle,
            false => ask.level,
        };
        request.level = LevelChoice::Exactly(level);
        request.retry = Retry {
            stop_reason: last.map(|last| last.stop_reason),
            level: last.map(|last| last.level),
        };
        let kind = failure.map(|failure| failure.kind);
        let count = ask.requested.len();
        let chosen = choose_level(LevelChoice::Auto, kind, request.retry, count, false).ok();
        let chosen = chosen.filter(|_| !request.include_bundle);
        request.level_reason = chosen.map(|(chosen, why)| match chosen == level {
            true => why,
            false => format!("level {level} is the nearest that is allowed"),
        });
        let targets = ask.task.map_or(&[][..], |task| &task.targets).iter();
        let targets = targets.filter_map(|path| RepoPath::new(path).ok());
        request.targets = targets.filter(|path| source.listing().has_file(path.as_str())).collect();
        request
    }

    fn kept_changes(&self) -> Vec<KeptChange> {
        let kept = self.seen.kept().map(|attempt| KeptChange {
            attempt: attempt.attempt,
            origin: attempt.origin,
            message: attempt.message.clone(),
            files: attempt.files_modified.clone(),
        });
        kept.collect()
    }

    // Files that a patch may not change, those nearest to the root first, and how many there are beyond those.
    fn protected_files(&self, source: &dyn Source) -> (Vec<String>, Option<u64>) {
        let allowed = &self.asked.allowed;
        let paths = source.listing().entries().iter().map(|entry| entry.path.as_str());
        let paths = paths.filter(|path| {
            let guard = allowed.guard(path);
            !allowed.has(path) && guard.is_some_and(|guard| guard.when != When::Created)
        });
        let mut paths: Vec<String> = paths.map(str::to_owned).collect();
        paths.sort_by_key(|path| (path.matches('/').count(), path.clone()));
        // More protected files than this are not listed; the rule represents all.
        let max_protected = 40;
        let more = paths.len().saturating_sub(max_protected) as u64;
        paths.truncate(max_protected);
        (paths, Some(more).filter(|more| *more > 0))
    }
}

fn describe_task(task: &Task, focus: &[String]) -> String {
    let mut text = String::new();
    if !task.title.is_empty() {
        text.push_str(&format!("{}\n", task.title));
    }
    for (name, id) in [("Task", &task.id), ("Issue", &task.issue)] {
        text.extend(id.as_ref().map(|id| format!("{name}: {id}\n")));
    }
    if let Some(whole) = &task.whole {
        let title = if whole.is_empty() { "" } else { ": " };
        text.push_str(&format!(
            "\nThis is one part of a larger task, described below for orientation{title}{whole}.\n"
        ));
    }
    if !task.description.is_empty() && task.description != task.title {
        text.push_str(&format!("\n{}\n", task.description));
    }
    let mut criteria: Vec<&String> = task.criteria.iter().collect();
    if task.whole.is_none() {
        criteria.retain(|criterion| !task.description.contains(*criterion));
    } else if !criteria.is_empty() {
        text.push_str("\nDo only this part now:\n");
    }
    text.push_str(&list_items(&criteria));
    if !focus.is_empty() {
        text.push_str("\nMake only these tests pass; others may still fail:\n");
        text.push_str(&list_items(&focus.iter().collect::<Vec<_>>()));
    }
    text
}

fn list_items(items: &[&String]) -> String {
    items.iter().map(|item| format!("- {item}\n")).collect::<String>()
}
