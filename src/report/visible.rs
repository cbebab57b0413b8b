use std::fmt::Write as _;

/// A line with what is not seen made visible: carriage returns, unusual spaces, characters without
/// width, and blanks at its end.
#[must_use]
pub fn visible(line: &str) -> String {
    let solid = line.trim_end_matches([' ', '\t']);
    let mut text = String::with_capacity(line.len());
    for letter in solid.chars() {
        put(&mut text, letter);
    }
    for letter in line.get(solid.len()..).unwrap_or_default().chars() {
        text.push_str(if letter == '\t' { "\\t" } else { "\\x20" });
    }
    text
}

/// A line as it can be copied, without control characters that a terminal would obey.
#[must_use]
pub fn harmless(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for letter in line.chars() {
        if letter.is_control() && letter != '\t' {
            put(&mut text, letter);
        } else {
            text.push(letter);
        }
    }
    text
}

fn put(text: &mut String, letter: char) {
    match letter {
        '\r' => text.push_str("\\r"),
        '\t' => text.push('\t'),
        '\u{a0}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}'
        | '\u{3000}'
        | '\u{feff}' => {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\u{{{:x}}}", u32::from(letter));
        }
        letter if letter.is_control() => {
            let _ = write!(text, "\\x{:02x}", u32::from(letter));
        }
        letter => text.push(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::{harmless, visible};

    #[test]
    fn what_is_not_seen_is_shown() {
        assert_eq!(visible("a b\r"), "a b\\r");
        assert_eq!(visible("a\u{a0}b \t"), "a\\u{a0}b\\x20\\t");
        assert_eq!(visible("\tx\u{200b}"), "\tx\\u{200b}");
        assert_eq!(harmless("a\u{1b}[31m b "), "a\\x1b[31m b ");
    }
}
