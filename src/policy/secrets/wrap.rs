use std::ops::Range;

use super::view::{View, build};

// Narrower than any terminal that wraps.
const MIN_WIDTH: usize = 60;
// A word that is shorter on both sides together was not wrapped for want of room.
const MIN_WORD: usize = 8;
// Lines that are read as one, in bytes.
const MAX_GROUP: usize = 64 * 1024;

/// Calls back with a view, without their line ends, of lines that something broke in the middle of
/// a word, as terminals, mailers and `fold` do: a full line that ends inside a word and is not
/// shorter than the next, which goes on with it.
pub(super) fn each_wrapped(text: &[u8], mut found: impl FnMut(&View)) {
    let mut view = View::default();
    let mut group: Option<Range<usize>> = None;
    let mut show = |group: Range<usize>| {
        build(&mut view, text, group, true);
        found(&view);
    };
    let (mut start, mut end) = (0, None);
    let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    for next_end in ends {
        let Some(line_end) = end.replace(next_end) else {
            continue;
        };
        let (line, next) = (start..line_end, line_end + 1..next_end);
        start = next.start;
        if is_broken(text, &line, &next) {
            let start = group.as_ref().map_or(line.start, |group| group.start);
            if next.end - start < MAX_GROUP {
                group = Some(start..next.end);
                continue;
            }
        }
        if let Some(group) = group.take() {
            show(group);
        }
    }
    if let Some(group) = group {
        show(group);
    }
}

fn is_broken(text: &[u8], line: &Range<usize>, next: &Range<usize>) -> bool {
    if line.len() < MIN_WIDTH || next.is_empty() || next.len() > line.len() {
        return false;
    }
    let part = |byte: &&u8| is_word(**byte);
    let before = text.get(line.clone()).unwrap_or_default();
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    let after = text.get(next.clone()).unwrap_or_default();
    let tail = before.iter().rev().take(MIN_WORD).take_while(part).count();
    let head = after.iter().take(MIN_WORD).take_while(part).count();
    tail > 0 && head > 0 && tail + head >= MIN_WORD && !is_assignment(after)
}

// Whether a line begins with a name that is given a value: it goes on with nothing.
fn is_assignment(line: &[u8]) -> bool {
    let name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    let length = line.iter().take_while(name).count();
    let rest = line.get(length..).unwrap_or_default();
    let rest = rest
        .get(rest.iter().take_while(blank).count()..)
        .unwrap_or_default();
    // One or two `=` at the end are those of base64.
    let value = matches!(rest, [b'=' | b':', value, ..] if !matches!(value, b'=' | b'&' | b'\r'));
    let named = line
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    value && named && length > 1
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b'<'
                | b'>'
                | b'('
                | b')'
                | b'{'
                | b'}'
                | b'['
                | b']'
                | b','
                | b';'
                | b'|'
        )
}

#[cfg(test)]
mod tests {
    use super::each_wrapped;
    use crate::policy::Redactor;

    fn views(text: &str) -> Vec<String> {
        let mut views = Vec::new();
        each_wrapped(text.as_bytes(), |view| {
            views.push(String::from_utf8_lossy(&view.text).into_owned());
        });
        views
    }

    #[test]
    fn words_are_joined_over_the_ends_of_full_lines() {
        let (full, word) = ("x ".repeat(36), "kZ8lO3sO");
        assert_eq!(
            views(&format!("one\n{full}{word}\n{word}{word} end\nlast\n")),
            [format!("{full}{word}{word}{word} end")]
        );
        let long = "a1".repeat(40);
        assert_eq!(
            views(&format!("{long}\r\n{long}\r\nrest of it\n")),
            [format!("{long}{long}rest of it")]
        );
    }

    #[test]
    fn other_lines_stand_alone() {
        let full = "word ".repeat(14);
        for text in [
            format!("{full}for\nthe words\n"),
            format!("{full}kZ8lO3sOkZ8lO3sO,\nkZ8lO3sOkZ8lO3sO\n"),
            format!("{full}kZ8lO3sOkZ8lO3sO\n    kZ8lO3sOkZ8lO3sO\n"),
            "kZ8lO3sOkZ8lO3sO\nkZ8lO3sOkZ8lO3sO\n".to_owned(),
            format!("{full}kZ8lO3sO\n{full}kZ8lO3sOkZ8lO3sO\n"),
            format!("{full}kZ8lO3sOkZ8lO3sO\nNEXT_NAME=value\n"),
            format!("{full}kZ8lO3sOkZ8lO3sO\nInput = value\n"),
        ] {
            assert!(views(&text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_broken_secret_is_masked_on_each_line() {
        let token = format!("ghp{}kZ8lO3sOVhmyrXGOkZ8lO3sOVhmyrXGO12ab", '_');
        let redactor = Redactor::default();
        for width in [60, 72, 80, 100, 120] {
            for cut in 1..token.len() {
                let lead = format!("{} ", "x".repeat(width - cut - 1));
                let (head, tail) = token.split_at(cut);
                let out = redactor
                    .redact(&format!("{lead}{head}\n{tail} end\n"))
                    .text
                    .into_owned();
                let mask = "[REDACTED:github-token]";
                assert_eq!(out, format!("{lead}{mask}\n{mask} end\n"));
            }
        }
        let long = format!("sk-proj-{}", "kZ8lO3sOVhmyrXGO12ab".repeat(3));
        let text = format!("KEY={long}\nassert x == 1\n");
        let out = redactor.redact(&text);
        assert!(out.text.ends_with("]\nassert x == 1\n"), "{}", out.text);
        let (head, tail) = token.split_at(20);
        let out = redactor
            .redact(&format!("at {head}\\\n{tail}\n"))
            .text
            .into_owned();
        assert!(!out.contains(head) && !out.contains(tail), "{out}");
    }
}
