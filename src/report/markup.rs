//! Escapes text for HTML and Markdown. The text is not trusted, since it comes from logs and agents.

/// A text for XML and HTML, between tags or in a quoted attribute. Characters that XML has no
/// place for become the replacement character.
pub(super) fn escaped(text: &str) -> String {
    let is_outside = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let text = text.replace('>', "&gt;").replace('"', "&quot;");
    text.replace('\'', "&#39;").replace(is_outside, "\u{FFFD}")
}

/// A text for one line of Markdown, also between the bars of a table. It can start no tag, link,
/// code or mention.
pub(super) fn cell(text: &str) -> String {
    let steering = ['\\', '|', '`', '*', '_', '[', ']', '!'];
    let mut text = text.replace(char::is_control, " ");
    for letter in steering {
        text = text.replace(letter, &format!("\\{letter}"));
    }
    // An invisible joiner follows the sign, so that a name in a log mentions nobody.
    text.replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('@', "@\u{2060}")
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
