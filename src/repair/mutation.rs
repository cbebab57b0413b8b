//! The mutation check: changes an assertion and expects the test to fail. Otherwise the test proves
//! nothing about the fix.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;
use std::time::Instant;

use super::attempt::{Trial, unfinished_run};
use super::commands::CommandsRun;
use super::error::RepairError;
use super::run::Session;
use super::test_names::{closest, file_of, names_it};
use crate::languages::{PerturbableTest, Perturbation, perturbable_tests};
use crate::model::{MutatedAssertion, MutationCheck, MutationOutcome, Proof, RepoPath};
use crate::patch::{Change, FileState};

/// A formerly failing test, as its file has it.
struct Target {
    path: RepoPath,
    test: PerturbableTest,
    /// Its ids in the runner's output: one for each parameter set.
    ids: Vec<String>,
}

impl Target {
    fn mutation_outcome(&self, ran: &CommandsRun) -> MutationOutcome {
        let mut named = ran.diagnosis.failing_tests.iter();
        let mut tests = ran.diagnosis.tests.iter();
        let failed = named.any(|id| self.ids.contains(id))
            || tests.any(|test| {
                let is_own = test.path.as_deref().is_none_or(|path| path == self.path.as_str());
                is_own && names_it(&test.id, &self.test.names)
            });
        match failed {
            true => MutationOutcome::Failed,
            false if ran.observed.passed => MutationOutcome::Passed,
            false => MutationOutcome::NotRun,
        }
    }
}

impl Session<'_> {
    /// Perturbs each assertion of the formerly failing tests in turn, one of each test in a run: the test must then
    /// fail. The isolated copy is left as it comes.
    pub(super) fn check_mutation(
        &mut self,
        proof: &mut Proof,
        laid: &[Change],
        trial: &Trial,
    ) -> Result<(), RepairError> {
        // After a change that was kept that line may run fewer tests than failed at first.
        let now = self.seen.diagnosis.iter().flat_map(|d| &d.tests);
        let now: HashSet<&String> = now.map(|test| &test.id).collect();
        let runs_all = self.seen.failed.iter().all(|test| now.contains(&test.id));
        let line = self.seen.alone.clone().filter(|_| trial.passed_alone && runs_all);
        self.lay(laid, &[])?;
        let targets = self.find_targets()?;
        let whole = self.stage.runs.iter().rev().find(|run| run.whole);
        // If the tests cannot run alone, the whole suite is run instead, unless it takes over 20 s.
        let is_slow = whole.is_some_and(|run| run.seconds > 20.0);
        let mut found = MutationCheck::default();
        if targets.is_empty() {
            let message = "the failing tests were not found in their files";
            found.reason = Some(message.to_owned());
        } else if line.is_none() && is_slow {
            let message = "the failing tests cannot be run alone, and the whole suite is slow";
            found.reason = Some(message.to_owned());
        } else {
            proof.own_values = self.find_own_values(laid, &targets)?;
            self.perturb_in_turn(&mut found, laid, line.as_deref(), &targets)?;
        }
        let failed = found.count(MutationOutcome::Failed);
        let passed = found.count(MutationOutcome::Passed);
        found.applicable = failed + passed > 0;
        if !found.applicable && found.reason.is_none() {
            found.reason = Some("no assertion of these tests could be mutated".to_owned());
        }
        proof.missing.extend(surviving_mutation(&found.mutated));
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
                // The file failed to load: try its first eight tests.
                None => tests.iter().take(8).collect(),
            };
            for test in own {
                let mut known = targets.iter_mut();
                match known.find(|target| target.path == path && target.test == *test) {
                    Some(target) => target.ids.push(failed.id.clone()),
                    None => targets.push(Target {
                        path: path.clone(),
                        test: test.clone(),
                        ids: vec![failed.id.clone()],
                    }),
                }
            }
        }
        Ok(targets)
    }

    // `line` runs these tests alone; `None` for all commands.
    fn perturb_in_turn(
        &mut self,
        found: &mut MutationCheck,
        laid: &[Change],
        line: Option<&str>,
        targets: &[Target],
    ) -> Result<(), RepairError> {
        let began = Instant::now();
        let most = targets.iter().map(|target| target.test.assertions.len());
        for round in 0..most.max().unwrap_or(0) {
            // Runs that one check takes at most, and seconds.
            if found.runs >= 12 || began.elapsed().as_secs_f64() > 180.0 {
                found.reason = Some(format!("{} runs were made for it", found.runs));
                break;
            }
            let perturbed: Vec<(&Target, &Perturbation)> = targets
                .iter()
                .filter_map(|target| Some((target, target.test.assertions.get(round)?)))
                .collect();
            self.lay_perturbed(laid, &perturbed)?;
            found.runs += 1;
            let why = "mutation check, with changed expected values";
            let ran = self.stage.run(line, why)?;
            if unfinished_run(&ran).is_some() {
                break;
            }
            for (target, assertion) in perturbed {
                let was: Vec<&str> = assertion.was.split_whitespace().collect();
                found.mutated.push(MutatedAssertion {
                    test: target.test.names.join(" "),
                    path: target.path.to_string(),
                    line: assertion.line,
                    // Characters of an assertion that are shown.
                    was: was.join(" ").chars().take(60).collect(),
                    outcome: target.mutation_outcome(&ran),
                });
            }
        }
        Ok(())
    }

    fn lay_perturbed(
        &mut self,
        laid: &[Change],
        perturbed: &[(&Target, &Perturbation)],
    ) -> Result<(), RepairError> {
        let mut edits: BTreeMap<&RepoPath, Vec<&Perturbation>> = BTreeMap::new();
        for (target, perturbation) in perturbed {
            edits.entry(&target.path).or_default().push(perturbation);
        }
        self.lay(laid, &[])?;
        let mut changes = Vec::new();
        for (path, mut edits) in edits {
            let Some(state) = self.stage.place.state(path)? else {
                continue;
            };
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.place.start));
            edits.dedup_by_key(|edit| edit.place.start);
            edits.retain(|edit| edit.place.end <= state.bytes.len());
            let mut bytes = state.bytes.to_vec();
            for edit in edits {
                bytes.splice(edit.place.clone(), edit.perturbed.bytes());
            }
            let standing = laid.iter().find(|change| change.path == *path);
            let after = FileState::new(bytes, state.mode);
            let before = standing.map_or(Some(state), |change| change.before.clone());
            changes.push(Change::between(path.clone(), before, Some(after)));
        }
        self.lay(laid, &changes)
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
            let lines: Vec<&str> = text.lines().collect();
            for assertion in &target.test.assertions {
                let line = (assertion.line as usize).saturating_sub(1);
                let values = values_in(lines.get(line).unwrap_or(&""));
                let expected = values_in(&assertion.was);
                let has_both = !expected.is_empty() && values.len() > expected.len();
                let mut others = changes.iter().filter(|change| change.path != target.path);
                if has_both && others.any(|change| adds_together(change, &values)) {
                    found.push(format!("{}:{}", target.path, assertion.line));
                }
            }
        }
        found.dedup();
        Ok(found)
    }
}

// A test is in doubt when no assertion makes it fail, and when one passes above one that fails: the last
// ones may not be reached.
fn surviving_mutation(mutated: &[MutatedAssertion]) -> Option<String> {
    let mut rows = mutated.iter();
    let row = rows.find(|row| {
        row.outcome == MutationOutcome::Passed
            && last_failing_line(row, mutated).is_none_or(|line| row.line < line)
    })?;
    Some(format!(
        "mutation check failed: the test still passes when the expected value at {}:{} changes",
        row.path, row.line
    ))
}

fn last_failing_line(row: &MutatedAssertion, mutated: &[MutatedAssertion]) -> Option<u32> {
    let own = mutated
        .iter()
        .filter(|other| (&other.test, &other.path) == (&row.test, &row.path));
    let failing = own.filter(|other| other.outcome == MutationOutcome::Failed);
    failing.map(|other| other.line).max()
}

#[expect(clippy::expect_used, reason = "a constant")]
static VALUES: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(r#"\b\d+(?:\.\d+)?\b|'[^']*'|"[^"]*""#).expect("the pattern is valid")
});

fn values_in(line: &str) -> HashSet<String> {
    VALUES.find_iter(line).map(|text| text.as_str().replace('"', "'")).collect()
}

// Whether a change adds all of these values in one line, or in two that follow each other.
fn adds_together(change: &Change, values: &HashSet<String>) -> bool {
    let before = side_text(change.before.as_ref());
    let after = side_text(change.after.as_ref());
    let old: HashSet<&str> = before.lines().map(str::trim).collect();
    let mut rows: Vec<HashSet<String>> = after
        .lines()
        .map(|line| {
            if old.contains(line.trim()) {
                HashSet::new()
            } else {
                values_in(line)
            }
        })
        .collect();
    rows.push(HashSet::new());
    let mut pairs = rows.windows(2);
    pairs.any(|pair| {
        let mut values = values.iter();
        !pair[0].is_empty() && values.all(|value| pair.iter().any(|row| row.contains(value)))
    })
}

fn side_text(side: Option<&FileState>) -> String {
    let bytes = side.map_or(&[][..], |state| &state.bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::surviving_mutation;
    use crate::model::{MutatedAssertion, MutationOutcome};

    #[test]
    fn doubts_assertion_that_passes_early() {
        use MutationOutcome::{Failed, Passed};
        let doubts = |rows: &[(u32, MutationOutcome)]| {
            let rows = rows.iter().map(|(line, outcome)| MutatedAssertion {
                test: "test_a".to_owned(),
                path: "tests/test_a.py".to_owned(),
                line: *line,
                was: "1".to_owned(),
                outcome: *outcome,
            });
            surviving_mutation(&rows.collect::<Vec<_>>()).is_some()
        };
        assert!(!doubts(&[(1, Failed), (2, Failed)]));
        assert!(!doubts(&[(1, Failed), (2, Passed)]));
        assert!(doubts(&[(1, Passed), (2, Failed)]));
        assert!(doubts(&[(1, Passed)]));
    }
}
