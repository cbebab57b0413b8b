use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Instant;

use super::attempt::{Trial, unfinished};
use super::commands::CommandsRun;
use super::error::RepairError;
use super::run::Session;
use super::test_names::{closest, file_of, names_it};
use crate::languages::{PerturbableTest, Perturbation, perturbable_tests};
use crate::model::{MutationCheck, MutationOutcome, NegatedAssertion, Proof, RepoPath};
use crate::patch::{Change, FileState};

/// Runs that one check takes at most, and seconds.
const MAX_RUNS: u32 = 12;
const MAX_SECONDS: f64 = 180.0;
/// Commands that take longer are not run in the place of tests that cannot be run alone.
const MAX_WHOLE_SECONDS: f64 = 20.0;
/// Tests of a file that could not be loaded before, of which the first are tried.
const MAX_TESTS: usize = 8;
/// Characters of an assertion that are shown.
const MAX_SHOWN: usize = 60;

/// A formerly failing test, as its file has it.
struct Target {
    path: RepoPath,
    test: PerturbableTest,
    /// What runs as this test.
    ids: Vec<String>,
}

impl Target {
    fn failed(&self, ran: &CommandsRun) -> bool {
        let is_own = |path: Option<&str>| path.is_none_or(|path| path == self.path.as_str());
        let mut named = ran.diagnosis.failing_tests.iter();
        let mut tests = ran.diagnosis.tests.iter();
        named.any(|id| self.ids.contains(id))
            || tests
                .any(|test| is_own(test.path.as_deref()) && names_it(&test.id, &self.test.names))
    }
}

fn outcome_of(target: &Target, ran: &CommandsRun) -> MutationOutcome {
    if target.failed(ran) {
        MutationOutcome::Failed
    } else if ran.observed.passed {
        MutationOutcome::Passed
    } else {
        MutationOutcome::NotRun
    }
}

/// How tests are run while their assertions are perturbed.
struct Check<'c> {
    laid: &'c [Change],
    /// The command that runs these tests alone; `None` for all commands.
    line: Option<String>,
    began: Instant,
    found: MutationCheck,
    refuted: Option<String>,
}

impl Session<'_> {
    /// Perturbs each assertion of the formerly failing tests in turn, one of each test in a run: the test must then
    /// fail. The workplace is left as it comes.
    pub(super) fn check_mutation(
        &mut self,
        proof: &mut Proof,
        laid: &[Change],
        trial: &Trial,
    ) -> Result<(), RepairError> {
        // After a change that was kept that line may run fewer tests than failed at first.
        let now = self.seen.diagnosis.iter().flat_map(|it| &it.tests);
        let now: Vec<&String> = now.map(|test| &test.id).collect();
        let runs_all = self.seen.failed.iter().all(|test| now.contains(&&test.id));
        let alone = self.seen.alone.clone();
        let mut check = Check {
            laid,
            line: alone.filter(|_| trial.passed_alone && runs_all),
            began: Instant::now(),
            found: MutationCheck::default(),
            refuted: None,
        };
        self.lay(laid, &[])?;
        let targets = self.find_targets()?;
        let whole = self.stage.runs.iter().rev().find(|run| run.whole);
        let took = whole.map_or(0.0, |run| run.seconds);
        if targets.is_empty() {
            let message = "the tests that failed are not found in their files";
            check.found.reason = Some(message.to_owned());
        } else if check.line.is_none() && took > MAX_WHOLE_SECONDS {
            let message = "the tests do not run alone, and all of them take long";
            check.found.reason = Some(message.to_owned());
        } else {
            proof.own_values = self.find_own_values(laid, &targets)?;
            self.perturb_in_turn(&mut check, &targets)?;
        }
        let mut found = check.found;
        let counts = [MutationOutcome::Failed, MutationOutcome::Passed];
        found.applicable = counts.iter().any(|outcome| found.count(*outcome) > 0);
        if !found.applicable && found.reason.is_none() {
            found.reason = Some("no assertion of these tests could be perturbed".to_owned());
        }
        proof.missing.extend(check.refuted);
        proof.mutation = Some(found);
        Ok(())
    }

    fn find_targets(&self) -> Result<Vec<Target>, RepairError> {
        let source = self.stage.place.source()?;
        let mut files: BTreeMap<RepoPath, Vec<PerturbableTest>> = BTreeMap::new();
        let mut targets: Vec<Target> = Vec::new();
        for failed in &self.seen.failed {
            let Some(path) = file_of(failed, source.as_ref()) else {
                continue;
            };
            let tests = files.entry(path.clone()).or_insert_with(|| {
                perturbable_tests(&path, &source.read(&path).unwrap_or_default())
            });
            let own: Vec<&PerturbableTest> = match closest(&failed.id, tests) {
                Some(one) => vec![one],
                // A file that could not be loaded: its tests are what failed.
                None => tests.iter().take(MAX_TESTS).collect(),
            };
            for test in own {
                let known = targets.iter_mut();
                let mut known = known.filter(|it| it.path == path && it.test == *test);
                if let Some(target) = known.next() {
                    target.ids.push(failed.id.clone());
                    continue;
                }
                targets.push(Target {
                    path: path.clone(),
                    test: test.clone(),
                    ids: vec![failed.id.clone()],
                });
            }
        }
        Ok(targets)
    }

    fn perturb_in_turn(
        &mut self,
        check: &mut Check<'_>,
        targets: &[Target],
    ) -> Result<(), RepairError> {
        let most = targets.iter().map(|target| target.test.assertions.len());
        for round in 0..most.max().unwrap_or(0) {
            let perturbed: Vec<(&Target, &Perturbation)> = targets
                .iter()
                .filter_map(|target| Some((target, target.test.assertions.get(round)?)))
                .collect();
            let Some(ran) = self.run_perturbed(check, &perturbed)? else {
                break;
            };
            for one in &perturbed {
                let mut outcome = outcome_of(one.0, &ran);
                // Another test failed in that run, and may have ended it.
                if outcome == MutationOutcome::NotRun && !check.is_known(one.0) {
                    let own = self.run_perturbed(check, &[*one])?;
                    outcome = own.map_or(outcome, |ran| outcome_of(one.0, &ran));
                }
                check.record(one, outcome);
            }
        }
        // Of several assertions some may not be reached: a test is in doubt where none of them makes it fail.
        let negated = &check.found.negated;
        let doubted = negated.iter().find(|row| {
            let own = negated.iter().filter(|other| other.test == row.test);
            let outcomes: Vec<MutationOutcome> = own.map(|other| other.outcome).collect();
            row.outcome == MutationOutcome::Passed && !outcomes.contains(&MutationOutcome::Failed)
        });
        check.refuted = doubted.map(|row| {
            let place = format!("{}:{}", row.path, row.line);
            format!(
                "the mutation check failed: the test passes when what is expected at {place} changes"
            )
        });
        Ok(())
    }

    // Runs the tests with these assertions changed; `None` when no more may be run.
    fn run_perturbed(
        &mut self,
        check: &mut Check<'_>,
        perturbed: &[(&Target, &Perturbation)],
    ) -> Result<Option<CommandsRun>, RepairError> {
        let spent = check.began.elapsed().as_secs_f64();
        if check.found.runs >= MAX_RUNS || spent > MAX_SECONDS {
            let message = format!("{} runs were made for it", check.found.runs);
            check.found.reason.get_or_insert(message);
            return Ok(None);
        }
        let mut edits: BTreeMap<&RepoPath, Vec<&Perturbation>> = BTreeMap::new();
        for (target, perturbation) in perturbed {
            edits.entry(&target.path).or_default().push(perturbation);
        }
        self.lay(check.laid, &[])?;
        let mut changes = Vec::new();
        for (path, mut edits) in edits {
            let Some(state) = self.stage.place.state(path)? else {
                continue;
            };
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.place.start));
            edits.dedup_by_key(|edit| edit.place.start);
            let mut bytes = state.bytes.to_vec();
            for edit in edits
                .iter()
                .filter(|edit| edit.place.end <= state.bytes.len())
            {
                bytes.splice(edit.place.clone(), edit.perturbed.bytes());
            }
            let standing = check.laid.iter().find(|change| change.path == *path);
            let after = FileState::new(bytes, state.mode);
            let before = standing.map_or(Some(state), |change| change.before.clone());
            changes.push(Change::between(path.clone(), before, Some(after)));
        }
        self.lay(check.laid, &changes)?;
        check.found.runs += 1;
        let why = "mutation check, expecting something else";
        let ran = self.stage.run(check.line.as_deref(), why)?;
        Ok(Some(ran).filter(|ran| unfinished(ran).is_none()))
    }

    // Assertions whose values, given and expected, the change adds side by side: it may answer these tests alone.
    fn find_own_values(
        &self,
        changes: &[Change],
        targets: &[Target],
    ) -> Result<Vec<String>, RepairError> {
        let source = self.stage.place.source()?;
        let mut found = Vec::new();
        for target in targets {
            let text = source.read(&target.path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            for assertion in &target.test.assertions {
                let line = (assertion.line as usize).saturating_sub(1);
                let mut values = values_in(text.lines().nth(line).unwrap_or_default());
                let expected = values_in(&assertion.was);
                values.retain(|value| !expected.contains(value));
                if values.is_empty() || expected.is_empty() {
                    continue;
                }
                values.extend(expected);
                let others = changes.iter().filter(|change| change.path != target.path);
                if others
                    .into_iter()
                    .any(|change| adds_together(change, &values))
                {
                    found.push(format!("{}:{}", target.path, assertion.line));
                }
            }
        }
        found.dedup();
        Ok(found)
    }
}

impl Check<'_> {
    fn is_known(&self, target: &Target) -> bool {
        let name = target.test.names.join(" ");
        let mut rows = self.found.negated.iter();
        rows.any(|row| row.test == name && row.outcome != MutationOutcome::NotRun)
    }

    fn record(&mut self, (target, assertion): &(&Target, &Perturbation), outcome: MutationOutcome) {
        let was = assertion.was.split_whitespace().collect::<Vec<_>>();
        self.found.negated.push(NegatedAssertion {
            test: target.test.names.join(" "),
            path: target.path.to_string(),
            line: assertion.line,
            was: was.join(" ").chars().take(MAX_SHOWN).collect(),
            outcome,
        });
    }
}

#[expect(clippy::expect_used, reason = "a constant")]
static VALUES: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(r#"\b\d+(?:\.\d+)?\b|'[^']*'|"[^"]*""#).expect("the pattern is valid")
});

fn values_in(line: &str) -> Vec<String> {
    let found = VALUES.find_iter(line);
    found.map(|it| it.as_str().replace('"', "'")).collect()
}

// Whether a change adds all of these values in one line, or in two that follow each other.
fn adds_together(change: &Change, values: &[String]) -> bool {
    let text = |side: &Option<FileState>| {
        let bytes = side.as_ref().map(|state| state.bytes.to_vec());
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    };
    let (before, after) = (text(&change.before), text(&change.after));
    let added = |line: &str| !before.lines().any(|old| old.trim() == line.trim());
    let lines: Vec<Vec<String>> = after
        .lines()
        .map(|line| {
            if added(line) {
                values_in(line)
            } else {
                Vec::new()
            }
        })
        .collect();
    lines.iter().enumerate().any(|(at, line)| {
        let next = lines.get(at + 1).map(Vec::as_slice).unwrap_or_default();
        let mut values = values.iter();
        !line.is_empty() && values.all(|value| line.contains(value) || next.contains(value))
    })
}
