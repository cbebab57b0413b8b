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

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_closes_a_tag_or_an_attribute() {
        assert_eq!(
            escaped("<a b=\"c\">'&\u{1b}[0m"),
            "&lt;a b=&quot;c&quot;&gt;&#39;&amp;\u{FFFD}[0m"
        );
    }
}
