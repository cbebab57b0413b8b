use std::borrow::Cow;
use std::ops::Range;

use super::claims::starts_form;

/// What models wrap their thoughts in; drafts in there are no part of the answer.
const TAGS: [&str; 7] = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "scratchpad",
    "reflection",
];

/// A reply with the lines of `<think>…</think>` and the like empty, so that all others keep their
/// numbers: spans that begin before any form of a patch. A span that never ends is a reply without an answer.
#[must_use]
pub fn without_thoughts(text: &[u8]) -> Cow<'_, [u8]> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if let Some(tag) = tag(line.trim_ascii_start()) {
            let close = format!("</{tag}>");
            let end = memchr::memmem::find(rest, close.as_bytes());
            let end = end.map_or(text.len(), |it| at + it + close.len());
            spans.push(at..end);
            at = end;
        } else if starts_answer(line) {
            break;
        } else {
            at += line.len() + 1;
        }
    }
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut plain = text.to_vec();
    for span in spans {
        for byte in plain.get_mut(span).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    Cow::Owned(plain)
}

// Whether a form of a patch, or what may hold one, begins here.
fn starts_answer(line: &[u8]) -> bool {
    let marks = [&b"```"[..], b"{", b"[", b"<", b"*** ", b"@@ ", b"cat "];
    starts_form(line) || marks.iter().any(|it| line.starts_with(it))
}

// The tag that a line opens with.
fn tag(line: &[u8]) -> Option<&'static str> {
    let name = line.strip_prefix(b"<")?;
    let mut tags = TAGS.into_iter();
    tags.find(|tag| {
        let after = name.strip_prefix(tag.as_bytes()).and_then(<[u8]>::first);
        matches!(after, Some(b'>' | b' '))
    })
}

#[cfg(test)]
mod tests {
    use super::without_thoughts;

    #[test]
    fn thoughts_go_and_answers_stay() {
        let kept = |text: &str| {
            let plain = without_thoughts(text.as_bytes()).into_owned();
            assert_eq!(plain.len(), text.len());
            String::from_utf8(plain).unwrap().trim().to_owned()
        };
        let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b";
        for head in [
            "<think>\n--- a/y\n+++ b/y\n</think>\n",
            "Well.\n<thinking>no: {\"patch\": 1}</thinking>\n\n",
            "<think>a</think>\n<reasoning>b</reasoning>\n",
        ] {
            let found = kept(&format!("{head}{patch}\n"));
            assert!(found.ends_with(patch), "{head}{found}");
            assert!(!found.contains("b/y") && !found.contains("no:"), "{found}");
        }
        assert_eq!(kept(&format!("<think>\n{patch}\n")), "");
        for text in [
            patch.replace("-a", "-</think>"),
            "a.md\n<<<<<<< SEARCH\n</think>\n=======\nx\n>>>>>>> REPLACE\n".repeat(2),
            "a.html\n```\n<think>\nx\n</think>\n```\n".to_owned(),
        ] {
            assert_eq!(kept(&text), text.trim());
        }
    }
}
