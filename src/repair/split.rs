//! Splits a task by tests, files or criteria.

use std::collections::BTreeSet;

use serde::Serialize;

use super::error::RepairError;
use super::history::{History, PartsRun, SplitEnd, last_failing};
use super::limits::Spent;
use super::plan::Policy;
use super::run::Session;
use super::task::Task;
use super::test_names::file_of;
use crate::graph::Graph;
use crate::model::{
    EventKind, FailedTest, MentionedFile, PartResult, RepoPath, SplitEvent, StopReason,
};
use crate::source::Source;

/// One part of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Counted from 1.
    pub number: usize,
    /// One line.
    pub title: String,
    /// What must hold in the end.
    pub criteria: Vec<String>,
    /// Tests that must pass.
    pub tests: Vec<String>,
    /// Files it is about.
    pub targets: Vec<RepoPath>,
    /// Commands that show it.
    pub commands: Vec<String>,
    /// Parts that come first, by number.
    pub depends_on: Vec<usize>,
    /// Its share of the remaining budget, 0 to 1.
    pub share: f64,
}

/// Most parts a task is cut into.
pub const MAX_PARTS: usize = 5;

/// What a task is split by.
#[derive(Debug, Clone, Copy)]
pub struct SplitInput<'a> {
    /// The task.
    pub task: &'a Task,
    /// Tests that fail.
    pub tests: &'a [String],
    /// Files the failure is about.
    pub targets: &'a [RepoPath],
    /// Commands that show the failure.
    pub commands: &'a [String],
}

/// Splits by failing test, else by target, else by criterion; a file's part comes before the parts of its importers.
/// Without two of them there are no parts.
pub fn split(input: &SplitInput<'_>, source: &dyn Source) -> Vec<Part> {
    let mut left = join_parts(&group_parts(input, source));
    if left.len() < 2 {
        return Vec::new();
    }
    let share = 1.0 / left.len() as f64;
    share_criteria(&input.task.criteria, &mut left);
    let mut parts: Vec<Part> = Vec::new();
    // Repeatedly the first part that uses none of those left; a cycle goes on in name order.
    while !left.is_empty() {
        let free = left.iter().position(|part| {
            let mut others = left.iter().filter(|other| *other != part);
            others.all(|other| !uses(part, other, source))
        });
        let mut part = left.remove(free.unwrap_or(0));
        let used = parts.iter().filter(|earlier| uses(&part, earlier, source));
        part.depends_on = used.map(|earlier| earlier.number).collect();
        part.number = parts.len() + 1;
        part.commands = input.commands.to_vec();
        part.share = share;
        parts.push(part);
    }
    parts
}

fn group_parts(input: &SplitInput<'_>, source: &dyn Source) -> Vec<Part> {
    let tests: BTreeSet<&String> = input.tests.iter().chain(&input.task.tests).collect();
    let each = tests.iter().map(|test| Part {
        tests: vec![(*test).clone()],
        targets: file_of(&test_named(test), source).into_iter().collect(),
        ..Part::default()
    });
    let each: Vec<Part> = each.collect();
    let files: Vec<Part> = each
        .chunk_by(|one, other| !one.targets.is_empty() && one.targets == other.targets)
        .map(merge_parts)
        .collect();
    if files.len() > 1 {
        return files;
    }
    if each.len() > 1 {
        return each;
    }
    let named = input.task.targets.iter().filter_map(|path| RepoPath::new(path).ok());
    let targets: BTreeSet<RepoPath> = input.targets.iter().cloned().chain(named).collect();
    if targets.len() > 1 {
        let parts = targets.into_iter().map(|target| Part {
            targets: vec![target],
            ..Part::default()
        });
        return parts.collect();
    }
    let parts = input.task.criteria.iter().map(|criterion| Part {
        criteria: vec![criterion.clone()],
        targets: targets.iter().cloned().collect(),
        ..Part::default()
    });
    parts.collect()
}

fn test_named(id: &str) -> FailedTest {
    FailedTest {
        id: id.to_owned(),
        ..FailedTest::default()
    }
}

// No more than there may be: neighbors go together.
fn join_parts(parts: &[Part]) -> Vec<Part> {
    let per_part = parts.len().div_ceil(MAX_PARTS).max(1);
    parts.chunks(per_part).map(merge_parts).collect()
}

fn merge_parts(parts: &[Part]) -> Part {
    let mut all = Part::default();
    for part in parts {
        all.criteria.extend(part.criteria.iter().cloned());
        all.tests.extend(part.tests.iter().cloned());
        all.targets.extend(part.targets.iter().cloned());
    }
    all.targets.sort();
    all.targets.dedup();
    all.title = part_title(&all);
    all
}

fn part_title(part: &Part) -> String {
    match (part.tests.as_slice(), part.criteria.as_slice()) {
        ([first, ..], _) => format!("Make {first} pass{}", and_more(part.tests.len())),
        ([], [first, ..]) => format!("{first}{}", and_more(part.criteria.len())),
        ([], []) => {
            let files: Vec<&str> = part.targets.iter().map(RepoPath::as_str).collect();
            format!("Repair {}", files.join(", "))
        }
    }
}

fn and_more(count: usize) -> String {
    match count {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    }
}

// A criterion goes to the parts whose files it names; one that names none is for all.
fn share_criteria(criteria: &[String], parts: &mut [Part]) {
    if parts.iter().any(|part| !part.criteria.is_empty()) {
        return;
    }
    for criterion in criteria {
        let is_for_all = !parts.iter().any(|part| names_target(part, criterion));
        for part in parts.iter_mut().filter(|part| is_for_all || names_target(part, criterion)) {
            part.criteria.push(criterion.clone());
        }
    }
}

fn names_target(part: &Part, criterion: &str) -> bool {
    let mut targets = part.targets.iter();
    targets.any(|target| criterion.contains(target.as_str()))
}

// Whether a part imports what another is about.
fn uses(part: &Part, other: &Part, source: &dyn Source) -> bool {
    // A part uses files up to two imports away.
    let mut nodes = Graph::new(source).imported(&part.targets, 2, false).nodes.into_iter();
    nodes.any(|node| other.targets.contains(&node.path) && !part.targets.contains(&node.path))
}

impl Session<'_> {
    /// Splits a task and runs its parts in turn on one state, with shares of the remaining budget.
    pub(super) fn split(
        &mut self,
        timed_out: bool,
        policy: &Policy,
        history: &History,
        task: Option<&Task>,
    ) -> Result<SplitEnd, RepairError> {
        let kinds: [fn(SplitEvent) -> EventKind; 3] = if timed_out {
            [
                EventKind::TimeoutAutoSplitStarted,
                EventKind::TimeoutAutoSplitSuccess,
                EventKind::TimeoutAutoSplitFailed,
            ]
        } else {
            [
                EventKind::ComplexitySplitStarted,
                EventKind::ComplexitySplitSuccess,
                EventKind::ComplexitySplitFailed,
            ]
        };
        let [started, success, failed] = kinds;
        let mut event = SplitEvent {
            task: self.stage.task_ids(),
            ..SplitEvent::default()
        };
        self.stage.event(started(event.clone()))?;
        let task = task.cloned().unwrap_or_default();
        let files = self.seen.diagnosis.iter().flat_map(|found| &found.files);
        let targets: Vec<RepoPath> = files.filter_map(MentionedFile::repo_path).collect();
        let input = SplitInput {
            task: &task,
            tests: last_failing(history).map_or(&[], |failure| &failure.failing_tests),
            targets: &targets,
            commands: &self.asked.commands.lines,
        };
        let parts = split(&input, &self.stage.place.source()?);
        self.stage.journal.write_json("split.json", &parts)?;
        if parts.is_empty() {
            let reason = "there are not two tests, files or criteria to split by".to_owned();
            event.error = Some(reason.clone());
            self.stage.event(failed(event))?;
            return Ok(SplitEnd::Failed(reason));
        }
        event.sub_issues_count = Some(parts.len());
        self.stage.event(success(event))?;
        let parts = self.run_parts(&parts, &task, policy, history)?;
        Ok(SplitEnd::Ran(parts))
    }

    // Until one of them fixes it all, the limits are reached, or it is stopped.
    fn run_parts(
        &mut self,
        planned: &[Part],
        task: &Task,
        policy: &Policy,
        history: &History,
    ) -> Result<PartsRun, RepairError> {
        let from = self.seen.attempts.len();
        let started = self.stage.journal.seconds();
        let mut parts = PartsRun {
            passed: false,
            ran: 0,
            reason: StopReason::BudgetExhausted,
            left: None,
        };
        for part in planned {
            let since = self.seen.attempts.get(from..).unwrap_or_default();
            let seconds = history.seconds + self.stage.journal.seconds() - started;
            let spent = Spent::add_up(history.attempts.iter().chain(since), seconds);
            let left = planned.len() - parts.ran;
            match spent.share(policy, left as u32, planned.len() as u32) {
                Ok(share) => parts.reason = self.run_part(part, task, &share, history)?,
                Err(why) => {
                    parts.left = Some((left, why));
                    break;
                }
            }
            parts.ran += 1;
            let mut proofs = self.seen.attempts.iter().filter_map(|a| a.proof.as_ref());
            if proofs.any(|proof| proof.proven) {
                (parts.passed, parts.reason) = (true, StopReason::Fixed);
                break;
            }
            if self.stage.interrupted || self.stage.stop.requested() {
                break;
            }
        }
        Ok(parts)
    }

    // One part, as a task of its own on what those before it left.
    fn run_part(
        &mut self,
        part: &Part,
        task: &Task,
        share: &Policy,
        history: &History,
    ) -> Result<StopReason, RepairError> {
        let number = part.number.to_string();
        self.stage.event(EventKind::PartStarted {
            number: number.clone(),
            title: part.title.clone(),
            tests: part.tests.clone(),
            criteria: part.criteria.clone(),
        })?;
        let at = self.seen.parts.len();
        self.seen.parts.push(PartResult {
            number: number.clone(),
            title: part.title.clone(),
            depends_on: part.depends_on.iter().map(ToString::to_string).collect(),
            status: None,
        });
        let standing = self.seen.failing_now(history);
        let mut own = History {
            baseline: standing.clone(),
            repeated: standing,
            heals: Some(0),
            ..History::default()
        };
        let task = Task {
            title: part.title.clone(),
            whole: Some(task.title.clone()),
            criteria: part.criteria.clone(),
            methods: Vec::new(),
            targets: part.targets.iter().map(ToString::to_string).collect(),
            tests: part.tests.clone(),
            ..task.clone()
        };
        let end = self.drive_loop(share, &mut own, Some(&task), &part.tests)?;
        self.seen.parts[at].status = Some(end.status);
        self.stage.event(EventKind::PartEnded {
            number,
            status: end.status,
            why: end.message,
        })?;
        Ok(end.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PARTS, SplitInput, split};
    use crate::model::RepoPath;
    use crate::repair::task::Task;
    use crate::source::Memory;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn parts(
        files: &[(&str, &str)],
        task: &Task,
        tests: &[&str],
        targets: &[&str],
    ) -> Vec<super::Part> {
        let source = Memory::named(files.iter().copied());
        let tests: Vec<String> = tests.iter().map(|test| (*test).to_owned()).collect();
        let targets: Vec<RepoPath> = targets.iter().map(|target| path(target)).collect();
        let input = SplitInput {
            task,
            tests: &tests,
            targets: &targets,
            commands: &[],
        };
        split(&input, &source)
    }

    #[test]
    fn groups_tests_by_file_in_import_order() {
        let files = [
            (
                "tests/test_a.py",
                "from lib import b_case\nimport tests.test_b\n",
            ),
            ("tests/test_b.py", ""),
        ];
        let tests = [
            "tests/test_a.py::test_1", "tests/test_b.py::test_2", "tests/test_a.py::test_3",
        ];
        let parts = parts(&files, &Task::default(), &tests, &[]);
        let titles: Vec<_> = parts.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "Make tests/test_b.py::test_2 pass",
                "Make tests/test_a.py::test_1 pass and 1 more"
            ]
        );
        assert_eq!(parts[1].depends_on, [1]);
        assert!((parts[0].share - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn splits_by_targets_then_criteria() {
        let files = [("a.ts", "import './b';\n"), ("b.ts", "")];
        let by_target = parts(&files, &Task::default(), &[], &["a.ts", "b.ts"]);
        let order: Vec<_> = by_target.iter().flat_map(|part| &part.targets).collect();
        assert_eq!(order, [&path("b.ts"), &path("a.ts")]);
        let task = Task {
            criteria: vec!["one".into(), "two".into()],
            ..Task::default()
        };
        assert_eq!(parts(&files, &task, &[], &[]).len(), 2);
        assert!(parts(&files, &Task::default(), &["t"], &["a.ts"]).is_empty());
    }

    #[test]
    fn parts_share_all_criteria() {
        let files = [("a.py", ""), ("b.py", "")];
        let task = Task {
            criteria: vec![
                "`a.py` adds".to_owned(),
                "`b.py` subtracts".to_owned(),
                "both are documented".to_owned(),
            ],
            ..Task::default()
        };
        let by_file = parts(&files, &task, &[], &["a.py", "b.py"]);
        let rows: Vec<_> = by_file
            .iter()
            .map(|part| (part.title.as_str(), part.criteria.join("; ")))
            .collect();
        assert_eq!(
            rows,
            [
                ("Repair a.py", "`a.py` adds; both are documented".to_owned()),
                (
                    "Repair b.py",
                    "`b.py` subtracts; both are documented".to_owned()
                ),
            ]
        );
        let many = Task {
            criteria: (1..=7).map(|at| format!("criterion {at}")).collect(),
            ..Task::default()
        };
        let by_criterion = parts(&[], &many, &[], &[]);
        let titles: Vec<_> = by_criterion.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "criterion 1 and 1 more", "criterion 3 and 1 more", "criterion 5 and 1 more",
                "criterion 7"
            ]
        );
        let all: usize = by_criterion.iter().map(|part| part.criteria.len()).sum();
        assert_eq!(all, 7);
        let files = [("t/a.py", ""), ("t/b.py", "")];
        let names: Vec<String> = (0..6)
            .map(|at| format!("t/{}.py::test_{at}", if at < 3 { "a" } else { "b" }))
            .collect();
        let tests: Vec<&str> = names.iter().map(String::as_str).collect();
        let by_test = parts(&files, &Task::default(), &tests, &[]);
        let titles: Vec<_> = by_test.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "Make t/a.py::test_0 pass and 2 more",
                "Make t/b.py::test_3 pass and 2 more"
            ]
        );
    }

    #[test]
    fn limits_number_of_parts() {
        let names: Vec<String> = (0..23).map(|n| format!("case {n:02}")).collect();
        let tests: Vec<&str> = names.iter().map(String::as_str).collect();
        let parts = parts(&[], &Task::default(), &tests, &[]);
        assert_eq!(parts.len(), MAX_PARTS);
        assert_eq!(parts.iter().map(|part| part.tests.len()).sum::<usize>(), 23);
    }
}
