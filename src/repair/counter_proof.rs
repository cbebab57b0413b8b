use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Instant;

use serde_json::json;

use super::alone::is_path;
use super::commands::{CommandsRun, run_commands};
use super::error::RepairError;
use super::limits::RunLimit;
use super::own_place::own_place;
use super::session::Session;
use super::setup::Commands;
use super::snapshots::{exchanges, files_of};
use super::test_names::{closest, file_of, names_it};
use crate::languages::{Exchange, ExpectingTest, expected};
use crate::model::{
    CommandRun, CounterProof, CounterVerdict, Disguise, ExpectationEnd, FailedTest, Proof,
    RepoPath, TriedExpectation,
};
use crate::patch::{Change, FileState};
use crate::policy::CommandFiles;
use crate::runners::chosen;
use crate::source::Source;

/// Runs that one counter-proof takes at most, and seconds.
const MAX_RUNS: u32 = 12;
const MAX_SECONDS: f64 = 180.0;
// Commands that take longer are not run in the place of tests that cannot be run alone.
const MAX_WHOLE_SECONDS: f64 = 20.0;
/// Tests of a file that could not be loaded before, of which the first are tried.
const MAX_TESTS: usize = 8;
// Snapshots of one test that are exchanged.
const MAX_SNAPSHOTS: usize = 2;
// Tests that passed all the same and are looked at one by one.
const MAX_DOUBTED: usize = 2;

/// A formerly failing test, as its file has it.
pub(super) struct Case {
    pub(super) path: RepoPath,
    pub(super) test: ExpectingTest,
    /// What of files of snapshots is of this test.
    kept: Vec<(RepoPath, u32, Exchange)>,
    /// What runs as this test.
    ids: Vec<String>,
    ends: Vec<(usize, ExpectationEnd)>,
}

impl Case {
    // The values that may be exchanged: snapshots, the first of each assertion, then the second of each, and
    // so on.
    fn values(&self) -> Vec<(&RepoPath, u32, &Exchange)> {
        let assertions = &self.test.assertions;
        let most = assertions.iter().map(|it| it.values.len()).max();
        let round = |at: usize| {
            let values = assertions.iter();
            values.filter_map(move |it| Some((&self.path, it.line, it.values.get(at)?)))
        };
        let kept = self.kept.iter().map(|(path, line, it)| (path, *line, it));
        kept.chain((0..most.unwrap_or(0)).flat_map(round)).collect()
    }

    // As many as there are snapshots, and assertions that say a value.
    fn asserted(&self) -> usize {
        let assertions = self.test.assertions.iter();
        self.kept.len() + assertions.filter(|it| !it.values.is_empty()).count()
    }

    fn failed(&self, ran: &CommandsRun) -> bool {
        let tests = &ran.diagnosis.tests;
        let names = &ran.diagnosis.failing_tests;
        names.iter().any(|it| self.ids.contains(it)) || tests.iter().any(|it| self.matches(it))
    }

    fn matches(&self, test: &FailedTest) -> bool {
        test.path
            .as_deref()
            .is_none_or(|it| it == self.path.as_str())
            && names_it(&test.id, &self.test.names)
    }
}

/// What stands behind one counter-proof.
pub(super) struct Trying<'c> {
    /// The change, and the tests as they were.
    pub(super) laid: &'c [Change],
    /// The line that is run, and whether it runs these tests alone.
    pub(super) line: String,
    began: Instant,
    pub(super) result: CounterProof,
    /// What did not hold.
    refuted: Vec<String>,
    interrupted: bool,
}

impl Trying<'_> {
    pub(super) fn refute(&mut self, why: &str) {
        self.refuted.push(why.to_owned());
    }
}

impl Session<'_> {
    /// Tries whether the tests that failed and pass now would fail with other expectations, and pass without
    /// what tells code that it is tested. What does not hold is missing from the proof; `true` when somebody
    /// asked to stop. The workplace is left as it comes.
    pub(super) fn counter_prove(
        &mut self,
        proof: &mut Proof,
        laid: &[Change],
    ) -> Result<bool, RepairError> {
        let mut trying = Trying {
            laid,
            line: String::new(),
            began: Instant::now(),
            result: CounterProof::default(),
            refuted: Vec::new(),
            interrupted: false,
        };
        if !self.setup.policy.counter_proof {
            trying.result.verdict = CounterVerdict::Off;
        } else if let Some(mut cases) = self.cases(&mut trying)? {
            self.exchange(&mut trying, &mut cases)?;
            if trying.refuted.is_empty() && !trying.interrupted {
                self.disguise(&mut trying, &cases)?;
            }
            tell(&mut trying, &cases);
            proof.own_values = self.own_values(laid, &cases)?;
        }
        let result = &mut trying.result;
        let bites = |it: &TriedExpectation| it.ended == ExpectationEnd::Failed;
        let stays = matches!(result.disguise, Disguise::Passed | Disguise::Partly);
        if !trying.refuted.is_empty() {
            result.verdict = CounterVerdict::Refuted;
        } else if result.expectations.iter().any(bites) || stays {
            result.verdict = CounterVerdict::Holds;
        }
        proof.missing.extend(trying.refuted);
        proof.proven &= proof.missing.is_empty();
        let message = json!({ "verdict": trying.result.verdict, "runs": trying.result.runs });
        proof.counter_proof = Some(trying.result);
        self.event("info", "counter_proof", message)?;
        Ok(trying.interrupted)
    }

    // Assertions of these tests whose values, given and expected, the change adds side by side.
    fn own_values(&self, changes: &[Change], cases: &[Case]) -> Result<Vec<String>, RepairError> {
        let mut found = Vec::new();
        let source = self.place.source()?;
        for case in cases {
            let text = source.read(&case.path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let own = case.values().into_iter();
            for (_, line, value) in own.filter(|it| *it.0 == case.path) {
                let asserted = text.lines().nth((line as usize).saturating_sub(1));
                let asserted = asserted.unwrap_or_default();
                let mut values = values_in(asserted);
                let expected = values_in(&value.was);
                values.retain(|it| !expected.contains(it));
                if values.is_empty() || expected.is_empty() {
                    continue;
                }
                values.extend(expected);
                let holds = |it: &Change| !case.path.eq(&it.path) && adds_together(it, &values);
                if changes.iter().any(holds) {
                    found.push(format!("{}:{line}", case.path));
                }
            }
        }
        found.dedup();
        Ok(found)
    }

    // The tests that failed, where they stand, and the line that runs them; `None` with what is in the way.
    fn cases(&mut self, trying: &mut Trying<'_>) -> Result<Option<Vec<Case>>, RepairError> {
        let none =
            |trying: &mut Trying<'_>, why: &str| trying.result.not_applicable.push(why.to_owned());
        if self.failed.is_empty() {
            none(trying, "no runner named the tests that failed");
            return Ok(None);
        }
        self.lay(trying.laid, &[])?;
        let source = self.place.source()?;
        let mut cases: Vec<Case> = Vec::new();
        let mut files: BTreeMap<RepoPath, Vec<ExpectingTest>> = BTreeMap::new();
        for failed in &self.failed {
            let Some(path) = file_of(failed, source.as_ref()) else {
                none(trying, &format!("`{}`: its file is not known", failed.id));
                continue;
            };
            let tests = files.entry(path.clone()).or_insert_with(|| {
                let bytes = source.read(&path).unwrap_or_default();
                expected(&path, &bytes)
            });
            let own: Vec<&ExpectingTest> = match closest(&failed.id, tests) {
                Some(one) => vec![one],
                // A file that could not be loaded: its tests are what failed.
                None => tests.iter().take(MAX_TESTS).collect(),
            };
            if own.is_empty() {
                none(
                    trying,
                    &format!("`{}`: it is not found in its file", failed.id),
                );
            }
            for test in own {
                match cases
                    .iter_mut()
                    .find(|it| it.path == path && it.test == *test)
                {
                    Some(case) => case.ids.push(failed.id.clone()),
                    None => cases.push(Case {
                        kept: kept(&path, &test.names, source.as_ref()),
                        path: path.clone(),
                        test: test.clone(),
                        ids: vec![failed.id.clone()],
                        ends: Vec::new(),
                    }),
                }
            }
        }
        let [line] = self.setup.commands.lines.as_slice() else {
            none(
                trying,
                "several commands are run, and these tests not alone",
            );
            return Ok(None);
        };
        trying.line.clone_from(line);
        let took = self.runs.last().map_or(0.0, |it| it.seconds);
        let prefix = self.setup.prefix;
        let run = CommandFiles::find(std::slice::from_ref(line), prefix, source.as_ref());
        let own = own_place(line, &run, &self.failed, (source.as_ref(), prefix));
        let is_path = |word: &str| is_path(source.as_ref(), prefix, word);
        let chosen = chosen(&own.line, own.runner, &own.tests, &is_path);
        drop(source);
        if let Some((alone, count)) = chosen {
            trying.line = alone;
            // Tests that lean on others fail alone, whatever they expect.
            match self.run_with(trying, &[], "alone")? {
                Some(ran) if all_passed(&ran, count) => return Ok(Some(cases)),
                Some(_) => trying.line.clone_from(line),
                None => return Ok(None),
            }
        }
        if took > MAX_WHOLE_SECONDS {
            none(
                trying,
                "the tests do not run alone, and all of them take long",
            );
            return Ok(None);
        }
        Ok(Some(cases))
    }

    // Exchanges what the tests expect: in one run one value of each of them.
    fn exchange(&mut self, trying: &mut Trying<'_>, cases: &mut [Case]) -> Result<(), RepairError> {
        // A run that no guise takes is one for a value more.
        let spare = usize::from(!self.has_guise(trying, cases));
        let most = cases.iter().map(Case::asserted).max().unwrap_or(0);
        let rounds = if most == 0 { 0 } else { most + spare };
        let mut doubted = Vec::new();
        for round in 0..rounds {
            let positions: Vec<usize> = (0..cases.len())
                .filter(|at| cases.get(*at).is_some_and(|it| it.values().len() > round))
                .collect();
            let extra = self.exchanged(trying, cases, &positions, round, |it| Some(&it.other))?;
            let Some(ran) = self.run_with(trying, &extra, "expecting other values")? else {
                return Ok(());
            };
            for at in positions {
                let Some(case) = cases.get_mut(at) else {
                    continue;
                };
                if case.failed(&ran) {
                    case.ends.push((round, ExpectationEnd::Failed));
                } else if ran.observed.passed {
                    doubted.push((at, round));
                } else {
                    // Another test failed first, or the file could not be loaded so.
                    case.ends.push((round, ExpectationEnd::NotRun));
                }
            }
        }
        let bites = cases
            .iter()
            .flat_map(|it| &it.ends)
            .any(|it| it.1 == ExpectationEnd::Failed);
        for (at, round) in doubted.iter().take(MAX_DOUBTED).copied() {
            let extra = self.exchanged(trying, cases, &[at], round, |it| it.raises.as_ref())?;
            let end = if extra.is_empty() {
                ExpectationEnd::NotRun
            } else {
                match self.run_with(trying, &extra, "raising where a value is expected")? {
                    Some(ran) if ran.observed.passed => ExpectationEnd::NotReached,
                    Some(_) => ExpectationEnd::Passed,
                    None => return Ok(()),
                }
            };
            let Some(case) = cases.get_mut(at) else {
                continue;
            };
            case.ends.push((round, end));
            let Some((path, line, value)) = case.values().get(round).copied() else {
                continue;
            };
            let place = format!("{path}:{line}");
            if end == ExpectationEnd::Passed {
                trying.refuted.push(format!(
                    "the test does not bite: it passes with another value than `{}` at {place}",
                    shortened(&value.was)
                ));
                return Ok(());
            }
            if end == ExpectationEnd::NotReached && !bites {
                trying
                    .refuted
                    .push(format!("the assertion at {place} is never reached"));
                return Ok(());
            }
        }
        for (at, round) in doubted.into_iter().skip(MAX_DOUBTED) {
            if let Some(case) = cases.get_mut(at) {
                case.ends.push((round, ExpectationEnd::NotRun));
            }
        }
        Ok(())
    }

    // The files of these tests with the value of a round replaced in each of them.
    fn exchanged(
        &mut self,
        trying: &Trying<'_>,
        cases: &[Case],
        positions: &[usize],
        round: usize,
        by: impl Fn(&Exchange) -> Option<&String>,
    ) -> Result<Vec<Change>, RepairError> {
        let mut edits: BTreeMap<&RepoPath, Vec<(&Exchange, &String)>> = BTreeMap::new();
        for case in positions.iter().filter_map(|at| cases.get(*at)) {
            if let Some((path, _, value)) = case.values().get(round).copied()
                && let Some(other) = by(value)
            {
                edits.entry(path).or_default().push((value, other));
            }
        }
        self.lay(trying.laid, &[])?;
        let mut changes = Vec::new();
        for (path, mut edits) in edits {
            let Some(before) = self.place.state(path)? else {
                continue;
            };
            edits.sort_by_key(|it| std::cmp::Reverse(it.0.place.start));
            edits.dedup_by_key(|it| it.0.place.start);
            let mut bytes = before.bytes.to_vec();
            for (value, other) in edits {
                if value.place.end <= bytes.len() {
                    bytes.splice(value.place.clone(), other.bytes());
                }
            }
            let after = FileState::new(bytes, before.mode);
            let standing = trying.laid.iter().find(|it| it.path == *path);
            let standing = standing.map_or(Some(before), |it| it.before.clone());
            changes.push(Change::between(path.clone(), standing, Some(after)));
        }
        Ok(changes)
    }

    // The change, and what else is to be tried in the place of what it has there.
    pub(super) fn lay(&mut self, laid: &[Change], extra: &[Change]) -> Result<(), RepairError> {
        let is_other = |it: &&Change| extra.iter().any(|other| other.path == it.path);
        let kept = laid.iter().filter(|it| !is_other(it));
        let all: Vec<Change> = kept.chain(extra).cloned().collect();
        self.place.reset()?;
        Ok(self.place.write(&all)?)
    }

    fn run_with(
        &mut self,
        trying: &mut Trying<'_>,
        extra: &[Change],
        why: &str,
    ) -> Result<Option<CommandsRun>, RepairError> {
        let line = trying.line.clone();
        self.run_line(trying, &line, extra, why)
    }

    /// Runs a line with the change and something beside it; `None` when no more may be run.
    pub(super) fn run_line(
        &mut self,
        trying: &mut Trying<'_>,
        line: &str,
        extra: &[Change],
        why: &str,
    ) -> Result<Option<CommandsRun>, RepairError> {
        let spent = trying.began.elapsed().as_secs_f64();
        if trying.result.runs >= MAX_RUNS || spent > MAX_SECONDS {
            let message = format!(
                "not tried: {why}; {} runs were made for it",
                trying.result.runs
            );
            trying.result.not_applicable.push(message);
            return Ok(None);
        }
        self.lay(trying.laid, extra)?;
        let source = self.place.source()?;
        let commands = Commands {
            lines: vec![line.to_owned()],
            ..self.setup.commands.clone()
        };
        let limit = RunLimit {
            each: self.limit,
            ..self.run_limit()
        };
        let started = self.journal.seconds();
        let (prefix, redactor) = (self.setup.prefix, self.setup.redactor);
        let ran = run_commands(
            &commands,
            &self.place,
            prefix,
            redactor,
            source.as_ref(),
            limit,
            self.stop,
        )?;
        drop(source);
        trying.result.runs += 1;
        self.runs.push(CommandRun {
            why: format!("counter-proof, {why}"),
            seconds: super::ask::millis(self.journal.seconds() - started),
            whole: self
                .setup
                .commands
                .lines
                .first()
                .is_some_and(|it| it == line),
        });
        self.interrupted |= ran.interrupted;
        trying.interrupted |= ran.interrupted;
        if ran.cut_short || ran.interrupted {
            let message = format!("not tried to the end: {why}; no time was left");
            trying.result.not_applicable.push(message);
            return Ok(None);
        }
        Ok(Some(ran))
    }
}

// Whether a run passes by the word of a runner that counts at least so many tests.
fn all_passed(ran: &CommandsRun, count: usize) -> bool {
    let accounts = ran.evidence.iter().flat_map(|it| &it.accounts);
    let passed: u64 = accounts.map(|it| it.counts.passed).sum();
    ran.observed.passed && passed >= count as u64
}

// Writes down how each value ended, and what had none.
fn tell(trying: &mut Trying<'_>, cases: &[Case]) {
    for case in cases {
        let name = case.test.names.join(" ");
        let values = case.values();
        for (round, (path, line, value)) in values.iter().enumerate() {
            let end = case.ends.iter().find(|it| it.0 == round);
            // Of an assertion whose first value was tried the others are not told.
            if end.is_none() && round >= case.asserted() {
                continue;
            }
            trying.result.expectations.push(TriedExpectation {
                path: path.to_string(),
                line: *line,
                was: shortened(&value.was),
                ended: end.map_or(ExpectationEnd::NotRun, |it| it.1),
            });
        }
        let bare = case
            .test
            .assertions
            .iter()
            .filter(|it| it.values.is_empty());
        let bare: Vec<String> = bare.map(|it| it.line.to_string()).collect();
        if !bare.is_empty() {
            trying.result.not_applicable.push(format!(
                "`{name}`: no value that is expected is written down in line {}",
                bare.join(", ")
            ));
        } else if case.test.assertions.is_empty() {
            let message = format!("`{name}`: no assertion is known in it");
            trying.result.not_applicable.push(message);
        }
    }
}

// What files of snapshots hold of a test; the first few.
fn kept(path: &RepoPath, names: &[String], source: &dyn Source) -> Vec<(RepoPath, u32, Exchange)> {
    let files = files_of(path).into_iter();
    let found = files.flat_map(|file| {
        let text = source.read(&file).unwrap_or_default();
        let found = exchanges(&String::from_utf8_lossy(&text), names).into_iter();
        found.map(move |(line, it)| (file.clone(), line, it))
    });
    found.take(MAX_SNAPSHOTS).collect()
}

// Numbers and texts of a line.
fn values_in(line: &str) -> Vec<String> {
    let found = VALUES
        .find_iter(line)
        .map(|it| it.as_str().replace('"', "'"));
    found.collect()
}

#[expect(clippy::expect_used, reason = "a constant")]
static VALUES: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(r#"\b\d+(?:\.\d+)?\b|'[^']*'|"[^"]*""#).expect("the pattern is one")
});

// Whether a change adds all of these values in one line, or in two that follow each other.
fn adds_together(change: &Change, values: &[String]) -> bool {
    let text = |side: &Option<FileState>| {
        let bytes = side
            .as_ref()
            .map(|it| it.bytes.to_vec())
            .unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (before, after) = (text(&change.before), text(&change.after));
    let earlier: std::collections::BTreeSet<&str> = before.lines().map(str::trim).collect();
    let lines: Vec<Vec<String>> = after
        .lines()
        .map(|line| {
            if earlier.contains(line.trim()) {
                Vec::new()
            } else {
                values_in(line)
            }
        })
        .collect();
    lines.iter().enumerate().any(|(at, line)| {
        let next = lines.get(at + 1).map(Vec::as_slice).unwrap_or_default();
        !line.is_empty()
            && values
                .iter()
                .all(|it| line.contains(it) || next.contains(it))
    })
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 60 {
        return line;
    }
    line.chars().take(57).chain("...".chars()).collect()
}
