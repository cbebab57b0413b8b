//! Undoes what consoles do to text: code pages and colors.

use std::borrow::Cow;

// The upper halves of the code pages of Windows consoles (437) and of its other programs (1252).
const PAGES: [&str; 2] = [
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}\
    ",
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ\u{a0}¡\
    ¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜ\
    ÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ",
];

/// Undoes UTF-8 that was read in a code page of Windows, as `Γ£ô` or `âœ“` for a check mark.
///
/// Only a line that becomes valid UTF-8 as a whole is changed: text that was meant as it is hardly ever does.
pub fn undo_code_page(line: &str) -> Cow<'_, str> {
    // No tool writes a longer line with a mark in it.
    let mut pages = PAGES.iter().filter(|_| line.len() <= 2048);
    let read = pages.find_map(|page| read_again(line, page));
    read.map_or(Cow::Borrowed(line), Cow::Owned)
}

fn read_again(line: &str, page: &str) -> Option<String> {
    let bytes = line.chars().map(|letter| match letter.is_ascii() {
        true => u8::try_from(letter).ok(),
        false => u8::try_from(page.chars().position(|other| other == letter)? + 0x80).ok(),
    });
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

/// Takes the colors out of a diff that git painted for a terminal. Others are kept: an escape may belong to a file.
pub fn without_colors(diff: &[u8]) -> Cow<'_, [u8]> {
    let has_escape = memchr::memchr(0x1b, diff).is_some();
    let head = regex(r"(?m)^\x1b\[[0-9;]*m(?:diff|---|@@) ").filter(|_| has_escape);
    if !head.is_some_and(|head| head.is_match(diff)) {
        return Cow::Borrowed(diff);
    }
    let color = regex(r"\x1b\[[0-9;]*[mK]");
    color.map_or(Cow::Borrowed(diff), |color| {
        color.replace_all(diff, &b""[..])
    })
}

fn regex(pattern: &str) -> Option<regex::bytes::Regex> {
    regex::bytes::Regex::new(pattern).ok()
}

#[cfg(test)]
mod tests {
    use super::undo_code_page;

    #[test]
    fn rereads_utf8_from_code_page() {
        assert_eq!(undo_code_page("Γ£ô adds ├ù 2"), "✓ adds × 2");
        assert_eq!(undo_code_page("âœ“ passe à"), "âœ“ passe à");
        assert_eq!(undo_code_page("âœ“ passed"), "✓ passed");
        for kept in ["├── src", "déjà vu", "❯ src", "│ 1 │"] {
            assert_eq!(undo_code_page(kept), kept);
        }
    }
}
