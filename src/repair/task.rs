//! A task beyond passing commands, and the estimate of its size.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize};

/// What is wanted beyond "make the commands pass".
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Task {
    /// What the task is called in the tracker it came from.
    #[serde(alias = "feature_id", deserialize_with = "word")]
    pub id: Option<String>,
    /// The issue it belongs to.
    #[serde(alias = "issue_number", deserialize_with = "word")]
    pub issue: Option<String>,
    /// The title of the task that this is a part of; never read from a file.
    #[serde(skip)]
    pub whole: Option<String>,
    /// One line.
    pub title: String,
    /// Everything else that was said.
    pub description: String,
    /// What must hold in the end, one sentence each.
    pub criteria: Vec<String>,
    /// Functions or methods to write or change.
    pub methods: Vec<String>,
    /// Files to change.
    pub targets: Vec<String>,
    /// Tests that must pass.
    pub tests: Vec<String>,
}

impl Task {
    /// Reads a task: JSON, or Markdown with a heading, lines `Issue:` and `Task:`, prose, list items
    /// as criteria and names in backticks with parentheses as methods. Never fails; a text is at least a description.
    pub fn read(text: &str) -> Self {
        if text.trim_start().starts_with('{')
            && let Ok(task) = serde_json::from_str(text)
        {
            return task;
        }
        let mut task = Self::default();
        for line in text.lines() {
            let trimmed = line.trim();
            if let Some(title) = trimmed.strip_prefix('#')
                && task.title.is_empty()
            {
                title.trim_start_matches('#').trim().clone_into(&mut task.title);
            }
            if let Some((label, value)) = trimmed.split_once(':') {
                let id = match label.to_ascii_lowercase().as_str() {
                    "issue" => Some(&mut task.issue),
                    "task" | "feature" => Some(&mut task.id),
                    _ => None,
                };
                let value = value.trim().trim_start_matches('#');
                if let Some(id) = id.filter(|id| id.is_none() && !value.is_empty()) {
                    *id = Some(value.to_owned());
                }
            }
            if let Some(item) = ITEM.captures(trimmed).and_then(|found| found.get(1)) {
                task.criteria.push(item.as_str().to_owned());
            }
            for name in trimmed.split('`').skip(1).step_by(2) {
                if name.ends_with(')') && name.contains('(') {
                    push_new(&mut task.methods, name);
                } else if name.contains("::") || name.contains(" > ") {
                    push_new(&mut task.tests, name);
                } else if name.contains('.') && !name.contains(' ') {
                    push_new(&mut task.targets, name);
                }
            }
        }
        text.trim().clone_into(&mut task.description);
        task
    }

    /// Returns the turns that an agent may need: `5 + criteria + 1.5 × methods`, rounded down.
    pub fn estimate_turns(&self) -> u32 {
        let methods = count_of(&self.methods);
        5 + count_of(&self.criteria) + methods + methods / 2
    }
}

fn count_of(items: &[String]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX / 4)
}

// An item of a list in Markdown, with a box or without.
#[expect(clippy::expect_used, reason = "a constant")]
static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[-*]|\d+[.)]) (?:\[[ x]\] *)?(.+)$").expect("the pattern is valid")
});

// A tracker's names are words or numbers.
fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

fn push_new(list: &mut Vec<String>, item: &str) {
    if !list.iter().any(|known| known == item) {
        list.push(item.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::Task;

    #[test]
    fn reads_task_from_markdown() {
        let task = Task::read(
            "# Make totals right\nThe sum in `src/total.py` is wrong; see `add(a, b)`.\n\
             - [ ] sums are exact\n1. empty is 0\n- `tests/test_total.py::test_empty` passes\n",
        );
        assert_eq!(task.title, "Make totals right");
        assert_eq!(task.criteria.len(), 3);
        assert_eq!(task.methods, ["add(a, b)"]);
        assert_eq!(task.targets, ["src/total.py"]);
        assert_eq!(task.tests, ["tests/test_total.py::test_empty"]);
    }

    #[test]
    fn reads_task_from_json_or_text() {
        let task = Task::read(r#"{"title": "t", "criteria": ["a"], "unknown": 1}"#);
        assert_eq!((task.title.as_str(), task.criteria.len()), ("t", 1));
        assert_eq!(Task::read("{ not json").description, "{ not json");
    }

    #[test]
    fn task_json_uses_known_names() {
        let ids = |text| {
            let task = Task::read(text);
            (task.id, task.issue)
        };
        let both = (Some("F-7".to_owned()), Some("12".to_owned()));
        assert_eq!(ids(r#"{"title": "t", "id": "F-7", "issue": 12}"#), both);
        assert_eq!(ids(r#"{"feature_id": "F-7", "issue_number": "12"}"#), both);
        assert_eq!(ids("# T\n\nIssue: #12\nTask: F-7\n"), both);
        assert_eq!(ids("# T\n"), (None, None));
    }

    #[test]
    fn estimates_are_the_formula() {
        let sized = |criteria: usize, methods: usize| Task {
            criteria: vec![String::new(); criteria],
            methods: vec![String::new(); methods],
            ..Task::default()
        };
        for (criteria, methods, turns) in [(0, 0, 5), (6, 6, 20), (7, 6, 21), (3, 3, 12)] {
            assert_eq!(sized(criteria, methods).estimate_turns(), turns);
        }
    }
}
