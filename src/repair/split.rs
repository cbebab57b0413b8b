use std::collections::BTreeMap;

use serde::Serialize;

use super::task::{Estimate, Task};
use crate::graph::closure;
use crate::model::RepoPath;
use crate::source::Source;

/// A task in parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Split {
    /// What was known of its size.
    pub estimate: Estimate,
    /// The parts in the order in which they are to be done; empty when it cannot be split.
    pub parts: Vec<Part>,
    /// Why there are none; empty otherwise.
    pub reason: String,
}

/// One part of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Its part of what is left of the budget, 0 to 1.
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

/// Splits by failing test, else by target, else by criterion; a file's part comes before the parts
/// of its importers.
#[must_use]
pub fn split(input: &SplitInput<'_>, source: &dyn Source, estimate: Estimate) -> Split {
    let groups = groups(input, source);
    if groups.len() < 2 {
        return Split {
            estimate,
            parts: Vec::new(),
            reason: "there are not two tests, files or criteria to split by".to_owned(),
        };
    }
    let mut groups = in_order(joined(&groups), source);
    hand_out(&input.task.criteria, &mut groups);
    let share = 1.0 / groups.len() as f64;
    let reach: Vec<Vec<RepoPath>> = groups.iter().map(|it| reach(it, source)).collect();
    let parts = groups
        .iter()
        .enumerate()
        .map(|(at, group)| Part {
            number: at + 1,
            title: group.title(),
            criteria: group.criteria.clone(),
            tests: group.tests.clone(),
            targets: group.targets.clone(),
            commands: input.commands.to_vec(),
            depends_on: (0..at)
                .filter(|before| uses(&reach, at, groups.get(*before)))
                .map(|before| before + 1)
                .collect(),
            share,
        })
        .collect();
    Split {
        estimate,
        parts,
        reason: String::new(),
    }
}

// A criterion goes to the parts whose files or tests it names; one that names none is for all.
fn hand_out(criteria: &[String], groups: &mut [Group]) {
    if groups.iter().any(|group| !group.criteria.is_empty()) {
        return;
    }
    for criterion in criteria {
        let named: Vec<bool> = groups.iter().map(|it| it.is_named_in(criterion)).collect();
        let none = !named.contains(&true);
        for (group, named) in groups.iter_mut().zip(named) {
            if named || none {
                group.criteria.push(criterion.clone());
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Group {
    name: String,
    criteria: Vec<String>,
    tests: Vec<String>,
    targets: Vec<RepoPath>,
    /// Whether it was made from its criteria, rather than given them.
    by_criteria: bool,
}

impl Group {
    fn is_named_in(&self, criterion: &str) -> bool {
        let files = self.targets.iter().map(RepoPath::as_str);
        let tests = self.tests.iter().map(String::as_str);
        // The last part of a test's name is how people call it.
        let own = self
            .tests
            .iter()
            .filter_map(|test| test.rsplit([':', '>', '.']).next().map(str::trim));
        files
            .chain(tests)
            .chain(own)
            .any(|name| name.len() > 2 && criterion.contains(name))
    }

    fn title(&self) -> String {
        let more = |count: usize, what: &str| match count {
            0 => String::new(),
            count => format!(" and {count} more{what}"),
        };
        let others = self.targets.len().saturating_sub(1);
        match (self.tests.as_slice(), self.criteria.as_slice()) {
            ([], [first, rest @ ..]) if self.by_criteria => {
                format!("{first}{}", more(rest.len(), ""))
            }
            ([], _) => {
                let files: Vec<&str> = self.targets.iter().map(RepoPath::as_str).collect();
                format!("Repair {}", files.join(", "))
            }
            ([test], _) => format!("Make {test} pass"),
            (tests, _) => format!(
                "Make {} tests of {}{} pass",
                tests.len(),
                self.name,
                more(others, if others == 1 { " file" } else { " files" })
            ),
        }
    }
}

fn groups(input: &SplitInput<'_>, source: &dyn Source) -> Vec<Group> {
    let tests: Vec<&String> = input.tests.iter().chain(&input.task.tests).collect();
    let mut by_file: BTreeMap<String, Group> = BTreeMap::new();
    for test in &tests {
        let file = file_of(test, source);
        let name = file
            .as_ref()
            .map_or_else(|| (*test).clone(), ToString::to_string);
        let group = by_file.entry(name.clone()).or_default();
        group.name = name;
        if !group.tests.contains(test) {
            group.tests.push((*test).clone());
        }
        group.targets = file.into_iter().collect();
    }
    if by_file.len() > 1 {
        return by_file.into_values().collect();
    }
    if let Some(only) = by_file.values().next()
        && only.tests.len() > 1
    {
        return only
            .tests
            .iter()
            .map(|test| Group {
                tests: vec![test.clone()],
                ..only.clone()
            })
            .collect();
    }
    // Of a part that has tests, the criteria may be another's.
    if input.task.whole.is_some() && !tests.is_empty() {
        return Vec::new();
    }
    let named = input
        .task
        .targets
        .iter()
        .filter_map(|it| RepoPath::new(it).ok());
    let mut targets: Vec<RepoPath> = input.targets.iter().cloned().chain(named).collect();
    targets.sort();
    targets.dedup();
    if targets.len() > 1 {
        return targets
            .into_iter()
            .map(|target| Group {
                name: target.to_string(),
                targets: vec![target],
                ..Group::default()
            })
            .collect();
    }
    input
        .task
        .criteria
        .iter()
        .map(|criterion| Group {
            name: criterion.clone(),
            criteria: vec![criterion.clone()],
            targets: targets.clone(),
            by_criteria: true,
            ..Group::default()
        })
        .collect()
}

// The file a test's name starts with, as the usual runners write it.
fn file_of(test: &str, source: &dyn Source) -> Option<RepoPath> {
    let end = ["::", " > ", " › ", ": "]
        .iter()
        .filter_map(|mark| test.find(mark))
        .min()
        .unwrap_or(test.len());
    let path = RepoPath::new(test.get(..end)?.trim()).ok()?;
    source.listing().has_file(path.as_str()).then_some(path)
}

// No more than there may be: neighbours go together.
fn joined(groups: &[Group]) -> Vec<Group> {
    let per_part = groups.len().div_ceil(MAX_PARTS);
    groups
        .chunks(per_part.max(1))
        .map(|chunk| {
            let mut all = Group::default();
            for group in chunk {
                if all.name.is_empty() {
                    all.name.clone_from(&group.name);
                }
                all.by_criteria |= group.by_criteria;
                all.criteria.extend(group.criteria.iter().cloned());
                all.tests.extend(group.tests.iter().cloned());
                all.targets.extend(group.targets.iter().cloned());
            }
            all.targets.sort();
            all.targets.dedup();
            all
        })
        .collect()
}

// Repeatedly the first group that uses none of those left; a cycle goes on in name order.
fn in_order(mut left: Vec<Group>, source: &dyn Source) -> Vec<Group> {
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let reach: Vec<Vec<RepoPath>> = left.iter().map(|it| reach(it, source)).collect();
        let free = (0..left.len()).find(|at| {
            (0..left.len()).all(|other| other == *at || !uses(&reach, *at, left.get(other)))
        });
        ordered.push(left.remove(free.unwrap_or(0)));
    }
    ordered
}

fn reach(group: &Group, source: &dyn Source) -> Vec<RepoPath> {
    closure(source, &group.targets, 2)
        .nodes
        .into_iter()
        .map(|node| node.path)
        .filter(|path| !group.targets.contains(path))
        .collect()
}

fn uses(reach: &[Vec<RepoPath>], at: usize, other: Option<&Group>) -> bool {
    let Some((reach, other)) = reach.get(at).zip(other) else {
        return false;
    };
    other.targets.iter().any(|target| reach.contains(target))
}

#[cfg(test)]
mod tests {
    use super::{MAX_PARTS, SplitInput, split};
    use crate::model::RepoPath;
    use crate::repair::task::{Estimate, Task};
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
        let tests: Vec<String> = tests.iter().map(|it| (*it).to_owned()).collect();
        let targets: Vec<RepoPath> = targets.iter().map(|it| path(it)).collect();
        let input = SplitInput {
            task,
            tests: &tests,
            targets: &targets,
            commands: &[],
        };
        split(&input, &source, Estimate::after_timeout()).parts
    }

    #[test]
    fn tests_of_one_file_stay_together_and_a_file_comes_before_its_importers() {
        let files = [
            (
                "tests/test_a.py",
                "from lib import b_case\nimport tests.test_b\n",
            ),
            ("tests/test_b.py", ""),
        ];
        let tests = [
            "tests/test_a.py::test_1",
            "tests/test_b.py::test_2",
            "tests/test_a.py::test_3",
        ];
        let parts = parts(&files, &Task::default(), &tests, &[]);
        let titles: Vec<_> = parts.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "Make tests/test_b.py::test_2 pass",
                "Make 2 tests of tests/test_a.py pass"
            ]
        );
        assert_eq!(parts[1].depends_on, [1]);
        assert!((parts[0].share - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn without_tests_targets_count_and_without_targets_criteria() {
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
    fn parts_have_titles_of_their_own_and_together_all_criteria() {
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
        let titles: Vec<_> = by_criterion.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "criterion 1 and 1 more",
                "criterion 3 and 1 more",
                "criterion 5 and 1 more",
                "criterion 7"
            ]
        );
        let all: usize = by_criterion.iter().map(|it| it.criteria.len()).sum();
        assert_eq!(all, 7);
        let files = [("t/a.py", ""), ("t/b.py", "")];
        let names: Vec<String> = (0..6)
            .map(|at| format!("t/{}.py::test_{at}", if at < 3 { "a" } else { "b" }))
            .collect();
        let tests: Vec<&str> = names.iter().map(String::as_str).collect();
        let by_test = parts(&files, &Task::default(), &tests, &[]);
        let titles: Vec<_> = by_test.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(
            titles,
            ["Make 3 tests of t/a.py pass", "Make 3 tests of t/b.py pass"]
        );
    }

    #[test]
    fn there_are_never_more_parts_than_allowed() {
        let names: Vec<String> = (0..23).map(|n| format!("case {n:02}")).collect();
        let tests: Vec<&str> = names.iter().map(String::as_str).collect();
        let parts = parts(&[], &Task::default(), &tests, &[]);
        assert_eq!(parts.len(), MAX_PARTS);
        assert_eq!(parts.iter().map(|part| part.tests.len()).sum::<usize>(), 23);
    }
}
