//! Finds a value in JSON text, so that a correction keeps comments and layout.

use std::ops::Range;

use serde::de::IgnoredAny;

/// Finds the value of a key in a text that is known to be JSON. `path` leads from the outermost
/// object inward.
pub fn span_of(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let mut at = skip_space(text, 0);
    for wanted in path {
        at = enter_key(text, at, wanted)?;
    }
    Some(at..end_of(text, at)?)
}

// Returns the start of the value behind a key of the object that starts at `at`.
fn enter_key(text: &str, at: usize, wanted: &str) -> Option<usize> {
    let mut found = None;
    let mut at = skip_space(text, at + 1);
    while text.get(at..)?.starts_with('"') {
        let end = end_of(text, at)?;
        let key: String = serde_json::from_str(text.get(at..end)?).ok()?;
        let value = skip_space(text, skip_space(text, end) + 1);
        // As in parsers, the last of equal keys counts.
        if key == wanted {
            found = Some(value);
        }
        at = skip_space(text, end_of(text, value)?);
        if !text.get(at..)?.starts_with(',') {
            break;
        }
        at = skip_space(text, at + 1);
    }
    found
}

fn skip_space(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    text.len() - rest.trim_ascii_start().len()
}

fn end_of(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(start + values.byte_offset())
}

#[cfg(test)]
mod tests {
    use super::span_of;

    #[test]
    fn finds_values_by_their_path() {
        let text = r#" {"a" : {"b":[1,{"c":"}"}], "x\"y" : -1.5 }, "b": null, "b":"\\" } "#;
        for (path, expected) in [
            (&["a", "b"][..], Some(r#"[1,{"c":"}"}]"#)),
            (&["a", "x\"y"], Some("-1.5")),
            (&["b"], Some(r#""\\""#)),
            (&["c"], None),
            (&["a", "c"], None),
        ] {
            assert_eq!(
                span_of(text, path).map(|span| &text[span]),
                expected,
                "{path:?}"
            );
        }
        assert_eq!(span_of("{", &["a"]), None);
        assert_eq!(span_of("", &["a"]), None);
    }
}
