/// A text for XML and HTML, between tags or in a quoted attribute. Characters that XML has no
/// place for become the replacement character.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(char),
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            it if it.is_control() => out.push('\u{FFFD}'),
            it => out.push(it),
        }
    }
    out
}

/// A text for one line of Markdown, also between the bars of a table. It can start no tag, link,
/// code or mention.
pub(super) fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            it if it.is_control() => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A joiner that nobody sees parts the sign from the name.
            '@' => out.push_str("@\u{2060}"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '!' => {
                out.push('\\');
                out.push(char);
            }
            it => out.push(it),
        }
    }
    out
}

/// A text as a fenced block of Markdown that nothing in the text can close.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let ended = text.is_empty() || text.ends_with('\n');
    let end = if ended { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::{cell, escaped, fenced};

    #[test]
    fn nothing_leaves_its_cell_or_its_fence() {
        assert_eq!(cell("a|b\n`c` <i>"), "a\\|b \\`c\\` &lt;i&gt;");
        assert_eq!(
            fenced("x\n````\ny", "diff"),
            "`````diff\nx\n````\ny\n`````\n"
        );
    }

    #[test]
    fn nothing_closes_a_tag_or_an_attribute() {
        assert_eq!(
            escaped("<a b=\"c\">'&\u{1b}[0m"),
            "&lt;a b=&quot;c&quot;&gt;&#39;&amp;\u{FFFD}[0m"
        );
    }
}
