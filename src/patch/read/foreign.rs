use super::reader::Lines;

/// Names the format of an input that is a diff of a kind that is not applied.
pub(super) fn foreign(lines: &Lines<'_>) -> Option<&'static str> {
    for at in 0..lines.len() {
        let line = lines.get(at);
        if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
            return Some("a combined diff (of a merge)");
        }
        if line.starts_with(b"*** ")
            && lines.get(at + 1).starts_with(b"--- ")
            && lines.get(at + 2).starts_with(b"***************")
        {
            return Some("a context diff");
        }
        if let Some(follows) = edit_command(line) {
            let next = lines.get(at + 1);
            if next.starts_with(b"< ") || next.starts_with(b"> ") {
                return Some("a normal diff");
            }
            if follows == b'd' && edit_command(next).is_some() || ends_with_dot(lines, at) {
                return Some("an ed script");
            }
        }
    }
    None
}

/// Whether a hunk's line carries the marks of `git diff --word-diff`.
pub(super) fn is_word_diff(line: &[u8]) -> bool {
    let has = |mark: &[u8]| memchr::memmem::find(line, mark);
    let pair = |open: &[u8], close: &[u8]| match (has(open), has(close)) {
        (Some(open), Some(close)) => open < close,
        _ => false,
    };
    pair(b"[-", b"-]") && pair(b"{+", b"+}")
}

// `5d`, `3,4c` or `7a`: gives the letter.
fn edit_command(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_end();
    let at = line
        .iter()
        .position(|byte| matches!(byte, b'a' | b'c' | b'd'))?;
    let (range, rest) = line.split_at(at);
    let numbers = |text: &[u8]| {
        !text.is_empty()
            && text
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b',')
    };
    let tail = rest.get(1..).unwrap_or_default();
    (numbers(range)
        && range.first().is_some_and(u8::is_ascii_digit)
        && (tail.is_empty() || numbers(tail)))
    .then(|| rest.first().copied())
    .flatten()
}

fn ends_with_dot(lines: &Lines<'_>, from: usize) -> bool {
    (from + 1..lines.len().min(from + 10_000)).any(|at| lines.get(at) == b".")
}

#[cfg(test)]
mod tests {
    use super::{foreign, is_word_diff};
    use crate::patch::read::reader::Lines;

    #[test]
    fn names_what_it_does_not_apply() {
        for (text, name) in [
            ("diff --cc a\n", Some("a combined diff (of a merge)")),
            ("*** a\n--- b\n***************\n", Some("a context diff")),
            ("2c2\n< a\n---\n> b\n", Some("a normal diff")),
            ("1a\nhi\n.\n", Some("an ed script")),
            ("2 cats and dogs\n", None),
        ] {
            assert_eq!(foreign(&Lines::new(text.as_bytes())), name, "{text}");
        }
        assert!(is_word_diff(b"a [-b-]{+c+} d") && !is_word_diff(b"x = [-1]; {+1}"));
    }
}
