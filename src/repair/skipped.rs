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
        let ended = |end: TestEnd| {
            let tests = proof.decisive.tests.iter();
            let tests = tests.filter(move |it| it.ended == end);
            tests.map(|it| it.id.clone()).collect::<Vec<_>>()
        };
        let passed = ended(TestEnd::Passed);
        let mut skipped = ended(TestEnd::Skipped);
        skipped.retain(|it| !self.skipped.contains(it));
        let Some(git) = self
            .setup
            .git
            .filter(|_| !skipped.is_empty() && !passed.is_empty())
        else {
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
        let ends = |test: &str, end: TestEnd| accounts.iter().any(|it| it.end_of(test) == end);
        // Where a test that passes now does not pass so, what is committed is no state in which nothing is broken.
        if !passed.iter().all(|test| ends(test, TestEnd::Passed)) {
            return Ok(false);
        }
        skipped.retain(|test| ends(test, TestEnd::Skipped));
        let is_any = !skipped.is_empty();
        self.skipped.extend(skipped);
        Ok(is_any)
    }
}
