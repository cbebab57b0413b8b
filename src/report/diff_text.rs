/// A patch for a person: what goes in red, what comes in green. Without colour it is as it was.
#[must_use]
pub fn diff_text(patch: &str, color: bool) -> String {
    if !color {
        return patch.to_owned();
    }
    let mut text = String::with_capacity(patch.len() * 2);
    for line in patch.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        // Object names are for programs.
        if body.starts_with("index ") {
            continue;
        }
        let style = match body.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', b'i', b'f', b'f', ..] => BOLD,
            [b'@', b'@', ..] => CYAN,
            [b'+', ..] => GREEN,
            [b'-', ..] => RED,
            _ => "",
        };
        if style.is_empty() {
            text.push_str(line);
        } else {
            text.push_str(&format!("{style}{body}\x1b[0m{end}"));
        }
    }
    text
}

const BOLD: &str = "\x1b[1m";
const CYAN: &str = "\x1b[36m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_coloured_and_words_stay() {
        let patch =
            "index 1234567..89abcde 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same";
        assert_eq!(diff_text(patch, false), patch);
        let coloured = diff_text(patch, true);
        assert!(!coloured.contains("index "));
        assert!(coloured.contains("\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n same"));
    }
}
