use std::path::Path;

use serde::Serialize;

use super::stage::{Hidden, Stage, hidden_tests, last};
use super::{BenchError, Fixture};
use crate::diagnose::{LogFacts, diagnose_in};
use crate::exec::{Outcome, Stop, on_path};
use crate::model::{Code, Diagnosis};
use crate::patch::Change;
use crate::source::Source;

/// Proves a fixture both ways in a folder of its own: broken it fails with the kind it names,
/// with its reference it passes, with the reference undone it fails again. Its hidden tests fail on
/// the broken files and pass on the repaired ones.
///
/// # Errors
/// [`BenchError`] when something could not be run or written.
pub fn verify(fixture: &Fixture, home: &Path, stop: &Stop) -> Result<Proof, BenchError> {
    let mut proof = Proof {
        missing: missing_programs(fixture),
        ..Proof::default()
    };
    if !proof.missing.is_empty() {
        return Ok(proof);
    }
    let broken = Stage::lay_out(fixture, home, "broken")?;
    let outcome = broken.test(&fixture.test, stop)?;
    if outcome.passed() {
        proof.say(Code::F201, "it passes as it is: nothing is broken");
        return Ok(proof);
    }
    diagnosed(fixture, &broken, &outcome, &mut proof)?;
    if let Some(line) = &fixture.reference_setup {
        let outcome = Stage::lay_out(fixture, home, "set-up")?.test(line, stop)?;
        if !outcome.passed() {
            let message = format!("it fails after its `reference-setup`: {}", last(&outcome));
            proof.say(Code::F202, message);
        }
    }
    let Some(reference) = &fixture.reference else {
        return Ok(proof);
    };
    let fixed = Stage::lay_out(fixture, home, "fixed")?;
    let judged = fixed.judge(reference)?;
    if judged.changes.is_empty() {
        let message = format!("its reference does not apply: {}", judged.verdict.feedback);
        proof.say(Code::F202, message);
        return Ok(proof);
    }
    fixed.write(&judged.changes)?;
    let outcome = fixed.test(&fixture.test, stop)?;
    if !outcome.passed() {
        let message = format!("it fails with its reference: {}", last(&outcome));
        proof.say(Code::F202, message);
    }
    if fixture.hidden_test.is_some() {
        if hidden_tests(fixture, None, home, stop)? == Hidden::Passed {
            let message = "its hidden tests pass as it is: they do not ask for the repair";
            proof.say(Code::F202, message);
        }
        if let Hidden::Failed(message) = hidden_tests(fixture, Some(reference), home, stop)? {
            let message = format!("its hidden tests fail with its reference: {message}");
            proof.say(Code::F202, message);
        }
    }
    // In a fresh copy: what the test left behind must not speak for the patch.
    let undone = Stage::lay_out(fixture, home, "undone")?;
    undone.write(&judged.changes)?;
    let back: Vec<Change> = judged.changes.iter().map(Change::undone).collect();
    undone.write(&back)?;
    if undone.test(&fixture.test, stop)?.passed() {
        proof.say(Code::F202, "it passes with its reference undone");
    }
    Ok(proof)
}

/// Programs that a fixture needs and that are not on the search path.
#[must_use]
pub fn missing_programs(fixture: &Fixture) -> Vec<String> {
    let missing = fixture.needs.iter().filter(|it| on_path(it).is_none());
    missing.cloned().collect()
}

/// What the log of a fixture's failing test says.
pub(super) fn diagnosis(fixture: &Fixture, outcome: &Outcome, source: &dyn Source) -> Diagnosis {
    let facts = LogFacts::new(outcome, &fixture.test);
    diagnose_in(&outcome.output.text(), &facts, source)
}

fn diagnosed(
    fixture: &Fixture,
    stage: &Stage,
    outcome: &Outcome,
    proof: &mut Proof,
) -> Result<(), BenchError> {
    let found = diagnosis(fixture, outcome, &stage.source()?);
    let expected = &fixture.expect;
    let subkind = found.subkind.as_ref().map(ToString::to_string);
    let finer = expected.subkind.as_deref();
    if found.kind != expected.kind || (finer.is_some() && finer != subkind.as_deref()) {
        proof.say(
            Code::F202,
            format!(
                "its failure is taken for {} ({}), not for {} ({})",
                found.kind,
                subkind.as_deref().unwrap_or("no subkind"),
                expected.kind,
                finer.unwrap_or("any subkind")
            ),
        );
    }
    Ok(())
}

/// What came of proving a fixture.
#[derive(Debug, Clone, Default)]
pub struct Proof {
    /// Programs it needs and that are not here; then nothing was run.
    pub missing: Vec<String>,
    /// What does not hold.
    pub problems: Vec<ProofProblem>,
}

/// One thing that a fixture says and that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProofProblem {
    /// The stable code.
    pub code: Code,
    /// One sentence.
    pub message: String,
}

impl Proof {
    /// Whether all of it holds; one that was skipped does not count as proven.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.missing.is_empty() && self.problems.is_empty()
    }

    pub(super) fn say(&mut self, code: Code, message: impl Into<String>) {
        self.problems.push(ProofProblem {
            code,
            message: message.into(),
        });
    }
}
