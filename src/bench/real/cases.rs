//! Turns proven fixes of real histories into bench cases.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkout::Checkout;
use super::environment::test_line;
use super::fix::Sides;
use super::sets::open_clone;
use super::trial::CheckoutRunner;
use crate::bench::layout::LaidOut;
use crate::bench::run::open_files;
use crate::bench::stage::{Hidden, read_patch};
use crate::bench::{BenchCase, BenchError, Expected, Fixture};
use crate::exec::Stop;
use crate::git::Repository;
use crate::model::{
    RealEnvironment, RealFix, RealFixes, RealRepository, RepoPath, RunStatus, StopReason,
    WorkplaceMode,
};
use crate::patch::canonical;
use crate::policy::Redactor;

/// The fixes of sets as cases, in their order. Checkouts and environments are below `work`. A fix
/// whose clone lacks something is a case all the same: running it says what is lacking.
pub fn real_cases<'a>(
    sets: &[RealFixes],
    clones: &Path,
    work: &Path,
    workplace: WorkplaceMode,
    redactor: &'a Redactor,
) -> Vec<BenchCase<'a>> {
    let mut cases = Vec::new();
    for set in sets {
        let repository = &set.repository;
        let clone = open_clone(clones, &repository.name, &repository.url);
        let clone = clone.map(Arc::new).map_err(|error| error.to_string());
        for fix in &set.fixes {
            let mut environments = set.environments.iter();
            let environment = environments.find(|own| own.name == fix.environment);
            let Some(environment) = environment else {
                continue;
            };
            let commits = Commits {
                repository: repository.clone(),
                environment: environment.clone(),
                fix: fix.clone(),
                clone: clone.clone(),
                work: work.to_owned(),
                workplace,
                redactor,
            };
            cases.push(BenchCase {
                fixture: to_fixture(repository, environment, fix, commits.reference().ok()),
                commits: Some(commits),
            });
        }
    }
    cases
}

fn to_fixture(
    repository: &RealRepository,
    environment: &RealEnvironment,
    fix: &RealFix,
    reference: Option<Vec<u8>>,
) -> Fixture {
    let short = fix.commit.get(..9).unwrap_or(&fix.commit);
    // What a fix makes is in no packet.
    let there = fix.needed.iter().filter(|file| !file.lines.is_empty());
    Fixture {
        id: fix.id.clone(),
        repository: Some(repository.name.clone()),
        title: format!("{} {short}: {} files", repository.name, fix.needed.len()),
        language: repository.language.clone(),
        test: environment.test.clone(),
        needs: environment.needs.clone(),
        needed: there.map(|file| file.path.clone()).collect(),
        heal_safe: true,
        timeout_seconds: environment.timeout_seconds,
        hidden_test: Some(environment.test.clone()),
        expect: Expected {
            kind: fix.kind,
            status: RunStatus::Fixed,
            stop_reason: StopReason::Fixed,
            ..Expected::default()
        },
        reference,
        ..Fixture::default()
    }
}

/// The commits of a fix in a clone.
pub(crate) struct Commits<'a> {
    repository: RealRepository,
    environment: RealEnvironment,
    fix: RealFix,
    clone: Result<Arc<Repository>, String>,
    work: PathBuf,
    workplace: WorkplaceMode,
    redactor: &'a Redactor,
}

impl Commits<'_> {
    fn clone(&self) -> Result<&Repository, BenchError> {
        self.clone.as_deref().map_err(|message| BenchError::Lacking(message.clone()))
    }

    fn sides(&self) -> Result<Sides, BenchError> {
        Sides::open(self.clone()?, &self.fix.parent, &self.fix.commit)
    }

    fn reference(&self) -> Result<Vec<u8>, BenchError> {
        let product: Vec<RepoPath> = self.fix.needed.iter().map(|file| file.path.clone()).collect();
        Ok(canonical(&self.sides()?.changes(&product)?))
    }

    fn command_line(&self, checkout: &Checkout, tests: &[&RepoPath]) -> String {
        test_line(&self.environment.test, tests, &checkout.environment())
    }

    /// Runs the tests of the fix and their neighbors on the laid out files with the patch.
    pub(in crate::bench) fn judge(
        &self,
        checkout: &Checkout,
        patch: Option<&[u8]>,
        stop: &Stop,
    ) -> Result<Hidden, BenchError> {
        let Some(patch) = patch else {
            return Ok(Hidden::Failed("the run left no patch".to_owned()));
        };
        let (_, source) = open_files(&checkout.root())?;
        let mut changes = match read_patch(patch, &source) {
            Ok(changes) => changes,
            Err(failed) => return Ok(failed),
        };
        changes.retain(|change| !self.fix.taken.contains(&change.path));
        let runner = CheckoutRunner {
            checkout,
            environment: &self.environment,
            workplace: self.workplace,
            redactor: self.redactor,
            stop,
        };
        let all: Vec<&RepoPath> = self.fix.tests.iter().chain(&self.fix.hidden).collect();
        let trial = runner.run(&self.command_line(checkout, &all), &changes)?;
        Ok(match (trial.passed, trial.tests_passed) {
            (false, _) => Hidden::Failed(trial.end),
            (true, count) if count < self.fix.hidden_passed => Hidden::Failed(format!(
                "{count} tests passed, and {} pass with the fix",
                self.fix.hidden_passed
            )),
            (true, _) => Hidden::Passed,
        })
    }

    /// Lays the parent of the fix out in a checkout of its own.
    pub(in crate::bench) fn lay_out(&self, stop: &Stop) -> Result<LaidOut, BenchError> {
        let checkout = Checkout::take(&self.work, &self.repository.name, &self.environment)?;
        checkout.set_up(&self.environment, self.clone()?, stop)?;
        checkout.lay_files(&self.sides()?.broken(&self.fix.taken)?)?;
        let tests: Vec<&RepoPath> = self.fix.tests.iter().collect();
        Ok(LaidOut {
            root: checkout.root(),
            test: self.command_line(&checkout, &tests),
            variables: checkout.variables(&self.environment),
            checkout: Some(checkout),
        })
    }
}
