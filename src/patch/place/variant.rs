use crate::model::Code;
use std::borrow::Cow;

use super::rule::MendNote;
use crate::patch::set::{Hunk, HunkLine, LineKind};

/// A second reading of a hunk whose lines all carry the same damage.
pub(super) struct Variant<'a> {
    pub(super) lines: Vec<HunkLine<'a>>,
    pub(super) mend: MendNote,
}

/// The other readings of a hunk, each of which the file has to confirm.
pub(super) fn variants<'a>(hunk: &Hunk<'a>) -> Vec<Variant<'a>> {
    [without_numbers(hunk), without_entities(hunk)]
        .into_iter()
        .flatten()
        .collect()
}

// Old lines that carry consecutive numbers, copied from a listing.
fn without_numbers<'a>(hunk: &Hunk<'a>) -> Option<Variant<'a>> {
    let mut next: Option<u64> = None;
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let read = numbered(line.text());
        if line.kind == LineKind::Add {
            // Added lines that are numbered too leave it open what the number belongs to.
            if read.is_some_and(|(number, _)| next.is_some_and(|next| number.abs_diff(next) < 3)) {
                return None;
            }
            lines.push(line.clone());
            continue;
        }
        let (number, rest) = read?;
        if next.is_some_and(|next| next != number) {
            return None;
        }
        next = number.checked_add(1);
        lines.push(HunkLine {
            line: Cow::Owned(rest.to_vec()),
            prefixed: false,
            bare: false,
            ..line.clone()
        });
    }
    let mend = MendNote::safe(
        Code::M406,
        "dropped line numbers that were copied into the patch",
    );
    next.is_some().then_some(Variant { lines, mend })
}

// `12 code`, `12: code`, `12| code`
fn numbered(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.trim_ascii_start();
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let rest = match rest {
        [b':' | b'|', b' ', rest @ ..] | [b' ' | b'\t' | b':' | b'|', rest @ ..] => rest,
        [] => rest,
        _ => return None,
    };
    Some((number, rest))
}

// Text in which every `<`, `>` and `&` was escaped.
fn without_entities<'a>(hunk: &Hunk<'a>) -> Option<Variant<'a>> {
    let mut found = false;
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let text = unescape(line.text())?;
        found |= line.kind != LineKind::Add && matches!(text, Cow::Owned(_));
        lines.push(HunkLine {
            line: Cow::Owned(text.into_owned()),
            prefixed: false,
            bare: false,
            ..line.clone()
        });
    }
    let mend = MendNote::lossy(
        Code::M407,
        "decoded the HTML entities that the patch was escaped with",
    );
    found.then_some(Variant { lines, mend })
}

// `None` when something stands unescaped, which says that the text was not escaped.
fn unescape(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    const ENTITIES: &[(&[u8], u8)] = &[(b"&lt;", b'<'), (b"&gt;", b'>'), (b"&amp;", b'&')];
    if text.contains(&b'<') || text.contains(&b'>') {
        return None;
    }
    if !text.contains(&b'&') {
        return Some(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        let (before, entity) = rest.split_at(at);
        out.extend_from_slice(before);
        let (name, byte) = ENTITIES.iter().find(|(name, _)| entity.starts_with(name))?;
        out.push(*byte);
        rest = entity.get(name.len()..)?;
    }
    out.extend_from_slice(rest);
    Some(Cow::Owned(out))
}

/// Whether a line of context says "something is left out here".
pub(super) fn is_elision(line: &HunkLine<'_>) -> bool {
    if line.kind != LineKind::Context {
        return false;
    }
    let text = line.text().trim_ascii();
    let text = [&b"#"[..], b"//", b"--", b"/*"]
        .iter()
        .find_map(|mark| text.strip_prefix(*mark))
        .unwrap_or(text)
        .trim_ascii();
    let text = text.strip_suffix(b"*/").unwrap_or(text).trim_ascii();
    let dots = |text: &[u8]| {
        text.strip_prefix(b"...")
            .or(text.strip_prefix("…".as_bytes()))
            .map(<[u8]>::to_vec)
    };
    match dots(text) {
        Some(rest) if rest.is_empty() => true,
        Some(rest) => {
            let rest = rest.trim_ascii();
            let rest = rest.strip_suffix(b"...").unwrap_or(rest).trim_ascii();
            [
                &b"existing"[..],
                b"rest of",
                b"unchanged",
                b"other",
                b"omitted",
            ]
            .iter()
            .any(|word| memchr::memmem::find(rest, word).is_some())
        }
        None => false,
    }
}
