use crate::diagnose::line::{Line, below};

// A report shows its values within so many lines.
const MOST: usize = 30;
// Characters of one value.
const LONGEST: usize = 80;

/// Adds what a test expected and got to the line that says it failed, where that line shows neither:
/// jest and playwright write the two below it, others a difference.
pub(in crate::diagnose) fn with_values(lines: &[Line<'_>], cause: usize) -> Option<String> {
    let message = lines.get(cause)?.text.trim();
    let below = || {
        below(lines, cause + 1, MOST)
            .map(str::trim)
            .take_while(|text| !text.starts_with("at ") && !text.starts_with(['●', '❯', '⎯']))
    };
    let bare = message.split(" // ").next().unwrap_or(message);
    let bare = bare.trim_end_matches([':', '.']);
    let values = if bare.contains("expect(") {
        labelled(below()).or_else(|| differing(below()))
    } else if bare.contains("…(") || bare.ends_with("not equal") {
        // Of large values vitest shows how many parts they have.
        differing(below())
    } else if message.ends_with(':') && bare.len() > 8 {
        let next = below().find(|text| !text.is_empty())?;
        let signs = [" !== ", " != ", " == "];
        let is_compared = signs.iter().any(|sign| next.contains(sign));
        let compared = is_compared.then(|| cut(next));
        compared.or_else(|| differing(std::iter::once(message).chain(below())))
    } else {
        None
    };
    values.map(|values| format!("{bare}: {values}"))
}

// `Expected: 1` and `Received: 2`, or `Expected length: 1`.
fn labelled<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for text in lines {
        let words = ["Expected", "Received"];
        let Some(word) = words.iter().find(|word| text.starts_with(**word)) else {
            continue;
        };
        let lower = word.to_lowercase();
        let rest = text.get(word.len()..).unwrap_or_default();
        match rest.split_once(": ") {
            Some(("", value)) => parts.push(format!("{lower} {}", cut(value.trim()))),
            Some((label, value)) => parts.push(format!("{lower}{label}: {}", cut(value.trim()))),
            None if rest.contains("did not throw") => parts.push(format!("{lower}{rest}")),
            None => continue,
        }
        if *word == "Received" {
            break;
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

// The first line of each side of a difference; its heading, which bun writes below it, says which sign
// is whose. A second heading begins another report of the same.
fn differing<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut wanted = None;
    let (mut gone, mut come) = (None, None);
    for text in lines {
        let lower = text.to_lowercase();
        let heading = if lower.contains("- expected") || lower.starts_with("- snapshot") {
            Some('-')
        } else if lower.contains("+ expected") || lower.contains("actual / expected") {
            Some('+')
        } else {
            None
        };
        let any = gone.is_some() || come.is_some();
        let both = gone.is_some() && come.is_some();
        if wanted.is_some() && (both || any && heading.is_some()) {
            break;
        }
        if heading.is_some() {
            wanted = heading;
            continue;
        }
        let side = match text.as_bytes().first() {
            Some(b'-') => &mut gone,
            Some(b'+') => &mut come,
            _ => continue,
        };
        let value = text.get(1..).unwrap_or_default().trim();
        let is_heading = value.to_lowercase().starts_with("received");
        if side.is_none() && !value.is_empty() && !is_heading {
            *side = Some(cut(value));
        }
    }
    let (expected, received) = match wanted? {
        '-' => (gone, come),
        _ => (come, gone),
    };
    let rows = [("expected", expected), ("received", received)];
    let rows: Vec<String> = rows
        .into_iter()
        .filter_map(|(word, value)| Some(format!("{word} {}", value?)))
        .collect();
    (!rows.is_empty()).then(|| rows.join(", "))
}

fn cut(text: &str) -> String {
    let text = text.trim_end_matches(',');
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_values;
    use crate::diagnose::normalise::lines;

    #[test]
    fn a_failed_expectation_is_told_with_its_values() {
        for (log, expected) in [
            (
                "expect(received).toBe(expected) // Object.is equality\n\nExpected: \"a/b\"\nReceived: \"c/b\"\n",
                "expect(received).toBe(expected): expected \"a/b\", received \"c/b\"",
            ),
            (
                "expect(received).toHaveLength(expected)\n\n    Expected length: 3\n    Received length: 2\n    Received array:  [1, 2]\n",
                "expect(received).toHaveLength(expected): expected length: 3, received length: 2",
            ),
            (
                "expect(received).toEqual(expected) // deep equality\n\n- Expected  - 1\n+ Received  + 1\n\n  Object {\n-   \"a\": 2,\n+   \"a\": 1,\n  }\n",
                "expect(received).toEqual(expected): expected \"a\": 2, received \"a\": 1",
            ),
            (
                "Expected values to be strictly equal:\n\n3 !== 4\n",
                "Expected values to be strictly equal: 3 !== 4",
            ),
            (
                "Expected values to be strictly deep-equal:\n+ actual - expected\n\n  {\n+   a: 1\n-   a: 2\n  }\n",
                "Expected values to be strictly deep-equal: expected a: 2, received a: 1",
            ),
            (
                "error: expect(received).toEqual(expected)\n\n  [\n-   2,\n+   1,\n  ]\n\n- Expected  - 1\n+ Received  + 1\n",
                "error: expect(received).toEqual(expected): expected 2, received 1",
            ),
            (
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal:\n+ actual - expected\n\n+     p: 1\n-     p: 2\n      + expected - actual\n\n      -    \"p\": 1\n      +    \"p\": 2\n",
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal: expected p: 2, received p: 1",
            ),
            (
                "expect(received).toMatchInlineSnapshot(snapshot)\n\n- Snapshot  - 1\n+ Received  + 3\n\n- {\"a\": 2}\n+ {\n",
                "expect(received).toMatchInlineSnapshot(snapshot): expected {\"a\": 2}, received {",
            ),
            (
                "Difference (- actual, + expected):\n\n- 1\n+ 2\n",
                "Difference (- actual, + expected): expected 2, received 1",
            ),
            (
                "error: AssertionError: Values are not equal.\n\n    [Diff] Actual / Expected\n\n-   1\n+   2\n",
                "error: AssertionError: Values are not equal: expected 2, received 1",
            ),
        ] {
            let found = with_values(&lines(log), 0);
            assert_eq!(found.as_deref(), Some(expected));
        }
        for log in [
            "AssertionError: expected 1 to equal 2\n\n- 2\n+ 1\n",
            "TypeError: x is not a function\n    at a.js:1:2\nExpected: 1\n",
            "expect(received).resolves.toBe()\n    at a.js:1:2\nExpected: 1\n",
        ] {
            assert_eq!(with_values(&lines(log), 0), None, "{log}");
        }
    }
}
