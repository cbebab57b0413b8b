use serde_json::json;

use super::error::RepairError;
use super::outputs::outputs;
use super::session::Session;
use crate::model::{AttemptResult, Code, Origin, PreviousAttempt, RunStatus, StopReason};

impl Session<'_> {
    /// Calls of the agent so far.
    pub(super) fn calls(&self) -> u32 {
        let calls = self
            .all
            .iter()
            .filter(|it| it.origin == Origin::Agent)
            .count();
        u32::try_from(calls).unwrap_or(u32::MAX)
    }

    // Last: an attempt without its result is done again, one with it is not.
    pub(super) fn finish(
        &mut self,
        mut result: AttemptResult,
        folder: &str,
        old_log: &str,
    ) -> Result<AttemptResult, RepairError> {
        let kind = self
            .first
            .as_ref()
            .map_or(crate::model::FailureKind::Unknown, |it| it.kind);
        result.category = crate::diagnose::category(kind, Some(result.stop_reason));
        result.status = match result.stop_reason {
            StopReason::Fixed => RunStatus::Fixed,
            StopReason::Unproven => RunStatus::Unproven,
            StopReason::InvalidTask => RunStatus::InvalidTask,
            StopReason::UserActionRequired => RunStatus::UserActionRequired,
            _ => RunStatus::Failed,
        };
        result.message = self
            .setup
            .redactor
            .redact(&result.message)
            .text
            .into_owned();
        let fields = json!({
            "attempt": result.attempt,
            "stopReason": result.stop_reason,
            "kept": result.kept,
            "why": result.message,
        });
        let tells_nothing = [StopReason::Interrupted, StopReason::WorktreeChanged];
        if !tells_nothing.contains(&result.stop_reason) {
            self.journal
                .json(&format!("{folder}/result.json"), &result)?;
        }
        self.event("info", "attempt_ended", fields)?;
        self.remember(&result, folder, old_log);
        self.all.push(result.clone());
        Ok(result)
    }

    // A reply of an agent is what the next packet tells about; `old_log` is the output of the
    // commands without its change.
    fn remember(&mut self, result: &AttemptResult, folder: &str, old_log: &str) {
        if result.origin == Origin::Agent {
            let log = self.journal.read(&format!("{folder}/test.log"));
            self.previous = Some(PreviousAttempt {
                stop_reason: result.stop_reason,
                patch_digest: result.patch_digest.clone(),
                preflight: self.journal.document(&format!("{folder}/preflight.json")),
                message: Some(result.message.clone()),
                patch: self
                    .journal
                    .read(&format!("{folder}/patch.diff"))
                    .filter(|patch| patch.len() <= MAX_PREVIOUS_PATCH),
                failure: match result.stop_reason {
                    StopReason::Unproven => Some(Code::L106.advice().to_owned()),
                    _ => result.observed.as_ref().map(|it| it.message.clone()),
                },
                kept: result.kept,
                outputs: log.map(|log| outputs(old_log, &log)),
            });
        }
    }

    // An attempt that an interrupted run finished: its change is made again, its cost is not.
    pub(super) fn earlier(&mut self, folder: &str) -> Result<Option<AttemptResult>, RepairError> {
        let written = self.journal.document(&format!("{folder}/result.json"));
        let Some(result): Option<AttemptResult> = written else {
            return Ok(None);
        };
        let old_log = self.log.clone();
        if result.kept {
            self.make_again(folder, &result)?;
            self.hold_to_known(&format!("{folder}/evidence.json"));
            if let Some(log) = self.journal.read(&format!("{folder}/test.log"))
                && let Some(observed) = &result.observed
            {
                self.stand_on_again(log, observed)?;
            }
        }
        self.remember(&result, folder, &old_log);
        self.all.push(result.clone());
        Ok(Some(result))
    }
}

/// A patch above this size is not shown to its author again.
const MAX_PREVIOUS_PATCH: usize = 16_384;
