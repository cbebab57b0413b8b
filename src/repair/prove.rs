use std::collections::BTreeSet;

use serde_json::json;

use super::commands::CommandsRun;
use super::error::RepairError;
use super::session::Session;
use super::trial::{Trial, is_progress};
use crate::fixes::{lies_where_it_shows, own_files};
use crate::languages::Language;
use crate::model::{
    AttemptResult, Code, CounterVerdict, Observed, Proof, RepoPath, StopReason, Subkind, TestEnd,
};
use crate::patch::{Change, FileState};
use crate::policy::{ChangedFile, CommandFiles, Needs, is_test, is_test_text, suspicions};
use crate::proof::{Evidence, compare};
use crate::rank::Pool;
use crate::source::Source;

fn not_the_tests(tests: &BTreeSet<RepoPath>) -> String {
    let allow: String = tests
        .iter()
        .map(|it| format!(" --allow-protected {it}"))
        .collect();
    format!(
        "without its changes to tests it does not pass; a test that is wrong itself may change with `{}`",
        allow.trim_start()
    )
}

/// What a proof lacks that could not be finished.
pub(super) const NO_TIME: &str =
    "time used up before it was shown: `--budget-seconds` gives the whole run longer";

impl Session<'_> {
    /// What stands behind commands that pass with these changes laid in. Where those without them
    /// did not end alike, the commands are run once more.
    pub(super) fn prove(
        &mut self,
        result: &mut AttemptResult,
        trial: &Trial<'_>,
        changes: &[Change],
        ran: &CommandsRun,
    ) -> Result<(), RepairError> {
        let failing = self.failing_before(trial.before);
        let mut proof = compare(&self.evidence, &ran.evidence, &failing);
        proof.green_runs = 1;
        if self.pass_alone {
            seen_alone(&mut proof);
        }
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
            if again.cut_short {
                proof.missing = vec![NO_TIME.to_owned()];
            } else if again.observed.passed {
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
        let mut laid = changes.to_vec();
        let answered = if proof.proven {
            let (answered, without) = self.tests_as_they_were(changes)?;
            if !answered.is_empty() {
                laid = without;
            }
            answered
        } else {
            BTreeSet::new()
        };
        if !answered.is_empty() {
            let without = self.run_with_the_tests_as_they_were()?;
            if without.interrupted {
                result.stop_reason = StopReason::Interrupted;
                result.kept = false;
                return Ok(());
            }
            if !self.shows_the_same(&without, &failing) {
                proof.missing = vec![if without.cut_short {
                    NO_TIME.to_owned()
                } else {
                    not_the_tests(&answered)
                }];
                proof.proven = false;
            }
        }
        if proof.proven && self.counter_prove(&mut proof, &laid)? {
            result.stop_reason = StopReason::Interrupted;
            result.kept = false;
            return Ok(());
        }
        if proof.proven {
            self.hold_to_suspicion(&mut proof, changes)?;
        }
        proof.red_runs = self.red_runs;
        proof.rests_on = self.rests_on(&proof, changes)?;
        if !proof.proven {
            self.unproven(result, &proof)?;
        }
        result.proof = Some(proof);
        Ok(())
    }

    /// What of a change is a sign that tests may turn green by other means, and what takes that away.
    pub(super) fn suspected_in(
        &self,
        changes: &[Change],
    ) -> Result<Vec<(Needs, String)>, RepairError> {
        let bytes = |it: Option<&FileState>| it.map(|it| it.bytes.clone());
        let sides: Vec<_> = changes
            .iter()
            .map(|change| {
                (
                    bytes(change.standing.as_ref().or(change.before.as_ref())),
                    bytes(change.after.as_ref()),
                )
            })
            .collect();
        let mode = |it: &Option<FileState>| it.as_ref().map_or(0, |it| it.mode);
        let files: Vec<ChangedFile<'_>> = changes
            .iter()
            .zip(&sides)
            .filter(|(it, _)| !self.setup.allowed.has(it.path.as_str()))
            .map(|(change, (before, after))| ChangedFile {
                path: change.path.as_str(),
                operation: change.operation,
                before: before.as_deref(),
                after: after.as_deref(),
                modes: (mode(&change.before), mode(&change.after)),
            })
            .collect();
        let source = self.place.source()?;
        let lines = &self.setup.commands.lines;
        let run = CommandFiles::find(lines, self.setup.prefix, source.as_ref());
        let found = suspicions(&files, &run).into_iter();
        let suspected = found
            .map(|suspicion| {
                let path = files.get(suspicion.at).map_or("", |it| it.path);
                (
                    suspicion.needs,
                    format!("line {} of {path} {}", suspicion.line, suspicion.why),
                )
            })
            .collect();
        Ok(suspected)
    }

    // A suspicion is taken away by an experiment alone.
    fn hold_to_suspicion(&self, proof: &mut Proof, changes: &[Change]) -> Result<(), RepairError> {
        let counter = proof.counter_proof.as_ref();
        let holds = counter.is_some_and(|it| it.verdict == CounterVerdict::Holds);
        let new = self.suspected_in(changes)?;
        let left = self.suspected.iter().chain(&new).filter(|row| match row.0 {
            Needs::CounterProof => !holds,
            Needs::Person | Needs::Refused => true,
        });
        let missing: Vec<String> = left
            .map(|it| format!("{}, and no experiment takes that away", it.1))
            .collect();
        proof.missing.extend(missing);
        if self.setup.policy.strict && !proof.own_values.is_empty() {
            let values = proof.own_values.join(", ");
            proof.missing.push(format!(
                "the change rests on the test's own values: {values}"
            ));
        }
        proof.proven = proof.missing.is_empty();
        Ok(())
    }

    /// Keeps progress only where it is there without what the change does to tests, too. What was laid in
    /// stands again afterwards.
    pub(super) fn keep_without_tests(
        &mut self,
        result: &mut AttemptResult,
        trial: &Trial<'_>,
        changes: &[Change],
    ) -> Result<(), RepairError> {
        let answered = self.answered_in_tests(changes)?;
        if answered.is_empty() {
            return Ok(());
        }
        if changes.iter().any(|it| !answered.contains(&it.path)) {
            self.tests_as_they_were(changes)?;
            let without = self.run_with_the_tests_as_they_were()?;
            if without.interrupted {
                result.stop_reason = StopReason::Interrupted;
            }
            let ended = !without.interrupted && !without.cut_short;
            result.kept = ended && is_progress(trial, &without.observed, changes);
            self.place.reset()?;
            self.place.write(changes)?;
        } else {
            result.kept = false;
        }
        if !result.kept {
            result.message = format!(
                "{}: its changes to tests are what it rests on",
                result.message
            );
        }
        Ok(())
    }

    /// Ends an attempt with what its proof lacks.
    pub(super) fn unproven(
        &mut self,
        result: &mut AttemptResult,
        proof: &Proof,
    ) -> Result<(), RepairError> {
        let advice = Code::L106.advice();
        result.stop_reason = StopReason::Unproven;
        result.kept = false;
        result.message = format!(
            "the commands end with 0, and that the tests pass is not proven: {}",
            proof.missing.join("; ")
        );
        let fields = json!({ "code": Code::L106, "missing": proof.missing, "advice": advice });
        self.event("warning", "unproven", fields)
    }

    /// Of a change, the tests that may not be what turns a failure green: those in which it does not lie,
    /// and which nobody let pass.
    pub(super) fn answered_in_tests(
        &self,
        changes: &[Change],
    ) -> Result<BTreeSet<RepoPath>, RepairError> {
        let source = self.place.source()?;
        let pool = Pool::new(&[], source.listing());
        let diagnosis = self.diagnosis.as_ref();
        let own = diagnosis.map(own_files).unwrap_or_default();
        let shows = diagnosis.is_some_and(|it| lies_where_it_shows(it.kind));
        // Tests that run more lines are what a missed threshold asks for.
        if diagnosis.is_some_and(|it| it.subkind == Some(Subkind::Coverage)) {
            return Ok(BTreeSet::new());
        }
        let may_answer = |change: &Change| {
            let path = change.path.as_str();
            let is_new = change.standing.is_none();
            self.setup.allowed.has(path)
                || own.iter().any(|it| it == path)
                // Data that a test reads, and what it could not load, are new where they are missing.
                || is_new && (shows || Language::of_path(path).is_none())
        };
        let says_so = |change: &Change| {
            let before = change.standing.as_ref().or(change.before.as_ref());
            before.is_some_and(|before| is_test_text(change.path.as_str(), &before.bytes))
        };
        let is_one = |change: &&Change| {
            is_test(change.path.as_str()) && pool.standing(&change.path).is_none()
                || says_so(change)
                || change.before.is_some() && is_data_of_tests(&change.path, source.as_ref())
        };
        let tests = changes.iter().filter(is_one).filter(|it| !may_answer(it));
        Ok(tests.map(|it| it.path.clone()).collect())
    }

    // Lays the change in without what it, or one kept before it, does to tests; gives these tests, and what
    // is laid in.
    fn tests_as_they_were(
        &mut self,
        changes: &[Change],
    ) -> Result<(BTreeSet<RepoPath>, Vec<Change>), RepairError> {
        let mut tests = self.answered_in_tests(changes)?;
        if tests.is_empty() && self.tests.is_empty() {
            return Ok((tests, Vec::new()));
        }
        self.place.reset()?;
        let mut laid: Vec<Change> = changes
            .iter()
            .filter(|it| !tests.contains(&it.path) && !self.tests.contains_key(&it.path))
            .cloned()
            .collect();
        for (path, before) in &self.tests {
            let now = self.place.state(path)?;
            if now != *before {
                laid.push(Change::between(path.clone(), now, before.clone()));
            }
        }
        self.place.write(&laid)?;
        tests.extend(self.tests.keys().cloned());
        Ok((tests, laid))
    }

    fn run_with_the_tests_as_they_were(&mut self) -> Result<CommandsRun, RepairError> {
        let message = json!({ "what": "tests-as-they-were" });
        self.event("info", "command_started", message)?;
        self.purpose = Some("with the tests as they were".to_owned());
        self.run_commands()
    }

    // Whether a run with the tests as they were passes by the word of its runner, too. What earlier
    // changes added to tests is not there any more: then it is held to the first run alone.
    fn shows_the_same(&self, without: &CommandsRun, failing: &[String]) -> bool {
        let first = self.first.as_ref().map(|it| &it.failing_tests[..]);
        let (held_to, failing) = if self.tests.is_empty() {
            (&self.evidence[..], failing)
        } else {
            let first_run = self.evidence.get(..1).unwrap_or_default();
            (first_run, first.unwrap_or(failing))
        };
        without.observed.passed && compare(held_to, &without.evidence, failing).proven
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
            .extend(self.journal.document::<Evidence>(name));
    }

    pub(super) fn failing_before(&self, before: Option<&Observed>) -> Vec<String> {
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
        let lines = &self.setup.commands.lines;
        let run = CommandFiles::find(lines, self.setup.prefix, source.as_ref());
        Ok(changes
            .iter()
            .map(|change| change.path.to_string())
            .filter(|path| run.get(path).is_some())
            .collect())
    }
}

// A run of nothing but these tests, all of which it counts as passed, shows each of them to pass.
fn seen_alone(proof: &mut Proof) {
    for test in &mut proof.decisive.tests {
        if test.ended == TestEnd::Counted {
            test.ended = TestEnd::Passed;
        }
    }
}

// Whether a file without code is named in tests and nowhere in the product.
fn is_data_of_tests(path: &RepoPath, source: &dyn Source) -> bool {
    if Language::of_path(path.as_str()).is_some() {
        return false;
    }
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    let files = source.listing().files().map(|it| &it.path);
    let code = files.filter(|it| Language::of_path(it.as_str()).is_some());
    let naming = code.filter(|path| {
        let text = source.read(path).unwrap_or_default();
        memchr::memmem::find(&text, name.as_bytes()).is_some()
    });
    let mut of_tests = naming.map(|it| is_test(it.as_str())).peekable();
    of_tests.peek().is_some() && of_tests.all(|it| it)
}
