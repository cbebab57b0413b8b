use serde_json::{Map, Value};

use crate::policy::{Redactor, is_secret_name};

/// A configuration as it may be shown: values that are secrets, or whose names say so, are masked.
#[must_use]
pub fn masked(document: &Map<String, Value>, redactor: &Redactor) -> Map<String, Value> {
    let rows = document.iter();
    rows.map(|(name, value)| (name.clone(), mask(name, value, redactor)))
        .collect()
}

fn mask(name: &str, value: &Value, redactor: &Redactor) -> Value {
    match value {
        Value::Object(inner) => Value::Object(masked(inner, redactor)),
        Value::Array(items) => {
            let items = items.iter().map(|item| mask("", item, redactor));
            Value::Array(items.collect())
        }
        Value::String(text) => {
            let reference = text
                .trim()
                .strip_prefix("${")
                .is_some_and(|it| it.ends_with('}'));
            let found = |line: String| !redactor.redact(&line).findings.is_empty();
            if reference {
                value.clone()
            } else if is_secret_name(name) || found(format!("{name}={text}")) {
                Value::String("[REDACTED]".to_owned())
            } else {
                Value::String(redactor.redact(text).text.into_owned())
            }
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::masked;
    use crate::policy::Redactor;

    #[test]
    fn secrets_are_masked_by_name_and_by_value() {
        let document = json!({"a": {"command": "x", "args": ["-v", "ghp_0123456789abcdefABCDEF0123456789abcd"],
            "env": {"MY_TOKEN": "short", "API_KEY": "${KEY}", "MODE": "fast"},
            "headers": {"Authorization": "Bearer abc"}}});
        let Value::Object(document) = document else {
            unreachable!()
        };
        let shown = Value::Object(masked(&document, &Redactor::new([]))).to_string();
        for secret in ["short", "ghp_", "Bearer abc"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains("${KEY}") && shown.contains("fast") && shown.contains("\"-v\""));
    }
}
