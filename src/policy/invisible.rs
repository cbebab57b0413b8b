#[cfg(feature = "program")]
use crate::model::TextWarning;

/// Lines with characters that a person does not see or that reorder what a person sees, sorted,
/// one entry per line and kind.
///
/// Tabs, line ends, form feeds, a byte order mark at the start and the emoji variation selector are
/// ordinary and not reported.
#[must_use]
#[cfg(feature = "program")]
pub fn text_warnings(text: &str) -> Vec<TextWarning> {
    let mut warnings = Vec::new();
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if body.bytes().all(|byte| is_plain(byte) || byte == b'\n') {
        return warnings;
    }
    for (index, line) in body.split('\n').enumerate() {
        if line.bytes().all(is_plain) {
            continue;
        }
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        for kind in line.chars().filter_map(kind_of) {
            let warning = TextWarning { line: number, kind };
            let seen = warnings
                .iter()
                .rev()
                .take_while(|other: &&TextWarning| other.line == number);
            if !seen.into_iter().any(|other| other == &warning) {
                warnings.push(warning);
            }
        }
    }
    warnings.sort();
    warnings
}

/// Whether a character is not seen or changes the direction of text.
#[must_use]
pub fn is_invisible(letter: char) -> bool {
    kind_of(letter).is_some_and(|kind| kind != "control")
}

/// `bidi`, `zero_width`, `tag` or `control`; `None` for a visible or ordinary character.
#[must_use]
pub(super) fn kind_of(character: char) -> Option<&'static str> {
    match character {
        '\t' | '\n' | '\r' | '\u{c}' => None,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Some("control"),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some("bidi")
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' => Some("zero_width"),
        // Tag characters spell hidden ASCII, the second block hides bytes as variation selectors.
        '\u{e0000}'..='\u{e0fff}' => Some("tag"),
        _ => None,
    }
}

#[cfg(feature = "program")]
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\r' | 0xc)
}

#[cfg(all(test, feature = "program"))]
mod tests {
    use super::text_warnings;

    fn found(text: &str) -> Vec<(u32, &'static str)> {
        text_warnings(text)
            .into_iter()
            .map(|warning| (warning.line, warning.kind))
            .collect()
    }

    #[test]
    fn each_kind_is_reported_once_a_line() {
        assert_eq!(
            found("ok\nx = 1 # \u{202e}evil\u{202c}\na\u{200b}b \u{e0049}\u{e0047}\n\u{1b}[0m\n"),
            [(2, "bidi"), (3, "tag"), (3, "zero_width"), (4, "control")]
        );
    }

    #[test]
    fn ordinary_text_is_silent() {
        assert!(found("\u{feff}a\tb\r\n\u{c}\nGrüße, 世界 ❤\u{fe0f}\n").is_empty());
        assert!(found("").is_empty());
    }
}
