/// A line of a listing: its number and its text. `12 code`, `12: code`, `12| code`, `12 | code`, `L12: code`, `12→code`
pub(super) fn numbered(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"L").unwrap_or(text);
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    if let Some(rest) = rest.strip_prefix("→".as_bytes()) {
        return Some((number, rest));
    }
    let rest = match rest {
        [b' ', b'|'] | [] => &[],
        [b' ', b'|', b' ', rest @ ..]
        | [b':' | b'|', b' ', rest @ ..]
        | [b' ' | b'\t' | b':' | b'|', rest @ ..] => rest,
        _ => return None,
    };
    Some((number, rest))
}
