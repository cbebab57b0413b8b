//! Builds `result.json`.

use super::attempt::paths_of;
use super::error::RepairError;
use super::failure::child_failure;
use super::journal::{digest, in_utc, round_millis};
use super::plan::RunEnd;
use super::run::Session;
use crate::exec::SandboxState;
use crate::model::{
    Category, EventKind, FailureKind, FileChange, Level, Observed, Proof, ProofLevel, RunResult,
    RunStatus, SCHEMA_VERSION, StopReason, TestTrace, Usage, WorkplaceUsed,
};
use crate::patch::{Change, FileState, canonical, write_worktree};
use crate::report::failure_text;

/// Returns how commands that pass are called: `fixed` needs more than an exit code.
pub(super) fn success_status(proof: Option<&Proof>) -> RunStatus {
    match proof {
        Some(proof) if proof.level == ProofLevel::ExitCode => RunStatus::Passed,
        _ => RunStatus::Fixed,
    }
}

impl Session<'_> {
    /// Writes what a run leaves: the patch, the result, the report.
    pub(super) fn conclude_run(
        mut self,
        end: &RunEnd,
        started_at: Option<String>,
    ) -> Result<RunResult, RepairError> {
        let changes = self.final_changes()?;
        let patch = canonical(&changes);
        let mut result = self.run_result(end, &changes, &patch);
        result.started_at = started_at;
        let is_success = result.status.is_success();
        if !changes.is_empty() {
            self.stage.journal.write_masked("final.patch", &patch)?;
        }
        if is_success {
            // Written before the worktree is touched, so that whoever finds it changed finds the result.
            self.stage.journal.write_json("result.json", &result)?;
        }
        if self.asked.apply && is_success && !changes.is_empty() {
            match write_worktree(self.asked.root, self.asked.state, &changes) {
                Ok(()) => result.applied = true,
                Err(error) => {
                    let why = error.to_string();
                    result.message = format!("{}; not applied: {why}", result.message);
                    self.stage.event(EventKind::ApplyFailed { why })?;
                }
            }
        }
        if !is_success {
            let remedies = self.seen.diagnosis.as_ref().map(self.asked.remedies);
            let remedies = remedies.unwrap_or_default();
            let attempts = &self.seen.attempts;
            let failure = child_failure(&result, attempts, &remedies, self.asked.redactor);
            result.suggested_actions.clone_from(&failure.suggested_actions);
            let journal = &self.stage.journal;
            journal.write_text("report.txt", &failure_text(&failure))?;
            journal.write_json("report.json", &failure)?;
        }
        self.stage.journal.write_json("result.json", &result)?;
        self.stage.event(EventKind::RunEnded {
            status: result.status,
            stop_reason: result.stop_reason,
            why: result.message.clone(),
        })?;
        Ok(result)
    }

    fn final_changes(&self) -> Result<Vec<Change>, RepairError> {
        let source = self.stage.place.source()?;
        let changes = self.seen.base.iter().map(|(path, before)| {
            Change::between(path.clone(), before.clone(), FileState::read(&source, path))
        });
        Ok(changes.filter(|change| change.before != change.after).collect())
    }

    fn run_result(&self, end: &RunEnd, changes: &[Change], patch: &[u8]) -> RunResult {
        let (seen, stage, setup) = (&self.seen, &self.stage, self.asked);
        let first: Option<&Observed> = seen.first.as_ref().filter(|first| !first.passed);
        let attempts = seen.attempts.iter();
        let last = attempts.clone().rev().find_map(|a| a.test_result.clone());
        let remaining = seen.kept().next_back().and_then(|a| a.observed.clone());
        let remaining = remaining.filter(|remaining| !remaining.passed);
        // The proof of the change that made the commands pass; else of the last one that seemed to.
        let mut proofs = seen.attempts.iter().filter_map(|a| a.proof.as_ref());
        let proof = proofs.clone().rfind(|proof| proof.proven).or_else(|| proofs.next_back());
        let status = match end.status {
            RunStatus::Fixed => success_status(proof),
            status => status,
        };
        let whole_runs = stage.runs.iter().filter(|run| run.whole).count() as u64;
        let trouble = seen.attempts.last().and_then(|a| a.agent_trouble.clone());
        let ids = stage.task_ids();
        let sandbox = stage.sandbox.state.map_or("", SandboxState::as_str);
        let cause = setup.request.cause.as_ref();
        let name = setup.folder.file_name().unwrap_or_default();
        RunResult {
            schema_version: SCHEMA_VERSION,
            document: "result".to_owned(),
            run_id: name.to_string_lossy().into_owned(),
            status,
            stop_reason: end.reason,
            category: (!status.is_success()).then(|| self.run_category(end, first)),
            level: attempts.clone().map(|attempt| attempt.level).max().unwrap_or(Level::Targets),
            started_at: None,
            ended_at: Some(in_utc(jiff::Timestamp::now())),
            attempts: seen.attempts.len() as u32,
            agent_calls: seen.calls(),
            duration_seconds: round_millis(stage.journal.seconds()),
            patch_digest: (!changes.is_empty()).then(|| digest(patch)),
            test_result: last.or_else(|| seen.first.as_ref().map(|o| o.test_result.clone())),
            proof: proof.cloned(),
            workplace: WorkplaceUsed {
                kind: stage.place.kind().to_owned(),
                why: stage.place.why().to_owned(),
                sandbox: sandbox.to_owned(),
                not_confined: stage.sandbox.not_confined.clone(),
                refused: stage.sandbox.refused.iter().cloned().collect(),
            },
            failure: first.cloned(),
            cause: cause.map(|cause| cause.message.clone()),
            trace: seen.traced.as_ref().map(|traced| TestTrace {
                failing: traced.failing,
                passing: traced.passing,
            }),
            message: setup.redactor.mask(&end.message),
            suggested_actions: Vec::new(),
            files_modified: paths_of(changes),
            file_changes: changes.iter().map(count_lines).collect(),
            certain: !changes.is_empty() && seen.kept().all(|attempt| attempt.certain),
            applied: false,
            children: seen.parts.iter().map(|part| part.title.clone()).collect(),
            parts: seen.parts.clone(),
            usage: attempts.clone().filter_map(|a| a.usage).reduce(Usage::plus),
            remaining,
            whole_runs,
            chosen_runs: stage.runs.len() as u64 - whole_runs,
            command_runs: stage.runs.clone(),
            agent_trouble: trouble.filter(|_| end.reason == StopReason::AgentError),
            task_id: ids.feature_id,
            issue: ids.issue_number,
        }
    }

    // When the budget runs out, the last attempt decides; where a person must act, it is the environment.
    fn run_category(&self, end: &RunEnd, first: Option<&Observed>) -> Category {
        if end.status == RunStatus::UserActionRequired && end.reason != StopReason::AgentError {
            return Category::ToolError;
        }
        if self.seen.kept().next().is_some() {
            return Category::Partial;
        }
        let ran_out = [StopReason::BudgetExhausted, StopReason::NoProgress].contains(&end.reason);
        let last = self.seen.attempts.last().filter(|_| ran_out);
        let reason = last.map_or(end.reason, |last| last.stop_reason);
        let kind = first.map_or(FailureKind::Unknown, |first| first.kind);
        crate::diagnose::category(kind, Some(reason))
    }
}

fn count_lines(change: &Change) -> FileChange {
    let (added, removed) = change.line_counts();
    FileChange {
        path: change.path.to_string(),
        added: added as u64,
        removed: removed as u64,
    }
}
