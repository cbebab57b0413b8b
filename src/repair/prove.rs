use serde_json::json;

use super::commands::{Ran, beside};
use super::error::RepairError;
use super::journal::read_json;
use super::session::Session;
use super::trial::Trial;
use crate::model::{AttemptResult, Code, Observed, Proof, StopReason};
use crate::patch::Change;
use crate::proof::{Evidence, compare, named_files};

impl Session<'_> {
    /// What stands behind commands that pass with these changes laid in. Where those without them
    /// did not end alike, the commands are run once more.
    pub(super) fn prove(
        &mut self,
        result: &mut AttemptResult,
        trial: &Trial<'_>,
        changes: &[Change],
        ran: &Ran,
    ) -> Result<(), RepairError> {
        let failing = self.failing_before(trial.before);
        let mut proof = compare(&self.evidence, &ran.evidence, &failing);
        proof.green_runs = 1;
        if proof.proven && self.unstable {
            self.place.reset()?;
            self.place.write(changes)?;
            self.event("info", "command_started", json!({ "what": "green-again" }))?;
            let again = self.run_commands()?;
            if again.interrupted {
                result.stop_reason = StopReason::Interrupted;
                result.kept = false;
                return Ok(());
            }
            if again.observed.passed {
                proof.green_runs = 2;
                let second = compare(&self.evidence, &again.evidence, &failing);
                proof.missing = second.missing;
            } else {
                proof.missing = vec![format!(
                    "a second run with the same change did not pass: {}",
                    again.observed.test_result.message
                )];
            }
            proof.proven = proof.missing.is_empty();
        }
        proof.red_runs = self.red_runs;
        proof.rests_on = self.rests_on(&proof, changes)?;
        if !proof.proven {
            let advice = Code::L106.advice();
            result.stop_reason = StopReason::Unproven;
            result.kept = false;
            result.message = format!(
                "the commands end with 0, and that the tests pass is not proven: {}",
                proof.missing.join("; ")
            );
            let said = json!({ "code": Code::L106, "missing": proof.missing, "advice": advice });
            self.event("warning", "unproven", said)?;
        }
        result.proof = Some(proof);
        Ok(())
    }

    /// Takes what the runners said as what a green run is held to.
    pub(super) fn hold_to(&mut self, name: &str, evidence: &Evidence) -> Result<(), RepairError> {
        self.journal.json(name, evidence)?;
        self.evidence.push(evidence.clone());
        Ok(())
    }

    /// The same for a run that is written down already.
    pub(super) fn hold_to_known(&mut self, name: &str) {
        self.evidence
            .extend(read_json::<Evidence>(&self.journal, name));
    }

    fn failing_before(&self, before: Option<&Observed>) -> Vec<String> {
        let mut failing: Vec<String> = Vec::new();
        for test in self
            .first
            .iter()
            .chain(before)
            .flat_map(|it| &it.failing_tests)
        {
            if !failing.contains(test) {
                failing.push(test.clone());
            }
        }
        failing
    }

    // Where nothing but an exit code speaks, a file that the command names speaks for itself.
    fn rests_on(&self, proof: &Proof, changes: &[Change]) -> Result<Vec<String>, RepairError> {
        if proof.decisive.runner.is_some() {
            return Ok(Vec::new());
        }
        let source = self.place.source()?;
        let prefix = self.setup.prefix;
        let read = |path: &str| beside(source.as_ref(), prefix, path);
        let named: Vec<String> = self
            .setup
            .commands
            .lines
            .iter()
            .flat_map(|line| named_files(line, &read))
            .collect();
        let is_named = |path: &str| {
            let below = path.strip_prefix(prefix).unwrap_or(path);
            named.iter().any(|it| it == below.trim_start_matches('/'))
        };
        Ok(changes
            .iter()
            .map(|change| change.path.to_string())
            .filter(|path| is_named(path))
            .collect())
    }
}
