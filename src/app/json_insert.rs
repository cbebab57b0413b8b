use crate::heal::span_of;

/// Puts a member into an object of a JSON text, which may have comments and commas at an end, and
/// leaves every other byte as it is. `path` leads to the object from the outermost one; objects on the
/// way that are missing are made. `None` when the text is not such JSON; the text itself when the
/// member is there.
pub(super) fn with_member(text: &str, path: &[&str], name: &str, value: &str) -> Option<String> {
    let plain = plain(text)?;
    let whole: serde_json::Value = serde_json::from_str(&plain).ok()?;
    let mut at = plain.len() - plain.trim_start().len();
    let mut node = &whole;
    for (depth, key) in path.iter().enumerate() {
        let Some(next) = node.as_object()?.get(*key) else {
            let inner = path.get(depth + 1..)?.iter().rev();
            let made = inner.fold(format!("{{{name:?}: {value}}}"), |made, key| {
                format!("{{{key:?}: {made}}}")
            });
            return insert(text, at, &format!("{key:?}: {made}"));
        };
        at = span_of(&plain, path.get(..=depth)?)?.start;
        node = next;
    }
    if node.as_object()?.contains_key(name) {
        return Some(text.to_owned());
    }
    insert(text, at, &format!("{name:?}: {value}"))
}

/// Takes a member out of the object at `at`, and leaves every other byte as it is. `None` when the text is
/// no such JSON; the text itself when the member is not there.
pub(super) fn without_member(text: &str, at: &str, name: &str) -> Option<String> {
    let plain = plain(text)?;
    let whole: serde_json::Value = serde_json::from_str(&plain).ok()?;
    if whole
        .as_object()?
        .get(at)
        .and_then(|it| it.get(name))
        .is_none()
    {
        return Some(text.to_owned());
    }
    let value = span_of(&plain, &[at, name])?;
    let key = plain.get(..value.start)?.rfind(&format!("{name:?}"))?;
    let before = plain.get(..key)?.trim_end().len();
    let after = plain.get(value.end..)?;
    let comma = after.trim_start().starts_with(',');
    let end = if comma {
        value.end + after.find(',')? + 1
    } else {
        value.end
    };
    // Of the last member the comma before it goes.
    let start = match plain.get(..before)? {
        head if !comma && head.ends_with(',') => before - 1,
        _ => before,
    };
    let made = format!("{}{}", text.get(..start)?, text.get(end..)?);
    let read: serde_json::Value = serde_json::from_str(&self::plain(&made)?).ok()?;
    read[at].get(name).is_none().then_some(made)
}

// After the bracket at `at`, before what stands in it.
fn insert(text: &str, at: usize, what: &str) -> Option<String> {
    let (head, rest) = text.split_at(at + 1);
    let empty = plain(text)?
        .get(at + 1..)?
        .trim_start()
        .starts_with(['}', ']']);
    let sign = if empty { "" } else { "," };
    let lead = head.rsplit('\n').next().unwrap_or_default();
    let indent: String = lead.chars().take_while(|it| it.is_whitespace()).collect();
    let end = if empty {
        format!("\n{indent}")
    } else {
        String::new()
    };
    let made = format!(
        "{head}\n{indent}  {what}{sign}{end}{}",
        if empty { rest.trim_start() } else { rest }
    );
    serde_json::from_str::<serde_json::Value>(&plain(&made)?).ok()?;
    Some(made)
}

// The text with blanks in place of comments and of commas before a closing bracket, so that each place
// in it is the same place in the text.
fn plain(text: &str) -> Option<String> {
    let mut plain = text.to_owned();
    json_strip_comments::strip(&mut plain).ok()?;
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_added_and_the_rest_stays() {
        for text in ["{ /* no end }", "{\"a\": }", "[", ""] {
            assert_eq!(with_member(text, &[], "a", "1"), None, "{text}");
        }
        for (text, expected) in [
            ("{}", r#"{"s": {"m": {"c": 1}}}"#),
            (
                r#"{"x": [1, "}"]}"#,
                r#"{"x": [1, "}"], "s": {"m": {"c": 1}}}"#,
            ),
            (r#"{"s": {}}"#, r#"{"s": {"m": {"c": 1}}}"#),
            (
                r#"{"a": "s", "s": {"k": {"s": 2}}}"#,
                r#"{"a": "s", "s": {"m": {"c": 1}, "k": {"s": 2}}}"#,
            ),
            (r#"{"s": {"m": 3}}"#, r#"{"s": {"m": 3}}"#),
        ] {
            let made = with_member(text, &["s"], "m", r#"{"c": 1}"#).unwrap();
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(read(&made), read(expected), "{made}");
            let again = with_member(&made, &["s"], "m", r#"{"c": 1}"#).unwrap();
            assert_eq!(again, made);
        }
    }

    #[test]
    fn comments_and_last_commas_stay() {
        for (text, expected) in [
            ("{ // ours\n}\n", "{\n  \"a\": 1\n// ours\n}\n"),
            (
                "// top {\n{\n  /* b, } */ \"b\": \"// no comment,]\", // ä\n}",
                "// top {\n{\n  \"a\": 1,\n  /* b, } */ \"b\": \"// no comment,]\", // ä\n}",
            ),
        ] {
            let made = with_member(text, &[], "a", "1").unwrap();
            assert_eq!(made, expected);
            assert_eq!(with_member(&made, &[], "a", "1").as_ref(), Some(&made));
        }
    }

    #[test]
    fn without_member_restores_the_text() {
        for text in [
            "{}",
            "{\"x\": 1}",
            "{\n  // ours\n  \"s\": {\"k\": {\"m\": 2}} // end\n}\n",
            "{\"a\": 1,\n  \"s\": {\"k\": 1,},\n}",
        ] {
            let made = with_member(text, &["s"], "m", r#"{"c": 1}"#).unwrap();
            let back = without_member(&made, "s", "m").unwrap();
            let read = |text: &str| -> serde_json::Value {
                serde_json::from_str(&plain(text).unwrap()).unwrap()
            };
            let mut expected = read(text);
            expected
                .as_object_mut()
                .unwrap()
                .entry("s")
                .or_insert_with(|| serde_json::json!({}));
            assert_eq!(read(&back), expected, "{back}");
            assert_eq!(without_member(&back, "s", "m").as_ref(), Some(&back));
        }
        let last = "{\"s\": {\"k\": 1, \"m\": 2}}";
        assert_eq!(
            without_member(last, "s", "m").unwrap(),
            "{\"s\": {\"k\": 1}}"
        );
    }
}
