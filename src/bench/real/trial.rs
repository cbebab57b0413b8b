//! Runs the tests of one state and reads which passed.

use std::time::Duration;

use super::checkout::Checkout;
use crate::bench::BenchError;
use crate::bench::run::{open_files, test_commands};
use crate::exec::Stop;
use crate::model::{AtPath as _, FailureKind, RealEnvironment, WorkplaceMode};
use crate::patch::Change;
use crate::policy::Redactor;
use crate::repair::{CommandsAt, RunLimit};
use crate::workplace::{Plan, Workplace};

/// The result of one run of tests.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TestRun {
    /// Whether the command ended with 0.
    pub(super) passed: bool,
    /// Whether it was stopped at its time limit.
    pub(super) timed_out: bool,
    /// The diagnosed kind of the failure.
    pub(super) kind: FailureKind,
    /// Tests that failed, sorted.
    pub(super) failing: Vec<String>,
    /// Tests that passed, as the runners' summaries count them.
    pub(super) tests_passed: u64,
    /// How the run ended, in a few words.
    pub(super) end: String,
}

/// How tests are run in a checkout.
pub(super) struct CheckoutRunner<'a> {
    /// Where.
    pub(super) checkout: &'a Checkout,
    /// With what.
    pub(super) environment: &'a RealEnvironment,
    /// Which workplace a run gets.
    pub(super) workplace: WorkplaceMode,
    /// Masks secrets in what is kept.
    pub(super) redactor: &'a Redactor,
    /// Asks to end.
    pub(super) stop: &'a Stop,
}

impl CheckoutRunner<'_> {
    /// Runs a line in an isolated copy of its own over the checkout, with `changes` laid in. The
    /// checkout stays as it is.
    ///
    /// # Errors
    /// [`BenchError`] when the isolated copy or the command is not available.
    pub(super) fn run(&self, line: &str, changes: &[Change]) -> Result<TestRun, BenchError> {
        let root = self.checkout.root();
        let (git, source) = open_files(&root)?;
        let seconds = self.environment.timeout_seconds.max(1.0);
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_mins(5));
        let variables = self.checkout.variables(self.environment);
        let commands = test_commands(line.to_owned(), limit, variables);
        let slot = self.checkout.slot();
        std::fs::create_dir_all(&slot).at(&slot)?;
        let plan = Plan {
            choice: self.workplace,
            slot: &slot,
            source: &source,
            root: &root,
            git: Some(&git),
            linked_folders: Vec::new(),
            commands: &commands.lines,
            closed: Vec::new(),
        };
        let mut place = Workplace::open(&plan)?;
        place.write(changes)?;
        let view = place.source()?;
        let how = CommandsAt {
            commands: &commands,
            place: &place,
            prefix: "",
            redactor: self.redactor,
            source: &*view,
            limit: RunLimit {
                each: limit,
                all: None,
            },
        };
        let ran = how.run(self.stop)?;
        let accounts = ran.evidence.iter().flat_map(|command| &command.accounts);
        Ok(TestRun {
            passed: ran.observed.passed,
            timed_out: ran.observed.test_result.timed_out,
            kind: ran.observed.kind,
            failing: ran.observed.failing_tests,
            tests_passed: accounts.map(|account| account.counts.passed).sum(),
            end: last_line(&ran.log, &ran.observed.test_result.message),
        })
    }
}

fn last_line(log: &str, end: &str) -> String {
    let line = log.lines().rev().find(|line| !line.trim().is_empty());
    let line: String = line.unwrap_or("no output").trim().chars().take(160).collect();
    format!("{end}: {line}")
}
