use std::collections::HashSet;

use serde_json::{Map, Value};

/// What a transcript says of its own turns.
#[derive(Debug, Default)]
pub(super) struct Turns {
    failed: HashSet<String>,
    /// Whether the last reply was cut off.
    pub(super) cut: bool,
}

impl Turns {
    /// Looks through a value, no deeper than `deepest`.
    pub(super) fn of(value: &Value, deepest: usize) -> Self {
        let mut turns = Self::default();
        turns.look(value, deepest);
        turns
    }

    /// As [`Turns::of`], for one more value.
    pub(super) fn look(&mut self, value: &Value, deepest: usize) {
        let Some(deeper) = deepest.checked_sub(1) else {
            return;
        };
        match value {
            Value::Array(list) => list.iter().for_each(|one| self.look(one, deeper)),
            Value::Object(fields) => {
                let id = word(fields, "tool_use_id");
                if let Some(id) = id.filter(|_| flag(fields, "is_error")) {
                    self.failed.insert(id.to_owned());
                }
                let reasons = ["stop_reason", "finish_reason", "finishReason"];
                if let Some(reason) = reasons.iter().find_map(|key| word(fields, key)) {
                    self.cut = is_cut(reason);
                }
                fields.values().for_each(|one| self.look(one, deeper));
            }
            _ => {}
        }
    }

    /// Whether a call failed.
    pub(super) fn tells_of_failures(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Whether an object is no wish of the one who replies: what others said, what a tool gave back, and a
    /// call that failed.
    pub(super) fn are_others(&self, fields: &Map<String, Value>) -> bool {
        let role = word(fields, "role");
        let others = ["user", "system", "developer", "tool", "function"];
        let gave = [
            "tool_result",
            "function_call_output",
            "custom_tool_call_output",
        ];
        let state = fields.get("state").and_then(Value::as_object);
        role.is_some_and(|it| others.contains(&it))
            || word(fields, "type").is_some_and(|it| gave.contains(&it))
            || word(fields, "id").is_some_and(|it| self.failed.contains(it))
            || state.and_then(|it| word(it, "status")) == Some("error")
    }
}

fn word<'v>(fields: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    fields.get(key).and_then(Value::as_str)
}

fn flag(fields: &Map<String, Value>, key: &str) -> bool {
    fields.get(key).and_then(Value::as_bool) == Some(true)
}

// Whether this reason to stop says that the reply was cut off.
fn is_cut(reason: &str) -> bool {
    matches!(
        reason,
        "max_tokens" | "length" | "MAX_TOKENS" | "model_context_window_exceeded"
    )
}
