use std::borrow::Cow;

// The upper halves of what shells of Windows read bytes as, from 0x80 on:
// https://www.unicode.org/Public/MAPPINGS/VENDORS/MICSFT.
const PAGES: [&str; 3] = [
    // 437
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    // 850
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    // 1252
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ",
];
// What the pages show of the bytes 0xe2 and 0xc3, with which the marks of runners begin in UTF-8.
const LEADS: [char; 5] = ['Γ', 'Ô', 'â', '├', 'Ã'];

/// Restores the marks of a line that a shell of Windows read in its code page: `Γ£ô` is `✓`.
///
/// Only runs that are UTF-8 in such a page and hold a mark or a line of a box are restored.
pub(super) fn restore_marks(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(LEADS) {
        return Cow::Borrowed(text);
    }
    let mut restored = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(|c: char| !c.is_ascii()) {
        let (plain, odd) = rest.split_at(from);
        let length = odd.find(|c: char| c.is_ascii()).unwrap_or(odd.len());
        let (run, after) = odd.split_at(length);
        restored.push_str(plain);
        let decoded = PAGES.iter().find_map(|page| decode_run(run, page));
        restored.push_str(decoded.as_deref().unwrap_or(run));
        rest = after;
    }
    restored.push_str(rest);
    Cow::Owned(restored)
}

fn decode_run(run: &str, page: &str) -> Option<String> {
    let byte = |c: char| u8::try_from(page.chars().position(|own| own == c)? + 0x80).ok();
    let bytes: Option<Vec<u8>> = run.chars().map(byte).collect();
    let text = String::from_utf8(bytes?).ok()?;
    let is_mark = |c: char| c == '×' || ('\u{2010}'..='\u{27ff}').contains(&c);
    text.chars().any(is_mark).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::restore_marks;

    #[test]
    fn restore_marks_undoes_code_pages() {
        for (text, expected) in [
            ("   Γ£ô adds 2ms", "   ✓ adds 2ms"),
            ("   ├ù subtracts", "   × subtracts"),
            ("[chromium] ÔÇ║ a", "[chromium] › a"),
            ("â†’ expected 1", "→ expected 1"),
            ("├── src ─ Größe", "├── src ─ Größe"),
            ("Ã¼ber", "Ã¼ber"),
        ] {
            assert_eq!(restore_marks(text), expected);
        }
    }
}
