use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize};

use super::plan::MAX_ESTIMATED_TURNS;

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

/// How large a task is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Turns of an agent.
    pub estimated_turns: u32,
    /// 0 to 1.
    pub complexity_score: f64,
    /// Whether it should be split.
    pub needs_split: bool,
    /// 0 to 1.
    pub confidence: f64,
    /// What it can be split by; empty when it need not be.
    pub split_suggestions: Vec<String>,
    /// Why.
    pub reasoning: String,
}

impl Task {
    /// Reads a task: JSON, or Markdown with a heading, lines `Issue:` and `Task:`, prose, list items
    /// as criteria and names in backticks with parentheses as methods. Never fails; a text is at least a description.
    #[must_use]
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
                title
                    .trim_start_matches('#')
                    .trim()
                    .clone_into(&mut task.title);
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

    /// `5 + criteria + 1.5 × methods`, rounded down.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let count = |items: &[String]| u32::try_from(items.len()).unwrap_or(u32::MAX / 4);
        let (criteria, methods) = (count(&self.criteria), count(&self.methods));
        let turns = 5 + criteria + methods + methods / 2;
        Estimate {
            estimated_turns: turns,
            complexity_score: (f64::from(turns) / 30.0 * 100.0).round().min(100.0) / 100.0,
            needs_split: turns > MAX_ESTIMATED_TURNS,
            split_suggestions: if turns > MAX_ESTIMATED_TURNS {
                suggest_splits()
            } else {
                Vec::new()
            },
            confidence: 0.7,
            reasoning: format!(
                "5 and {criteria} criteria and 1.5 times {methods} methods; split above \
                 {MAX_ESTIMATED_TURNS}"
            ),
        }
    }
}

impl Estimate {
    /// What a timeout of the agent says about the size of a task.
    #[must_use]
    pub fn after_timeout() -> Self {
        Self {
            estimated_turns: 30,
            complexity_score: 0.9,
            needs_split: true,
            split_suggestions: suggest_splits(),
            confidence: 0.95,
            reasoning: "Coder timeout triggered auto-split".to_owned(),
        }
    }
}

// An item of a list in Markdown, with a box or without.
#[expect(clippy::expect_used, reason = "a constant")]
static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[-*]|\d+[.)]) (?:\[[ x]\] *)?(.+)$").expect("the pattern is valid")
});

fn suggest_splits() -> Vec<String> {
    let suggestions = [
        "by the tests that fail, or the files they are in",
        "by the criteria of the task",
    ];
    suggestions.map(str::to_owned).to_vec()
}

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
    use super::{Estimate, Task};

    #[test]
    fn markdown_is_read_for_criteria_methods_files_and_tests() {
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
    fn json_is_read_as_it_is_and_anything_else_is_a_description() {
        let task = Task::read(r#"{"title": "t", "criteria": ["a"], "unknown": 1}"#);
        assert_eq!((task.title.as_str(), task.criteria.len()), ("t", 1));
        assert_eq!(Task::read("{ not json").description, "{ not json");
    }

    #[test]
    fn a_task_keeps_the_names_it_has_elsewhere() {
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
        // 5 + criteria + int(1.5 × methods), split above 20.
        let sized = |criteria: usize, methods: usize| Task {
            criteria: vec![String::new(); criteria],
            methods: vec![String::new(); methods],
            ..Task::default()
        };
        for (criteria, methods, turns, split) in [
            (0, 0, 5, false),
            (6, 6, 20, false),
            (7, 6, 21, true),
            (3, 3, 12, false),
        ] {
            let estimate = sized(criteria, methods).estimate();
            assert_eq!(
                (estimate.estimated_turns, estimate.needs_split),
                (turns, split)
            );
        }
        let after = Estimate::after_timeout();
        assert_eq!((after.estimated_turns, after.needs_split), (30, true));
        assert_eq!(after.split_suggestions.len(), 2);
        assert!(sized(6, 6).estimate().split_suggestions.is_empty());
        assert!((after.complexity_score - 0.9).abs() < f64::EPSILON);
        assert!((after.confidence - 0.95).abs() < f64::EPSILON);
        assert_eq!(after.reasoning, "Coder timeout triggered auto-split");
    }
}
