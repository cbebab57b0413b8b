//! Adds expected and received values to an error line that shows neither.

use crate::diagnose::line::{Line, lines_below};
use crate::runners::pattern;

/// Adds what a test expected and got to the line that says it failed, where that line shows neither:
/// jest and playwright write the two below it, others a difference.
pub(in crate::diagnose) fn with_values(lines: &[Line<'_>], cause: usize) -> Option<String> {
    let message = lines.get(cause)?.text.trim();
    // A report shows its values within this many lines.
    let below = lines_below(lines, cause + 1, 30).map(str::trim);
    let below =
        below.take_while(|text| !text.starts_with("at ") && !text.starts_with(['●', '❯', '⎯']));
    let below: Vec<&str> = below.collect();
    let bare = message.split(" // ").next().unwrap_or(message).trim_end_matches([':', '.']);
    let is_told = message.ends_with(':') && bare.len() > 8;
    // Vitest abbreviates large values and shows how many parts they have.
    let has_difference =
        bare.contains("expect(") || bare.contains("…(") || bare.ends_with("not equal");
    if !is_told && !has_difference {
        return None;
    }
    let next = below.iter().find(|text| !text.is_empty()).copied().unwrap_or_default();
    if is_told && COMPARED.is_match(next) {
        return Some(format!("{bare}: {}", cut(next)));
    }
    let values = value_pair(std::iter::once(message).chain(below))?;
    Some(format!("{bare}: {values}"))
}

pattern!(COMPARED, r" (?:!==|!=|==) ");
// `Expected: 1`, `Received length: 2`.
pattern!(LABELED, r"^(Expected|Received)(.*?): (.*)$");
// Which side of a difference is whose.
pattern!(
    HEADING,
    r"(?i)(?P<minus>- expected|^- snapshot)|(?P<plus>\+ expected|actual / expected)|^\+ received"
);

// The first expected and the first received value: with labels, else the first line of each side of a difference,
// whose heading bun writes below it. A second heading begins another report of the same.
fn value_pair<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut labeled: Vec<String> = Vec::new();
    let mut sides: [Vec<String>; 2] = Default::default();
    let mut expected = None;
    for text in lines {
        if let Some(found) = LABELED.captures(text).filter(|_| labeled.len() < 2) {
            let (word, label) = (found[1].to_lowercase(), &found[2]);
            let colon = if label.is_empty() { "" } else { ":" };
            labeled.push(format!("{word}{label}{colon} {}", cut(found[3].trim())));
        } else if let Some(found) = HEADING.captures(text) {
            let side = found.name("minus").map(|_| 0).or(found.name("plus").map(|_| 1));
            let is_second = expected.is_some() && sides.iter().any(|side| !side.is_empty());
            if is_second && side.is_some() {
                break;
            }
            expected = side.or(expected);
        } else if let Some(side) = ["-", "+"].iter().position(|sign| text.starts_with(sign)) {
            let value = text.get(1..).unwrap_or_default().trim();
            sides[side].extend((!value.is_empty()).then(|| cut(value)));
        }
    }
    if labeled.is_empty() {
        let expected = expected?;
        for (word, side) in [("expected", expected), ("received", 1 - expected)] {
            // A line of both sides moved, and is no value.
            let mut values = sides[side].iter().filter(|value| !sides[1 - side].contains(value));
            labeled.extend(values.next().map(|value| format!("{word} {value}")));
        }
    }
    (!labeled.is_empty()).then(|| labeled.join(", "))
}

fn cut(text: &str) -> String {
    let text = text.trim_end_matches(',');
    // Characters of one value.
    match text.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_values;
    use crate::diagnose::normalise::lines;

    #[test]
    fn reads_values_of_failed_expectation() {
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
                "expected [ 'run', 'first', …(1) ] to equal [ 'run', 'second', …(1) ]\n\n- Expected\n+ Received\n\n  [\n-   2,\n    1,\n+   2,\n+   3,\n  ]\n",
                "expected [ 'run', 'first', …(1) ] to equal [ 'run', 'second', …(1) ]: received 3",
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
            // https://github.com/unjs/citty, test/plugin.test.ts, with the plugins in the other order.
            "AssertionError: expected [ 'cmd:run', 'first:cleanup', …(1) ] to deeply equal [ 'cmd:run', 'second:cleanup', …(1) ]\n\n- Expected\n+ Received\n\n  [\n    \"cmd:run\",\n-   \"second:cleanup\",\n    \"first:cleanup\",\n+   \"second:cleanup\",\n  ]\n",
            "expect(received).resolves.toBe()\n    at a.js:1:2\nExpected: 1\n",
        ] {
            assert_eq!(with_values(&lines(log), 0), None, "{log}");
        }
    }
}
