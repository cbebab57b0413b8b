use std::ops::Range;

/// Where the value of a key of an object stands, in a text that is known to be JSON. `path` leads
/// from the outermost object inward.
#[must_use]
pub fn span_of(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, 0);
    for wanted in path {
        at = enter(bytes, at, wanted)?;
    }
    Some(at..end_of(bytes, at)?)
}

// The start of the value behind a key of the object that starts at `at`.
fn enter(bytes: &[u8], at: usize, wanted: &str) -> Option<usize> {
    let mut at = skip_space(bytes, at.checked_add(1)?);
    let mut found = None;
    while bytes.get(at) == Some(&b'"') {
        let end = end_of(bytes, at)?;
        let key: String = serde_json::from_slice(bytes.get(at..end)?).ok()?;
        let colon = skip_space(bytes, end);
        let value = skip_space(bytes, colon + 1);
        // As in parsers, the last of equal keys counts.
        if key == wanted {
            found = Some(value);
        }
        at = skip_space(bytes, end_of(bytes, value)?);
        if bytes.get(at) != Some(&b',') {
            break;
        }
        at = skip_space(bytes, at + 1);
    }
    found
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    let space = bytes
        .iter()
        .skip(from)
        .take_while(|it| it.is_ascii_whitespace());
    from + space.count()
}

fn end_of(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at += 1;
                while bytes.get(at)? != &b'"' {
                    at += if bytes.get(at) == Some(&b'\\') { 2 } else { 1 };
                }
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            byte if depth > 0 || b":,".contains(byte) => at += 1,
            _ => {
                let plain = |it: &&u8| !b",]} \t\r\n".contains(it);
                at += bytes.iter().skip(at).take_while(plain).count().max(1);
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::span_of;

    #[test]
    fn values_are_found_where_they_stand() {
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
