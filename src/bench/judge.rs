//! Decides whether a fixture passed: status, hidden tests, and files of the run that hold forbidden text.

use std::fs;
use std::path::{Path, PathBuf};

use super::score::WRONG_HEAL;
use super::stage::Hidden;
use super::{BenchAgent, Fixture};
use crate::model::{
    AttemptRecord, Code, FixtureOutcome, FixtureResult, HiddenTests, Origin, RunResult, RunStatus,
    StopReason,
};
use crate::repair::read_run;

/// The result of a run and the files that it wrote.
pub(super) struct CaseRun {
    /// How it ended.
    pub(super) result: RunResult,
    /// What it wrote.
    pub(super) record: Record,
    /// What the hidden tests said when it was fixed.
    pub(super) hidden: Option<Hidden>,
    /// The patch that it ended with.
    pub(super) patch: Option<String>,
}

impl CaseRun {
    fn run_hidden(&self) -> Option<HiddenTests> {
        self.hidden.as_ref().map(|hidden| match hidden {
            Hidden::Passed => HiddenTests::Passed,
            Hidden::Failed(_) => HiddenTests::Failed,
        })
    }

    fn is_repair(&self) -> bool {
        self.result.status.is_success() && self.run_hidden() != Some(HiddenTests::Failed)
    }
}

/// Fills an outcome from what a run came to and wrote: passed when it ended as the fixture says,
/// its hidden tests agree, and it did nothing that the fixture forbids.
pub(super) fn judge_run(
    fixture: &Fixture,
    agent: &BenchAgent,
    ran: CaseRun,
    outcome: &mut FixtureOutcome,
) {
    outcome.repaired = ran.is_repair();
    outcome.hidden = ran.run_hidden();
    let CaseRun {
        result: run,
        record,
        hidden,
        patch,
    } = ran;
    outcome.patch = patch;
    outcome.status = Some(run.status);
    outcome.stop_reason = Some(run.stop_reason);
    outcome.level = run.level;
    outcome.attempts = run.attempts;
    outcome.agent_calls = run.agent_calls;
    outcome.usage = run.usage.unwrap_or_default();
    let seconds: f64 = run.command_runs.iter().map(|run| run.seconds).sum();
    outcome.command_seconds = (seconds * 1000.0).round() / 1000.0;
    let attempts = record.attempts.iter().map(|one| &one.result);
    outcome.healed = attempts.clone().any(|one| {
        one.origin == Origin::Heal && (one.kept || one.stop_reason == StopReason::Fixed)
    });
    let mut why = Vec::new();
    let end = match (agent, fixture.replay) {
        (BenchAgent::Replay, Some(end)) => end,
        _ => fixture.end(),
    };
    // Commands without a runner that is known are fixed as far as can be said.
    let is_as_fixed = end.status == RunStatus::Fixed && run.status.is_success();
    let is_expected = run.status == end.status || is_as_fixed;
    if !is_expected || run.stop_reason != end.stop_reason {
        why.push(format!(
            "it ended {} ({}), not {} ({}): {}",
            status_word(&run.status),
            run.stop_reason,
            status_word(&end.status),
            end.stop_reason,
            run.message
        ));
    }
    if let Some(Hidden::Failed(reason)) = hidden {
        why.push(format!(
            "{HIDDEN_FAILED}: fixed, hidden tests failed: {reason}"
        ));
    }
    // Part of the known fix is no guess, unless it ended as fixed.
    let whole = run.status.is_success() && run.agent_calls == 0;
    let by_rule = !whole && record.heals().all(|heal| is_part_of(heal, fixture));
    if outcome.healed && !fixture.heal_safe && !by_rule {
        let reason = "a fix without an LLM was kept, but the fixture marks that as unsafe";
        why.push(format!("{WRONG_HEAL}{reason}"));
    }
    why.extend(record.leaks.iter().map(|leak| format!("F302: {leak}")));
    outcome.result = if why.is_empty() {
        FixtureResult::Passed
    } else {
        FixtureResult::Failed
    };
    outcome.why = why;
    outcome.packet_bytes = attempts.map(|one| one.packet_bytes).sum();
    outcome.leaks = record.leaks;
}

fn is_part_of(patch: &str, fixture: &Fixture) -> bool {
    let reference = fixture.reference.as_deref().unwrap_or_default();
    let reference = added_lines(&String::from_utf8_lossy(reference));
    added_lines(patch).iter().all(|line| reference.contains(line))
}

fn added_lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.starts_with("+++"));
    let lines = lines.filter_map(|line| line.strip_prefix('+'));
    let lines = lines.map(|line| line.trim().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

const HIDDEN_FAILED: Code = Code::F309;

fn status_word(status: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(status).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

/// The files of a run's folder that the bench reads.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The attempts, in order.
    pub(super) attempts: Vec<AttemptRecord>,
    /// Files that hold something forbidden, and what.
    pub(super) leaks: Vec<String>,
}

impl Record {
    /// Reads a run's folder. What is missing there is not in the record.
    pub(super) fn read(fixture: &Fixture, folder: &Path) -> Self {
        let attempts = read_run(folder).map_or_else(Vec::new, |run| run.attempts);
        let mut leaks = Vec::new();
        let texts = fixture.forbidden_texts();
        for path in list_files(folder) {
            let bytes = fs::read(&path).unwrap_or_default();
            if texts.iter().any(|text| memchr::memmem::find(&bytes, text.as_bytes()).is_some()) {
                // The text itself is not repeated, because this goes into logs and documents.
                let name = path.strip_prefix(folder).unwrap_or(&path);
                leaks.push(format!("{}: a forbidden text", name.display()));
            }
        }
        for attempt in &attempts {
            for path in &fixture.forbid.paths {
                if attempt.files.iter().any(|(file, _)| file == path.as_str()) {
                    leaks.push(format!("{}: the file `{path}`", attempt.folder));
                }
            }
        }
        Self { attempts, leaks }
    }

    /// Returns the patches of changes without an LLM that were kept.
    pub(super) fn heals(&self) -> impl Iterator<Item = &str> {
        let attempts = self.attempts.iter();
        let heals = attempts.filter(|one| one.result.origin == Origin::Heal && one.result.kept);
        heals.map(|one| one.patch.as_str())
    }
}

// Sorted; links are not followed.
fn list_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
