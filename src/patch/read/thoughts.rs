//! Blanks reasoning text such as `<think>`. Lines are kept, so that line numbers of messages hold.

use std::borrow::Cow;

/// What models wrap their thoughts in; drafts in there are no part of the answer.
const TAGS: &str = "think thinking thought thoughts reasoning scratchpad reflection";

/// Blanks the `<think>…</think>` and the like that a reply begins with; all other lines keep their numbers.
/// A span that never ends is a reply without an answer.
pub fn without_thoughts(text: &[u8]) -> Cow<'_, [u8]> {
    let mut end = 0;
    while let Some(rest) = text.get(end..).map(<[u8]>::trim_ascii_start) {
        let Some(tag) = TAGS.split(' ').find(|tag| {
            let after = rest.strip_prefix(b"<").and_then(|rest| rest.strip_prefix(tag.as_bytes()));
            matches!(after.and_then(<[u8]>::first), Some(b'>' | b' '))
        }) else {
            break;
        };
        let close = format!("</{tag}>");
        let found = memchr::memmem::find(rest, close.as_bytes());
        let from = text.len() - rest.len();
        end = found.map_or(text.len(), |at| from + at + close.len());
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    let mut plain = text.to_vec();
    let thoughts = plain.iter_mut().take(end);
    thoughts.filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    Cow::Owned(plain)
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
            "\n<thinking>no: {\"patch\": 1}</thinking>\n\n",
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
