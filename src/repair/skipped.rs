use serde_json::json;

use super::commands::CommandsRun;
use super::error::RepairError;
use super::session::Session;
use crate::model::{Proof, TestEnd};
use crate::patch::{Change, FileState};
use crate::policy::is_test;
use crate::proof::compare;

impl Session<'_> {
    /// What the runners said, with tests that are skipped where nothing is broken left out.
    pub(super) fn compared(
        &mut self,
        changes: &[Change],
        ran: &CommandsRun,
        failing: &[String],
    ) -> Result<Proof, RepairError> {
        let proof = compare(&self.evidence, &ran.evidence, failing, &self.skipped);
        if self.skipped_without_it(&proof, changes)? {
            return Ok(compare(
                &self.evidence,
                &ran.evidence,
                failing,
                &self.skipped,
            ));
        }
        Ok(proof)
    }

    /// Whether tests that failed and are skipped with a change are skipped with the product as the last commit
    /// has it, too: then what was broken since had hidden that. The tests stay as they are now, so that none is
    /// skipped by its own words of then. What was laid in stands again afterwards.
    fn skipped_without_it(
        &mut self,
        proof: &Proof,
        changes: &[Change],
    ) -> Result<bool, RepairError> {
        let ends = proof.decisive.tests.iter();
        let mut skipped: Vec<String> = ends
            .filter(|it| it.ended == TestEnd::Skipped && !self.skipped.contains(&it.id))
            .map(|it| it.id.clone())
            .collect();
        let Some(git) = self.setup.git.filter(|_| !skipped.is_empty()) else {
            return Ok(false);
        };
        let source = self.setup.source;
        let product = source.listing().files().map(|it| &it.path);
        let product = product.filter(|it| !is_test(it.as_str()));
        let files: Vec<_> = product.map(|it| (it.clone(), source.blob_id(it))).collect();
        let committed = git.other_at_head(&files);
        if committed.is_empty() {
            return Ok(false);
        }
        self.place.reset()?;
        let mut laid = Vec::new();
        for (path, content) in committed {
            let now = self.place.state(&path)?;
            let mode = now.as_ref().map_or(0o100_644, |it| it.mode);
            let then = content.map(|bytes| FileState {
                bytes: bytes.into(),
                mode,
            });
            laid.push(Change::between(path, now, then));
        }
        self.place.write(&laid)?;
        let what = json!({ "what": "without-what-is-not-committed" });
        self.event("info", "command_started", what)?;
        self.purpose = Some("with the product as it is committed".to_owned());
        let ran = self.run_alone()?;
        self.place.reset()?;
        self.place.write(changes)?;
        if ran.interrupted || ran.cut_short {
            return Ok(false);
        }
        let accounts: Vec<_> = ran.evidence.iter().flat_map(|it| &it.accounts).collect();
        skipped.retain(|test| {
            accounts
                .iter()
                .any(|it| it.end_of(test) == TestEnd::Skipped)
        });
        let is_any = !skipped.is_empty();
        self.skipped.extend(skipped);
        Ok(is_any)
    }
}
