/// What an input without a patch looks like, in words.
pub(super) fn likeness(bytes: &[u8]) -> &'static str {
    let starts = |start: &[u8]| {
        bytes
            .split(|byte| *byte == b'\n')
            .any(|line| line.trim_ascii_start().starts_with(start))
    };
    if starts(b"<<<<<<< ") && starts(b">>>>>>> ") {
        "a file with conflict markers, and neither side says SEARCH or REPLACE"
    } else if starts(b"*** ") {
        "an envelope without `*** Update File: PATH`, `*** Add File: PATH` or `*** Delete File: PATH`"
    } else if starts(b"@@") {
        "hunks that no header gives a file"
    } else if matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) || starts(b"```json") {
        "JSON without the path, old text and new text of an edit"
    } else if starts(b"```") {
        "code in a fence, with nothing that says what it replaces"
    } else {
        "prose"
    }
}

#[cfg(test)]
mod tests {
    use super::likeness;

    #[test]
    fn says_what_was_seen() {
        for (text, words) in [
            ("<<<<<<< ours\na\n=======\nb\n>>>>>>> x\n", "conflict"),
            ("{\"a\": 1}", "JSON"),
            ("See:\n```python\na = 1\n```\n", "fence"),
            ("I would change the loop.", "prose"),
        ] {
            assert!(likeness(text.as_bytes()).contains(words), "{text}");
        }
    }
}
