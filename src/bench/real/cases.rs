use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Clones;
use super::checkout::{Checkouts, Lease};
use super::environment::test_line;
use super::fix::Sides;
use super::trial::Bench;
use crate::bench::layout::{LaidOut, Layout};
use crate::bench::stage::Hidden;
use crate::bench::{BenchError, Case, Expected, Fixture, Forbidden};
use crate::exec::Stop;
use crate::git::Repository;
use crate::model::{
    RealEnvironment, RealFix, RealFixes, RealRepository, RepoPath, RunStatus, StopReason,
    WorkplaceMode,
};
use crate::patch::{JudgeOptions, canonical, judge};
use crate::policy::{Allowed, Redactor};
use crate::source::Worktree;

/// The fixes of sets as cases, in their order. Checkouts and environments stand below `work`. A fix
/// whose clone lacks something is a case all the same: running it says what is lacking.
#[must_use]
pub fn real_cases<'a>(
    sets: &[RealFixes],
    clones: &Clones,
    work: &Path,
    workplace: WorkplaceMode,
    redactor: &'a Redactor,
) -> Vec<Case<'a>> {
    let checkouts = Checkouts::new(work);
    let mut cases = Vec::new();
    for set in sets {
        let repository = &set.repository;
        let clone = clones.open(&repository.name, &repository.url);
        let clone = clone.map(Arc::new).map_err(|error| error.to_string());
        for fix in &set.fixes {
            let environment = set
                .environments
                .iter()
                .find(|it| it.name == fix.environment);
            let Some(environment) = environment else {
                continue;
            };
            let commits = Commits {
                repository: repository.clone(),
                environment: environment.clone(),
                fix: fix.clone(),
                clone: clone.clone(),
                checkouts: checkouts.clone(),
                workplace,
                redactor,
            };
            cases.push(Case {
                fixture: fixture(repository, environment, fix, commits.reference().ok()),
                layout: Box::new(commits),
            });
        }
    }
    cases
}

fn fixture(
    repository: &RealRepository,
    environment: &RealEnvironment,
    fix: &RealFix,
    reference: Option<Vec<u8>>,
) -> Fixture {
    let short = fix.commit.get(..9).unwrap_or(&fix.commit);
    // What a fix makes stands in no packet.
    let there = fix.needed.iter().filter(|it| !it.lines.is_empty());
    Fixture {
        id: fix.id.clone(),
        directory: PathBuf::new(),
        repository: Some(repository.name.clone()),
        title: format!("{} {short}: {} files", repository.name, fix.needed.len()),
        language: repository.language.clone(),
        test: environment.test.clone(),
        needs: environment.needs.clone(),
        needed: there.map(|it| it.path.clone()).collect(),
        level: None,
        heal_safe: true,
        timeout_seconds: environment.timeout_seconds,
        targets: Vec::new(),
        hidden_test: Some(environment.test.clone()),
        expect: Expected {
            kind: fix.kind,
            subkind: None,
            status: RunStatus::Fixed,
            stop_reason: StopReason::Fixed,
        },
        replay: None,
        forbid: Forbidden::default(),
        secrets: BTreeMap::new(),
        generate: Vec::new(),
        reference,
        replies: Vec::new(),
    }
}

// A fix in a clone.
struct Commits<'a> {
    repository: RealRepository,
    environment: RealEnvironment,
    fix: RealFix,
    clone: Result<Arc<Repository>, String>,
    checkouts: Checkouts,
    workplace: WorkplaceMode,
    redactor: &'a Redactor,
}

impl Commits<'_> {
    fn clone(&self) -> Result<&Repository, BenchError> {
        let clone = self.clone.as_deref();
        clone.map_err(|message| BenchError::Lacking(message.clone()))
    }

    fn sides(&self) -> Result<Sides, BenchError> {
        Sides::open(self.clone()?, &self.fix.parent, &self.fix.commit)
    }

    fn reference(&self) -> Result<Vec<u8>, BenchError> {
        let product: Vec<RepoPath> = self.fix.needed.iter().map(|it| it.path.clone()).collect();
        Ok(canonical(&self.sides()?.changes(&product)?))
    }

    fn lay(&self, lease: &Lease, stop: &Stop) -> Result<(), BenchError> {
        let checkout = lease.checkout();
        checkout.set_up(&self.environment, self.clone()?, stop)?;
        let sides = self.sides()?;
        checkout.lay(&sides.broken(&self.fix.taken)?)
    }

    fn line(&self, lease: &Lease, tests: &[&RepoPath]) -> String {
        let own = lease.checkout().environment();
        test_line(&self.environment.test, tests, &own)
    }

    // The tests of the fix and their neighbours, on the laid out files with the patch.
    fn judge(&self, lease: &Lease, patch: &[u8], stop: &Stop) -> Result<Hidden, BenchError> {
        let root = lease.checkout().root();
        let git = Repository::discover(&root)?
            .ok_or_else(|| BenchError::Lacking("the checkout is no repository".to_owned()))?;
        let source = Worktree::open(&root, git.tracked()?, 1).map_err(BenchError::Source)?;
        let options = JudgeOptions {
            allowed: Allowed::new(&["**".to_owned()]).unwrap_or_default(),
            ..JudgeOptions::default()
        };
        let judged = judge(patch, &source, &options);
        if judged.changes.is_empty() {
            let message = format!("its patch does not apply: {}", judged.verdict.feedback);
            return Ok(Hidden::Failed(message));
        }
        let mut changes = judged.changes;
        changes.retain(|it| !self.fix.taken.contains(&it.path));
        let bench = Bench {
            checkout: lease.checkout(),
            environment: &self.environment,
            workplace: self.workplace,
            redactor: self.redactor,
            stop,
        };
        let all: Vec<&RepoPath> = self.fix.tests.iter().chain(&self.fix.hidden).collect();
        let trial = bench.run(&self.line(lease, &all), &changes)?;
        Ok(match (trial.passed, trial.tests_passed) {
            (false, _) => Hidden::Failed(trial.end),
            (true, count) if count < self.fix.hidden_passed => Hidden::Failed(format!(
                "{count} tests passed, and {} pass with the fix",
                self.fix.hidden_passed
            )),
            (true, _) => Hidden::Passed,
        })
    }
}

impl Layout for Commits<'_> {
    fn lay_out(&self, _: &Fixture, _: &Path, stop: &Stop) -> Result<LaidOut, BenchError> {
        let lease = self
            .checkouts
            .take(&self.repository.name, &self.environment)?;
        self.lay(&lease, stop)?;
        let tests: Vec<&RepoPath> = self.fix.tests.iter().collect();
        Ok(LaidOut {
            root: lease.checkout().root(),
            test: self.line(&lease, &tests),
            variables: lease.checkout().variables(&self.environment),
            held: Some(Box::new(lease)),
        })
    }

    fn hidden(
        &self,
        _: &Fixture,
        laid: &LaidOut,
        patch: Option<&[u8]>,
        _: &Path,
        stop: &Stop,
    ) -> Result<Option<Hidden>, BenchError> {
        let lease = laid.held.as_ref().and_then(|it| it.downcast_ref::<Lease>());
        let (Some(lease), Some(patch)) = (lease, patch) else {
            let message = "there is no patch to be judged".to_owned();
            return Ok(Some(Hidden::Failed(message)));
        };
        Ok(Some(self.judge(lease, patch, stop)?))
    }
}
