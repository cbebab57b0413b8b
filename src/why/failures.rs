//! The failures of a red run. Each has its own outcome, because one change rarely explains all.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Diagnosis, FailedTest, FailureKind, TestEnd, WhyOutcome};
use crate::repair::CommandsRun;
use crate::runners::container_of;

/// The failures of a red run that a search explains: its tests, or the findings of a checker. Each has an
/// outcome of its own in every state that is tried.
#[derive(Debug, Default)]
pub struct Failures {
    items: Vec<Item>,
    of_tests: bool,
    // Lines of the red run, folded, where its findings are asked about.
    red_lines: BTreeMap<String, usize>,
    // Lines of the log at the base, folded: findings that were there before.
    base_lines: BTreeMap<String, usize>,
    /// The failures that are asked about.
    targets: BTreeSet<usize>,
    before: BTreeSet<usize>,
    is_split: bool,
    skipped: BTreeSet<usize>,
    /// Tests that no selection names.
    pub left_out: usize,
}

#[derive(Debug)]
struct Item {
    id: String,
    path: Option<String>,
    message: Option<String>,
}

/// How one failure ended in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It passes.
    Passes,
    /// It fails, in the same way as in the red run or in another.
    Fails {
        /// Whether its message is that of the red run.
        same_way: bool,
    },
    /// It is skipped in this state, which is no evidence.
    Skipped,
    /// The runner lists other tests of its file, and not this one.
    Gone,
    /// It did not run, or its result is unknown.
    Unknown,
}

/// What a run in one state showed of the failures.
#[derive(Debug, Clone)]
pub struct Observation {
    passed: bool,
    ends: Vec<End>,
    lines: BTreeMap<String, usize>,
}

impl Failures {
    /// Collects the failing tests; without any, the lines of the log that report findings.
    pub fn collect(diagnosis: &Diagnosis, log: &str) -> Self {
        let tests = diagnosis.tests.iter().map(|test| Item {
            id: test.id.clone(),
            path: test.path.clone(),
            message: test.message.as_deref().map(fold_text),
        });
        let mut items: Vec<Item> = tests.collect();
        let of_tests = !items.is_empty();
        let mut red_lines = BTreeMap::new();
        if !of_tests && diagnosis.kind != FailureKind::None {
            red_lines = telling_lines(log);
            let evidence = diagnosis.evidence.iter().map(|line| fold_text(&line.text));
            // A warning may be evidence, but does not identify the failure.
            let evidence = evidence.filter(|_| red_lines.is_empty());
            let lines: BTreeSet<String> = red_lines.keys().cloned().chain(evidence).collect();
            items.extend(lines.into_iter().map(|id| Item {
                id,
                path: None,
                message: None,
            }));
        }
        Self {
            targets: (0..items.len()).collect(),
            items,
            of_tests,
            red_lines,
            ..Self::default()
        }
    }

    /// Asks about the first tests alone: a selection names no more.
    pub fn truncate(&mut self, count: usize) {
        self.left_out = self.items.len().saturating_sub(count);
        self.items.truncate(count);
        self.targets.retain(|item| *item < count);
    }

    /// Forgets which failures were there before.
    pub fn unsplit(&mut self) {
        self.targets = (0..self.items.len()).collect();
        self.before.clear();
        self.base_lines.clear();
        self.is_split = false;
    }

    /// Says of no test of these files that it failed before: they changed themselves, and stay as they are.
    pub fn doubt_before(&mut self, changed: &BTreeSet<&str>) {
        let items = &self.items;
        self.before.retain(|item| {
            let path = items.get(*item).and_then(|item| item.path.as_deref());
            !self.of_tests || path.is_some_and(|path| !changed.contains(path))
        });
    }

    /// The tests that are asked about; none where findings are.
    pub fn tests(&self) -> Vec<String> {
        let tests = self.targets.iter().filter(|_| self.of_tests);
        tests.filter_map(|item| self.item_name(*item)).collect()
    }

    /// The tests, or findings, that failed at the base in the same way.
    pub fn failed_before(&self) -> Vec<String> {
        let failed = self.before.iter();
        failed.filter_map(|item| self.item_name(*item)).collect()
    }

    /// The tests that a state in which the others pass skips.
    pub fn skipped(&self) -> Vec<String> {
        let skipped = self.skipped.iter();
        skipped.filter_map(|item| self.item_name(*item)).collect()
    }

    fn item_name(&self, item: usize) -> Option<String> {
        self.items.get(item).map(|item| item.id.clone())
    }

    /// Whether the failures were split into those before and new ones.
    pub fn is_split(&self) -> bool {
        self.is_split
    }

    /// Whether every failure was there before, in the same way.
    pub fn all_failed_before(&self) -> bool {
        self.is_split && self.targets.is_empty()
    }

    /// Splits the failures by their result in the base: those that fail there in the same way are old, those that
    /// pass are new. Where none passes, failures with an unknown result stay in question.
    pub fn split(&mut self, base: &Observation) {
        self.is_split = true;
        if !self.of_tests {
            self.base_lines.clone_from(&base.lines);
        }
        // As often as in the red run: it is not new.
        let ends = self.targets.iter().map(|item| {
            let red =
                (self.items.get(*item)).and_then(|item| self.red_lines.get_key_value(&item.id));
            match red.and_then(|(id, count)| base.lines.get(id).filter(|before| *before >= count)) {
                Some(_) => (*item, End::Fails { same_way: true }),
                None => (*item, self.item_end(base, *item)),
            }
        });
        let ends: Vec<(usize, End)> = ends.collect();
        let items = |wanted: &dyn Fn(End) -> bool| -> BTreeSet<usize> {
            let found = ends.iter().filter(|(_, end)| wanted(*end));
            found.map(|(item, _)| *item).collect()
        };
        self.before = items(&|end| end == End::Fails { same_way: true });
        let new = items(&|end| end == End::Passes);
        let open = items(&|end| {
            matches!(
                end,
                End::Unknown | End::Gone | End::Fails { same_way: false }
            )
        });
        self.targets = if new.is_empty() { open } else { new };
    }

    /// Reads a run: how each failure ended. `named` is how many tests the command selects; 1 for all. Where it
    /// `lacks_tests`, only those that it lists are there.
    pub fn observe(&self, ran: &CommandsRun, named: usize, lacks_tests: bool) -> Observation {
        Observation {
            passed: ran.observed.passed,
            ends: if self.of_tests {
                self.ends_of_tests(ran, named, lacks_tests)
            } else {
                Vec::new()
            },
            // What a command that passes prints is no finding.
            lines: telling_lines(if ran.observed.passed { "" } else { &ran.log }),
        }
    }

    fn ends_of_tests(&self, ran: &CommandsRun, named: usize, lacks_tests: bool) -> Vec<End> {
        let failing = &ran.diagnosis.tests;
        let accounts = ran.evidence.iter().flat_map(|evidence| &evidence.accounts);
        let accounts: Vec<_> = accounts.collect();
        // What all runners count as passed; `None` where none counts.
        let counts = accounts.iter().map(|account| account.counts.passed);
        let passed = counts.reduce(|all, one| all + one);
        let reported = |item: &Item, end| {
            let mut ends = accounts.iter().map(|account| account.end_of(&item.id));
            ends.any(|other| other == end)
        };
        let mut ends: Vec<Option<End>> = Vec::new();
        for item in &self.items {
            let own = failing.iter().find(|test| item.is_or_holds(test));
            let within = failing.iter().any(|test| item.is_within(test));
            ends.push(match own {
                Some(test) => Some(End::Fails {
                    same_way: item.fails_the_same_way(test),
                }),
                None if ran.diagnosis.failing_tests.contains(&item.id) => {
                    Some(End::Fails { same_way: true })
                }
                None if within => Some(End::Unknown),
                None if failing.iter().any(|test| item.is_missing_in(test)) => Some(End::Gone),
                None if reported(item, TestEnd::Skipped) => Some(End::Skipped),
                None => None,
            });
        }
        let told = ends.iter().filter(|end| end.is_some()).count() as u64;
        let counted = passed
            .is_none_or(|passed| passed > 0 && passed + told >= named.min(self.items.len()) as u64);
        // A pass of a runner that is known is one that it counts.
        let is_trusted = ran.observed.passed || (!failing.is_empty() && passed.is_some());
        let ends = self.items.iter().zip(ends).map(|(item, end)| {
            let is_trusted = counted && is_trusted;
            // A report that lists other tests of the file does not list one that is gone.
            let [own, other] = [Some(item.id.as_str()), item.path.as_deref()].map(|id| {
                accounts
                    .iter()
                    .any(|account| id.is_some_and(|id| account.end_of(id) != TestEnd::NotSeen))
            });
            let is_gone = !accounts.is_empty() && !own && other;
            let by_default = match lacks_tests || is_gone {
                _ if reported(item, TestEnd::Passed) => End::Passes,
                true => End::Gone,
                false if is_trusted => End::Passes,
                false => End::Unknown,
            };
            end.unwrap_or(by_default)
        });
        ends.collect()
    }

    fn item_end(&self, seen: &Observation, item: usize) -> End {
        if self.of_tests {
            return seen.ends.get(item).copied().unwrap_or(End::Unknown);
        }
        let Some(id) = self.items.get(item).map(|item| &item.id) else {
            return End::Unknown;
        };
        let count = |lines: &BTreeMap<String, usize>| lines.get(id).copied().unwrap_or(0);
        if seen.passed {
            End::Passes
        } else if count(&seen.lines) > count(&self.base_lines)
            || count(&seen.lines) > 0 && !self.is_split
        {
            End::Fails { same_way: true }
        } else if self.is_known_red(seen) {
            End::Passes
        } else {
            End::Unknown
        }
    }

    // Whether a checker found what it finds at the base, and nothing that was never seen.
    fn is_known_red(&self, seen: &Observation) -> bool {
        self.base_lines.keys().any(|line| seen.lines.contains_key(line))
            && seen.lines.keys().all(|line| {
                self.base_lines.contains_key(line) || self.items.iter().any(|item| item.id == *line)
            })
    }

    /// What an observation says of all failures in question together.
    pub fn outcome(&self, seen: &Observation) -> WhyOutcome {
        let ends = self.targets.iter().map(|item| self.item_end(seen, *item));
        let ends: Vec<End> = ends.filter(|end| *end != End::Skipped).collect();
        if ends.iter().any(|end| matches!(end, End::Fails { .. })) {
            WhyOutcome::Fails
        } else if ends.iter().all(|end| *end == End::Passes) && (!ends.is_empty() || seen.passed) {
            WhyOutcome::Passes
        } else {
            WhyOutcome::Other
        }
    }

    /// Whether every failing test is missing there, or the file that holds it.
    pub fn are_new(&self, seen: Option<&Observation>, is_new: &dyn Fn(&str) -> bool) -> bool {
        let mut items = self.items.iter().enumerate();
        let all_new = items.all(|(at, item)| {
            (seen.is_some_and(|seen| self.item_end(seen, at) == End::Gone))
                || (item.path.as_deref().is_some_and(is_new))
        });
        self.of_tests && !self.items.is_empty() && all_new
    }

    /// Whether some failures pass there and others do not: then the base says which were there before.
    pub fn is_mixed(&self, seen: &Observation) -> bool {
        let has = |wanted: &dyn Fn(End) -> bool| {
            let mut items = self.targets.iter();
            items.any(|item| wanted(self.item_end(seen, *item)))
        };
        let fails = has(&|end| matches!(end, End::Fails { .. }));
        let passes = if self.of_tests {
            has(&|end| end == End::Passes)
        } else {
            has(&|end| !matches!(end, End::Fails { .. }))
        };
        fails && passes
    }

    /// Leaves out the tests that a passing state skips.
    pub fn drop_skipped(&mut self, seen: &Observation) {
        let ends = &seen.ends;
        let skipped = self.targets.iter().copied();
        self.skipped
            .extend(skipped.filter(|item| ends.get(*item) == Some(&End::Skipped)));
        self.targets.retain(|item| ends.get(*item) != Some(&End::Skipped));
    }
}

impl Item {
    // The same test; of a file, module, class or hook also any test in it. A test that a class inherits has the path
    // of the base class, and the id of the file that runs it.
    fn is_or_holds(&self, test: &FailedTest) -> bool {
        let is_file = self.is_file();
        let name = if is_file { Some(self.id.clone()) } else { container_of(&self.id) };
        let rest = name.and_then(|name| test.id.strip_prefix(&*name));
        test.id == self.id
            || is_file && test.path == self.path
            || rest.is_some_and(|rest| rest.starts_with(['.', ' ', ':']))
    }

    // Whether this is a file that did not load: runners name its path, unittest its module.
    fn is_file(&self) -> bool {
        self.path.as_ref().is_some_and(|path| {
            let module = path.strip_suffix(".py").map(|stem| stem.replace('/', "."));
            *path == self.id || module.as_ref() == Some(&self.id)
        })
    }

    // A test of a file, module or class that did not load.
    fn is_within(&self, test: &FailedTest) -> bool {
        let is_file = test.path.as_ref() == Some(&test.id) && test.path == self.path;
        let name = container_of(&test.id).unwrap_or_else(|| test.id.clone());
        let rest = self.id.strip_prefix(name.as_str());
        is_file || rest.is_some_and(|rest| rest.starts_with(['.', ':']) || rest.starts_with(" > "))
    }

    // unittest reports a method that is missing as a failing test of its bare name.
    fn is_missing_in(&self, test: &FailedTest) -> bool {
        let rest = self.id.strip_suffix(test.id.as_str());
        test.path.is_none() && rest.is_some_and(|rest| rest.ends_with('.'))
    }

    // The same message; an assertion may have other values.
    fn fails_the_same_way(&self, test: &FailedTest) -> bool {
        let message = test.message.as_deref().map(fold_text);
        let [class, own] = [&message, &self.message].map(|text| {
            let class = text.as_deref()?.split([':', ' ']).next().unwrap_or_default();
            Some(class).filter(|class| class.contains("Assert"))
        });
        message == self.message || class.is_some() && class == own
    }
}

// The lines that may report a finding, and how often each is there. Numbers are folded, because edits move lines.
fn telling_lines(log: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let told = log.lines().filter(|line| {
        let text = line.to_ascii_lowercase();
        let line = line.trim_start();
        let place = line.split_once(':').is_some_and(|(start, rest)| {
            let digit = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
            digit(rest) && (digit(start) || start.contains('.'))
        });
        // What runtimes warn of fails no command.
        !line.contains("Warning: ") && (place || text.contains("error"))
    });
    // Lines of a log that are compared.
    for line in told.take(2_000) {
        *found.entry(fold_text(line)).or_insert(0) += 1;
    }
    found
}

// A line without what differs from run to run.
fn fold_text(text: &str) -> String {
    let mut folded = text.trim().replace(|letter: char| letter.is_ascii_digit(), "0");
    while folded.contains("00") {
        folded = folded.replace("00", "0");
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::{BTreeSet, Failures, Item};
    use crate::diagnose::{LogFacts, diagnose};

    fn item(id: &str, path: &str) -> Item {
        Item {
            id: id.to_owned(),
            path: Some(path.to_owned()),
            message: None,
        }
    }

    // itsdangerous: the tests of a file that did not load are defined in the base class of another file.
    #[test]
    fn unloadable_file_holds_inherited_tests() {
        let holds = |item: &Item, log: &str| {
            let tests = diagnose(log, &LogFacts::default(), None).tests;
            assert_eq!(tests.len(), 1, "{log}");
            item.is_or_holds(&tests[0])
        };
        let log = "=== FAILURES ===\n____ TestTimed.test_load ____\n\ntests/test_serializer.py:9: in test_load\n    load()\nE   NameError: name 'want' is not defined\n=== short test summary info ===\nFAILED tests/test_timed.py::TestTimed::test_load - NameError: name 'want' is not defined\n=== 1 failed in 0.01s ===\n";
        assert!(holds(
            &item("tests/test_timed.py", "tests/test_timed.py"),
            log
        ));
        assert!(!holds(
            &item("tests/test_other.py", "tests/test_other.py"),
            log
        ));
        let log = "F\n======\nFAIL: test_base (tests.test_a.TestA.test_base)\n------\nTraceback (most recent call last):\n  File \"/r/base_case.py\", line 4, in test_base\n    self.assertEqual(self.make(), 1)\nAssertionError: 2 != 1\n\n------\nRan 1 test in 0.001s\n\nFAILED (failures=1)\n";
        assert!(holds(&item("tests.test_a", "tests/test_a.py"), log));
        assert!(!holds(&item("tests.test", "tests/test.py"), log));
    }

    #[test]
    fn warnings_of_runtimes_are_no_findings() {
        let log =
            "WARNING: old\nconf.py:3: DeprecationWarning: old\na.py:2:1: F401 unused\nerror: x";
        let found: Vec<String> = super::telling_lines(log).into_keys().collect();
        assert_eq!(found, ["a.py:0:0: F0 unused", "error: x"]);
    }

    #[test]
    fn doubt_before_test_of_changed_file_is_left_out() {
        let mut failures = Failures {
            items: vec![item("a", "tests/a.py"), item("b", "tests/b.py")],
            of_tests: true,
            before: BTreeSet::from([0, 1]),
            ..Failures::default()
        };
        failures.doubt_before(&BTreeSet::from(["tests/a.py"]));
        assert_eq!(failures.failed_before(), ["b"]);
    }
}
