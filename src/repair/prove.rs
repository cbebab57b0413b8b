//! Collects the proof for `fixed`: second run, original tests, mutation check.

use std::collections::BTreeMap;

use super::attempt::{Attempt, Trial, paths_of};
use super::commands::CommandsRun;
use super::error::RepairError;
use super::run::Session;
use crate::model::{
    Code, EventKind, MutationOutcome, Operation, Proof, ProofLevel, RepoPath, StopReason, TestEnd,
};
use crate::patch::{Change, FileState};
use crate::policy::{ChangedFile, CommandFiles, find_suspicious, is_test};
use crate::proof::{compare_evidence, unnamed_skip};
use crate::workplace::{Difference, changes_to};

/// What a proof lacks that could not be finished.
pub(super) const NO_TIME: &str =
    "time ran out before the fix was proven; allow more with `--budget-seconds`";

impl Session<'_> {
    /// Shows what is behind commands that pass: the runner's own word, the same with the tests as they were, and
    /// tests that fail once they expect something else.
    pub(super) fn prove_fix(
        &mut self,
        attempt: &mut Attempt<'_>,
        trial: &mut Trial,
    ) -> Result<(), RepairError> {
        let failing = self.seen.failing_before(attempt.before.as_ref());
        let mut proof = self.compare(&trial.ran, &failing);
        if proof.decisive.tests.iter().any(|test| test.ended == TestEnd::Skipped) {
            self.note_skipped(&failing)?;
            proof = self.compare(&trial.ran, &failing);
        }
        (proof.green_runs, proof.red_runs) = (1, self.seen.red_runs);
        // A run of nothing but these tests, all of which it counts as passed, shows each of them to pass.
        let tests = proof.decisive.tests.iter_mut();
        for test in tests.filter(|test| trial.passed_alone && test.ended == TestEnd::Counted) {
            test.ended = TestEnd::Passed;
        }
        if proof.missing.is_empty() && self.seen.unstable {
            self.run_green_again(&mut proof, attempt, trial)?;
        }
        let mut laid = trial.changes.clone();
        if proof.missing.is_empty() {
            laid = self.restore_tests(&mut proof, attempt, trial)?;
        }
        // A fix of our own takes three runs: where the runner reports the tests, the full proof is for agents.
        let is_simple = attempt.heal.is_some() && proof.decisive.runner.is_some();
        if proof.missing.is_empty() && self.asked.policy.counter_proof && !is_simple {
            self.check_mutation(&mut proof, &laid, trial)?;
        }
        proof.level = level_of(&proof);
        if proof.missing.is_empty() && proof.level == ProofLevel::Tests && !is_simple {
            proof.missing.extend(unnamed_skip(&proof.decisive, 0));
        }
        self.add_suspicions(&mut proof, &trial.changes)?;
        proof.proven = proof.missing.is_empty();
        if proof.level == ProofLevel::ExitCode {
            // Where nothing but an exit code speaks, a file that the command names speaks for itself.
            let run = self.command_files(&self.stage.place.source()?);
            proof.rests_on = paths_of(&trial.changes);
            proof.rests_on.retain(|path| run.get(path).is_some());
        }
        if self.stage.interrupted {
            attempt.end(StopReason::Interrupted, "it was interrupted");
            attempt.result.kept = false;
            return Ok(());
        }
        if !proof.proven {
            attempt.result.kept = false;
            let missing = proof.missing.join("; ");
            let message =
                format!("the exit code is 0, but nothing proves that the tests pass: {missing}");
            attempt.end(StopReason::Unproven, message);
            self.stage.event(EventKind::Unproven {
                code: Code::L106,
                missing: proof.missing.clone(),
                advice: Code::L106.advice().to_owned(),
            })?;
        }
        attempt.result.proof = Some(proof);
        Ok(())
    }

    /// Compares a run with those before it. Tests that are skipped without the failure may be skipped.
    pub(super) fn compare(&self, ran: &CommandsRun, failing: &[String]) -> Proof {
        let skipped = self.seen.skipped.as_deref().unwrap_or_default();
        compare_evidence(&self.seen.evidence, &ran.evidence, failing, skipped)
    }

    // Which of the failing tests are skipped where nothing fails: with the culprit reverted, or else at the last commit
    // but for the files of tests.
    fn note_skipped(&mut self, failing: &[String]) -> Result<(), RepairError> {
        let setup = self.asked;
        let known = setup.request.cause.as_ref().map(|cause| cause.skipped.clone());
        self.seen.skipped = self.seen.skipped.take().or(known);
        let git = setup.git.filter(|_| self.seen.skipped.is_none());
        let last = git.and_then(|git| git.tree(&git.head()?).ok());
        let Some(last) = last else { return Ok(()) };
        let difference = Difference::between(&last, setup.source, &|path: &RepoPath| {
            !is_test(path.as_str())
        });
        self.lay(&changes_to(difference.before(), setup.source), &[])?;
        let ran = self.stage.run(None, "to see what the last commit skips")?;
        let proof = compare_evidence(&[], &ran.evidence, failing, &[]);
        let mut tests = proof.decisive.tests;
        tests.retain(|test| ran.observed.passed && test.ended == TestEnd::Skipped);
        self.seen.skipped = Some(tests.into_iter().map(|test| test.id).collect());
        Ok(())
    }

    // Run twice, because the runs without the change did not end alike and one green run may be chance.
    fn run_green_again(
        &mut self,
        proof: &mut Proof,
        attempt: &Attempt<'_>,
        trial: &Trial,
    ) -> Result<(), RepairError> {
        self.lay(&trial.changes, &[])?;
        let again = self.stage.run(None, "to see whether it passes twice")?;
        if again.cut_short {
            proof.missing.push(NO_TIME.to_owned());
        } else if self.passes_again(attempt, &again) {
            proof.green_runs = 2;
        } else {
            let end = &again.observed.test_result.message;
            let message = format!("a second run with the same change did not pass: {end}");
            proof.missing.push(message);
        }
        Ok(())
    }

    // Runs the commands with the tests, and what runners load before them, as they were: so those that were there
    // stay. Returns the change without its edits of tests.
    fn restore_tests(
        &mut self,
        proof: &mut Proof,
        attempt: &mut Attempt<'_>,
        trial: &mut Trial,
    ) -> Result<Vec<Change>, RepairError> {
        let mut laid = trial.changes.clone();
        let tests = self.changed_tests(&laid)?;
        if tests.is_empty() {
            return Ok(laid);
        }
        laid.retain(|change| !tests.contains(&change.path));
        self.lay(&laid, &[])?;
        let ran = self.stage.run(None, "with the tests as they were")?;
        if ran.cut_short {
            proof.missing.push(NO_TIME.to_owned());
        } else if !laid.is_empty() && self.passes_again(attempt, &ran) {
            let mut less = trial.changes.clone();
            less.retain(|change| change.before.is_none() || !tests.contains(&change.path));
            self.narrow_changes(attempt, trial, less, ran)?;
        } else {
            let flags = tests.iter().map(|path| format!(" --allow-protected {path}"));
            proof.missing.push(format!(
                "it does not pass without its changes to tests; if a test itself is wrong, allow the change with `{}`",
                flags.collect::<String>().trim_start()
            ));
        }
        Ok(laid)
    }

    // Adds the signs of tests turned green by other means that this change and those kept before it show. Tests that
    // fail once they expect something else clear some of them.
    fn add_suspicions(&self, proof: &mut Proof, changes: &[Change]) -> Result<(), RepairError> {
        let source = self.stage.place.source()?;
        let earlier = self.seen.base.iter();
        let mut states: BTreeMap<&RepoPath, [Option<FileState>; 2]> = earlier
            .map(|(path, before)| (path, [before.clone(), FileState::read(&source, path)]))
            .collect();
        for change in changes {
            let before = change.standing.clone().or_else(|| change.before.clone());
            let sides = states.entry(&change.path).or_insert([before, None]);
            sides[1].clone_from(&change.after);
        }
        states.retain(|path, _| !self.is_allowed(path));
        let files = states.iter().map(|(path, [before, after])| ChangedFile {
            path: path.as_str(),
            operation: Operation::Modify,
            before: before.as_ref().map(|state| &*state.bytes),
            after: after.as_ref().map(|state| &*state.bytes),
            modes: (
                before.as_ref().map_or(0, |before| before.mode),
                after.as_ref().map_or(0, |after| after.mode),
            ),
        });
        let files: Vec<ChangedFile<'_>> = files.collect();
        let check = proof.mutation.as_ref();
        let survive = check.map_or(0, |check| check.count(MutationOutcome::Passed));
        // An equality that holds for everything lets some expectations fail, and not all.
        let holds = proof.level == ProofLevel::Mutation && survive == 0;
        let is_open = proof.missing.is_empty();
        for found in find_suspicious(&files, &self.command_files(&source)) {
            let path = files.get(found.at).map_or("", |file| file.path);
            let sign = format!("{path}: {}", found.problem.message);
            let is_cleared = holds && !found.for_person;
            if is_open && !is_cleared {
                let missing = format!("{sign}; no check ruled that out");
                proof.missing.push(missing);
            }
            proof.suspicions.push(sign);
        }
        Ok(())
    }

    /// Lays a change in; `instead` replaces its states of the same paths for a trial.
    pub(super) fn lay(&mut self, laid: &[Change], instead: &[Change]) -> Result<(), RepairError> {
        let kept = laid
            .iter()
            .filter(|change| !instead.iter().any(|other| other.path == change.path));
        let all: Vec<Change> = kept.chain(instead).cloned().collect();
        self.stage.place.reset()?;
        Ok(self.stage.place.write(&all)?)
    }

    pub(super) fn command_files(&self, source: &dyn crate::source::Source) -> CommandFiles {
        CommandFiles::find(&self.asked.commands.lines, self.asked.prefix, source)
    }

    pub(super) fn is_allowed(&self, path: &RepoPath) -> bool {
        self.asked.allowed.has(path.as_str())
    }
}

fn level_of(proof: &Proof) -> ProofLevel {
    let mutation = proof.mutation.as_ref();
    if mutation.is_some_and(|check| check.count(MutationOutcome::Failed) > 0) {
        ProofLevel::Mutation
    } else if proof.decisive.runner.is_some() {
        ProofLevel::Tests
    } else {
        ProofLevel::ExitCode
    }
}
