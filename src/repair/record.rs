use serde_json::json;

use super::error::RepairError;
use super::journal::read_json;
use super::outputs::outputs;
use super::session::Session;
use crate::model::{
    AttemptResult, Code, Level, Origin, PreviousAttempt, RunStatus, SCHEMA_VERSION, StopReason,
};

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

    pub(super) fn blank(&self, number: usize, origin: Origin, level: Level) -> AttemptResult {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        AttemptResult {
            schema_version: SCHEMA_VERSION,
            document: "result".to_owned(),
            attempt: number,
            origin,
            stop_reason: StopReason::NoPatch,
            category: crate::model::Category::Partial,
            level,
            attempts: number,
            duration_seconds: 0.0,
            patch_digest: None,
            test_result: None,
            status: RunStatus::Failed,
            observed: None,
            proof: None,
            kept: false,
            message: String::new(),
            error_code: None,
            requested_files: Vec::new(),
            completed_steps: Vec::new(),
            context_used: Vec::new(),
            files_modified: Vec::new(),
            progress: false,
            agent_timeout_seconds: 0.0,
            timed_out_agent: false,
            packet_bytes: 0,
            usage: None,
            reply_digest: None,
            agent_trouble: None,
        }
    }

    // Last: an attempt without its result is done again, one with it is not.
    pub(super) fn finish(
        &mut self,
        mut result: AttemptResult,
        folder: &str,
        stood: &str,
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
        let said = json!({
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
        self.event("info", "attempt_ended", said)?;
        self.remember(&result, folder, stood);
        self.all.push(result.clone());
        Ok(result)
    }

    // A reply of an agent is what the next packet tells about; `stood` is the output of the
    // commands without its change.
    fn remember(&mut self, result: &AttemptResult, folder: &str, stood: &str) {
        if result.origin == Origin::Agent {
            let log = std::fs::read_to_string(self.journal.path(&format!("{folder}/test.log")));
            self.previous = Some(PreviousAttempt {
                stop_reason: result.stop_reason,
                patch_digest: result.patch_digest.clone(),
                preflight: read_json(&self.journal, &format!("{folder}/preflight.json")),
                message: Some(result.message.clone()),
                patch: std::fs::read_to_string(self.journal.path(&format!("{folder}/patch.diff")))
                    .ok()
                    .filter(|patch| patch.len() <= MAX_PREVIOUS_PATCH),
                failure: match result.stop_reason {
                    StopReason::Unproven => Some(Code::L106.advice().to_owned()),
                    _ => result.observed.as_ref().map(|it| it.message.clone()),
                },
                kept: result.kept,
                outputs: log.ok().map(|log| outputs(stood, &log)),
            });
        }
    }

    // An attempt that an interrupted run finished: its change is made again, its cost is not.
    pub(super) fn known(&mut self, folder: &str) -> Result<Option<AttemptResult>, RepairError> {
        let Some(result) =
            read_json::<AttemptResult>(&self.journal, &format!("{folder}/result.json"))
        else {
            return Ok(None);
        };
        let stood = self.log.clone();
        if result.kept {
            self.make_again(folder)?;
            self.hold_to_known(&format!("{folder}/evidence.json"));
            if let Ok(log) =
                std::fs::read_to_string(self.journal.path(&format!("{folder}/test.log")))
                && let Some(observed) = &result.observed
            {
                self.stand_on_again(log, observed)?;
            }
        }
        self.remember(&result, folder, &stood);
        self.all.push(result.clone());
        Ok(Some(result))
    }
}

/// A patch above this size is not shown to its author again.
const MAX_PREVIOUS_PATCH: usize = 16_384;
