use std::path::{Path, PathBuf};

use super::materialise::temporary;
use super::{Fixture, FixtureError, Proof, materialise};
use crate::diagnose::{LogFacts, diagnose_in};
use crate::exec::{CommandLine, Discard, End, Environment, Job, Limits, Outcome, Stop, run};
use crate::model::{Code, Diagnosis};
use crate::patch::{JudgeOptions, Judged, judge, write_worktree};
use crate::policy::Allowed;
use crate::source::{Source, Untracked, Worktree};

/// Proves a fixture both ways in a folder of its own: broken it fails with the kind it names,
/// with its reference it passes, with the reference undone it fails again.
///
/// # Errors
/// [`FixtureError`] when something could not be run or written.
pub fn verify(fixture: &Fixture, home: &Path, stop: &Stop) -> Result<Proof, FixtureError> {
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
            let said = format!("it fails after its `reference-setup`: {}", last(&outcome));
            proof.say(Code::F204, said);
        }
    }
    let Some(reference) = &fixture.reference else {
        return Ok(proof);
    };
    let fixed = Stage::lay_out(fixture, home, "fixed")?;
    let judged = fixed.judge(reference, false)?;
    if judged.changes.is_empty() {
        let said = format!("its reference does not apply: {}", judged.verdict.feedback);
        proof.say(Code::F203, said);
        return Ok(proof);
    }
    write_worktree(&fixed.root, &fixed.state, &judged.changes)?;
    let outcome = fixed.test(&fixture.test, stop)?;
    if !outcome.passed() {
        let said = format!("it fails with its reference: {}", last(&outcome));
        proof.say(Code::F204, said);
    }
    // In a fresh copy: what the test left behind must not speak for the patch.
    let undone = Stage::lay_out(fixture, home, "undone")?;
    write_worktree(&undone.root, &undone.state, &judged.changes)?;
    let back = undone.judge(reference, true)?;
    if back.changes.is_empty() {
        let said = format!("its reference cannot be undone: {}", back.verdict.feedback);
        proof.say(Code::F205, said);
        return Ok(proof);
    }
    write_worktree(&undone.root, &undone.state, &back.changes)?;
    if undone.test(&fixture.test, stop)?.passed() {
        proof.say(Code::F205, "it passes with its reference undone");
    }
    Ok(proof)
}

/// Programs that a fixture needs and that are not on the search path.
#[must_use]
pub fn missing_programs(fixture: &Fixture) -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |program: &String| {
        std::env::split_paths(&path).any(|folder| {
            folder.join(program).is_file() || folder.join(format!("{program}.exe")).is_file()
        })
    };
    let missing = fixture.needs.iter().filter(|program| !there(program));
    missing.cloned().collect()
}

/// What the log of a fixture's failing test says.
pub(super) fn diagnosis(fixture: &Fixture, outcome: &Outcome, source: &dyn Source) -> Diagnosis {
    let facts = LogFacts {
        exit_code: outcome.end.code_or_signal(),
        command: Some(fixture.test.clone()),
        timed_out: matches!(outcome.end, End::TimedOut(_)),
        ..LogFacts::default()
    };
    diagnose_in(&outcome.output.text(), &facts, source)
}

fn diagnosed(
    fixture: &Fixture,
    stage: &Stage,
    outcome: &Outcome,
    proof: &mut Proof,
) -> Result<(), FixtureError> {
    let found = diagnosis(fixture, outcome, &stage.source()?);
    let expected = &fixture.expect;
    let subkind = found.subkind.as_ref().map(|it| it.0.as_str());
    let finer = expected.subkind.as_deref();
    if found.kind != expected.kind || (finer.is_some() && finer != subkind) {
        proof.say(
            Code::F202,
            format!(
                "its failure is taken for {} ({}), not for {} ({})",
                found.kind,
                subkind.unwrap_or("no subkind"),
                expected.kind,
                finer.unwrap_or("any subkind")
            ),
        );
    }
    Ok(())
}

// One layout of a fixture's repository.
struct Stage {
    root: PathBuf,
    state: PathBuf,
    temporary: String,
    limits: Limits,
}

impl Stage {
    fn lay_out(fixture: &Fixture, home: &Path, name: &str) -> Result<Self, FixtureError> {
        let folder = home.join(name);
        let state = folder.join("state");
        let root = materialise(fixture, &folder)?;
        std::fs::create_dir_all(&state).map_err(|error| FixtureError::write(&state, &error))?;
        Ok(Self {
            root,
            state,
            temporary: temporary(&folder)?,
            limits: Limits {
                timeout: Some(fixture.timeout()),
                ..Limits::default()
            },
        })
    }

    fn source(&self) -> Result<Worktree, FixtureError> {
        Ok(Worktree::open(&self.root, Box::new(Untracked), 1)?)
    }

    fn test(&self, line: &str, stop: &Stop) -> Result<Outcome, FixtureError> {
        let job = Job {
            limits: self.limits,
            environment: Environment {
                allow: vec![self.temporary.clone()],
                ..Environment::default()
            },
            ..Job::new(CommandLine::Shell(line.to_owned()), &self.root)
        };
        Ok(run(&job, stop, &mut Discard)?)
    }

    // The author of a fixture may change what a reply may not, such as a test that is wrong.
    fn judge(&self, patch: &[u8], reverse: bool) -> Result<Judged, FixtureError> {
        let options = JudgeOptions {
            reverse,
            allowed: Allowed::new(&["**".to_owned()]).unwrap_or_default(),
            ..JudgeOptions::default()
        };
        Ok(judge(patch, &self.source()?, &options))
    }
}

fn last(outcome: &Outcome) -> String {
    let text = outcome.output.text();
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    format!("{}, `{}`", outcome.end, line.unwrap_or("no output").trim())
}
