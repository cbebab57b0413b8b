use crate::model::Code;
use std::borrow::Cow;

use super::rule::MendNote;
use crate::patch::numbered::numbered;
use crate::patch::set::{Hunk, HunkLine, LineKind};

/// A second reading of a hunk whose lines all carry the same damage.
pub(super) struct Variant<'a> {
    pub(super) lines: Vec<HunkLine<'a>>,
    pub(super) mend: MendNote,
}

/// The other readings of a hunk, each of which the file has to confirm.
pub(super) fn variants<'a>(hunk: &Hunk<'a>) -> Vec<Variant<'a>> {
    [
        without_numbers(hunk),
        without_entities(hunk),
        without_spaces(hunk, true),
        without_spaces(hunk, false),
    ]
    .into_iter()
    .flatten()
    .collect()
}

// Old lines that carry consecutive numbers, copied from a listing. Added lines carry them all or none.
fn without_numbers<'a>(hunk: &Hunk<'a>) -> Option<Variant<'a>> {
    let mut old: Vec<u64> = Vec::new();
    let mut new: Vec<Option<u64>> = Vec::new();
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let read = numbered(line.text());
        if line.kind == LineKind::Add {
            if !line.text().trim_ascii().is_empty() {
                new.push(read.map(|(number, _)| number));
            }
        } else {
            let (number, _) = read?;
            if old
                .last()
                .is_some_and(|last| last.checked_add(1) != Some(number))
            {
                return None;
            }
            old.push(number);
        }
        lines.push(read.map(|(_, rest)| rest));
    }
    let (first, last) = (*old.first()?, *old.last()?);
    let most = last.checked_add(new.len() as u64)?;
    // What a listing would number an added line with; other numbers belong to the text.
    let copied = |number: &Option<u64>| number.is_some_and(|it| (first..=most).contains(&it));
    let all = !new.is_empty() && new.iter().all(copied) && new.is_sorted();
    if !all && new.iter().any(copied) {
        return None;
    }
    let lines = hunk.lines.iter().zip(lines).map(|(line, rest)| {
        let strip = line.kind != LineKind::Add || all;
        match rest.filter(|_| strip) {
            Some(rest) => HunkLine {
                line: Cow::Owned(rest.to_vec()),
                prefixed: false,
                bare: false,
                ..line.clone()
            },
            None => line.clone(),
        }
    });
    let message = "dropped line numbers that were copied into the patch";
    Some(Variant {
        lines: lines.collect(),
        mend: if all {
            MendNote::lossy(Code::M406, message)
        } else {
            MendNote::safe(Code::M406, message)
        },
    })
}

// A space after every mark, or after those of changed lines alone; the removed lines show it.
fn without_spaces<'a>(hunk: &Hunk<'a>, in_context: bool) -> Option<Variant<'a>> {
    let mut shown = false;
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let is_context = line.kind == LineKind::Context;
        let text = line.text();
        if text.is_empty() || (is_context && !in_context) {
            lines.push(line.clone());
            continue;
        }
        let rest = text.strip_prefix(b" ")?;
        shown |= !rest.trim_ascii().is_empty() && (in_context || line.kind == LineKind::Remove);
        lines.push(HunkLine {
            line: Cow::Owned(rest.to_vec()),
            prefixed: false,
            bare: false,
            ..line.clone()
        });
    }
    let mend = MendNote::safe(Code::M418, "left out the space after the marks of lines");
    shown.then_some(Variant { lines, mend })
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
