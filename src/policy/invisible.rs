//! Characters that a person does not see or that reorder the text around them.

use std::collections::BTreeSet;

use crate::model::TextWarning;

/// Lines with characters that a person does not see or that reorder what a person sees, sorted,
/// one entry per line and kind.
///
/// Tabs, line ends, form feeds, a byte order mark at the start and the emoji variation selector are
/// ordinary and not reported.
pub fn text_warnings(text: &str) -> Vec<TextWarning> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut warnings = BTreeSet::new();
    for (index, line) in body.split('\n').enumerate() {
        if line.bytes().all(is_plain) {
            continue;
        }
        let line_number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let kinds = line.chars().filter_map(kind_of);
        warnings.extend(kinds.map(|kind| TextWarning {
            line: line_number,
            kind,
        }));
    }
    warnings.into_iter().collect()
}

/// Whether a character is not seen or changes the direction of text.
pub fn is_invisible(letter: char) -> bool {
    kind_of(letter).is_some_and(|kind| kind != "control")
}

/// Returns `bidi`, `zero_width`, `tag` or `control`; `None` for a visible or ordinary character.
pub(super) fn kind_of(character: char) -> Option<&'static str> {
    // Ranges of the Unicode character database. Tag characters spell hidden ASCII, and the variation
    // selectors behind them hide bytes.
    #[rustfmt::skip]
    const KINDS: &[(char, char, &str)] = &[
        ('\0', '\u{8}', "control"), ('\u{b}', '\u{b}', "control"), ('\u{e}', '\u{1f}', "control"),
        ('\u{7f}', '\u{9f}', "control"), ('\u{ad}', '\u{ad}', "zero_width"),
        ('\u{34f}', '\u{34f}', "zero_width"), ('\u{61c}', '\u{61c}', "bidi"),
        ('\u{115f}', '\u{1160}', "zero_width"), ('\u{180b}', '\u{180f}', "zero_width"),
        ('\u{200b}', '\u{200d}', "zero_width"), ('\u{200e}', '\u{200f}', "bidi"),
        ('\u{2028}', '\u{2029}', "zero_width"), ('\u{202a}', '\u{202e}', "bidi"),
        ('\u{2060}', '\u{2065}', "zero_width"), ('\u{2066}', '\u{2069}', "bidi"),
        ('\u{206a}', '\u{206f}', "zero_width"), ('\u{3164}', '\u{3164}', "zero_width"),
        ('\u{feff}', '\u{feff}', "zero_width"), ('\u{ffa0}', '\u{ffa0}', "zero_width"),
        ('\u{fff9}', '\u{fffb}', "zero_width"), ('\u{e0000}', '\u{e0fff}', "tag"),
    ];
    let found = KINDS.iter().find(|(first, last, _)| (*first..=*last).contains(&character));
    found.map(|(_, _, kind)| *kind)
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\r' | 0xc)
}

#[cfg(all(test, feature = "program"))]
mod tests {
    use super::text_warnings;

    fn find_invisible(text: &str) -> Vec<(u32, &'static str)> {
        text_warnings(text)
            .into_iter()
            .map(|warning| (warning.line, warning.kind))
            .collect()
    }

    #[test]
    fn reports_each_kind_once_per_line() {
        assert_eq!(
            find_invisible(
                "ok\nx = 1 # \u{202e}evil\u{202c}\na\u{200b}b \u{e0049}\u{e0047}\n\u{1b}[0m\n"
            ),
            [(2, "bidi"), (3, "tag"), (3, "zero_width"), (4, "control")]
        );
    }

    #[test]
    fn ordinary_text_is_silent() {
        assert!(find_invisible("\u{feff}a\tb\r\n\u{c}\nGrüße, 世界 ❤\u{fe0f}\n").is_empty());
        assert!(find_invisible("").is_empty());
    }
}
