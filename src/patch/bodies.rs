//! Applies the forms of a change that are no hunks: text replacements, insertions, binary data.

use std::borrow::Cow;

use super::content::Modified;
use super::line_ends::{last_line_end, with_ends};
use super::place::Work;
use super::set::{Binary, Edit, Hunk, HunkLine, LineKind};
use super::text::Text;
use crate::model::{BlobId, Code, HunkVerdict, Mend, Refusal, Safety, refuse};
use crate::source::MAX_READ_BYTES;

/// Replacements of text as hunks of whole lines, for those that are not in the file byte for byte.
pub(super) fn as_hunks(edits: &[Edit]) -> Vec<Hunk<'static>> {
    edits
        .iter()
        .map(|edit| Hunk {
            line: edit.line,
            old: edit.hint.map(|line| (line, 0)),
            lines: with_context(
                plain_lines(&edit.old, LineKind::Remove, edit.line),
                plain_lines(&edit.new, LineKind::Add, edit.line),
            ),
            ..Hunk::default()
        })
        .collect()
}

fn plain_lines(text: &[u8], kind: LineKind, line: u32) -> Vec<HunkLine<'static>> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.is_empty() {
        return Vec::new();
    }
    let lines = text.split(|byte| *byte == b'\n');
    lines.map(|text| HunkLine::plain(kind, text.to_vec(), line)).collect()
}

/// Applies replacements of text, each of which must be found exactly once unless it is for all, with the
/// line endings of the file unless they are meant `literally`.
pub(super) fn edit_text(before: &[u8], edits: &[Edit], literally: bool, work: &Work) -> Modified {
    let mut bytes = before.to_vec();
    let mut made = Modified::default();
    for (edit, number) in edits.iter().zip(1..) {
        let mut verdict = HunkVerdict::new(number, None);
        // Bytes that are looked through as fast as two lines are compared.
        let replaced = if work.spend(bytes.len() as u64 / 32) {
            let edit = if literally {
                Cow::Borrowed(edit)
            } else {
                adapt_edit(&bytes, edit, &mut made.mends)
            };
            apply_edit(&bytes, &edit)
        } else {
            let message = "finding the old texts takes too many comparisons";
            refuse(Code::P308, message)
        };
        match replaced {
            Ok((at, after)) => {
                verdict.applied_at = Some(line_at(&bytes, at));
                bytes = after;
            }
            Err(failure) => {
                verdict.fail(&failure);
                made.failures.push((u64::from(edit.line), failure));
            }
        }
        made.hunks.push(verdict);
    }
    made.mends.truncate(1);
    made.failures.truncate(1);
    made.after = made.failures.is_empty().then(|| bytes.into());
    made
}

/// Returns an edit with the line endings of the file, the line feeds at the edges of its old text and the indent
/// that its first line has in the file.
fn adapt_edit<'e>(bytes: &[u8], edit: &'e Edit, mends: &mut Vec<Mend>) -> Cow<'e, Edit> {
    let mut edit = Cow::Borrowed(edit);
    if let Some(old) = with_ends(bytes, &edit.old) {
        edit.to_mut().old = old;
    }
    if let Some(new) = with_ends(bytes, &edit.new) {
        edit.to_mut().new = new;
        let message = "gave the new text the line endings of the file";
        mends.push(Mend::new(Code::M411, Safety::Safe, edit.line, message));
    }
    if let Some(new) = with_edges(&edit.old, &edit.new) {
        edit.to_mut().new = new;
        let message = "put back the line feed that only the old text has at its edge";
        mends.push(Mend::new(Code::M411, Safety::Safe, edit.line, message));
    }
    if let Some(new) = without_first_indent(bytes, &edit) {
        edit.to_mut().new = new;
        let message = "kept the file's indentation of the first line";
        mends.push(Mend::new(Code::M416, Safety::Lossy, edit.line, message));
    }
    edit
}

/// Returns the line of a byte, counted from 1.
fn line_at(bytes: &[u8], at: usize) -> u64 {
    let before = bytes.get(..at).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() as u64 + 1
}

/// Returns new text with the line feeds at its edges that the old has: two lines are joined by who names a
/// part of both. `None` when there is none to give.
fn with_edges(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let last = is_feed(old.last()) && !is_feed(new.last());
    let first = is_feed(old.first()) && !is_feed(new.first());
    let end = last_line_end(old);
    let [above, below] = [first, last].map(|lacks| if lacks { end } else { b"" });
    ((first || last) && !old.trim_ascii().is_empty() && !new.trim_ascii().is_empty())
        .then(|| [above, new, below].concat())
}

fn is_feed(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b'\n' | b'\r'))
}

const MANY_PLACES: usize = 1000;

/// Returns the text with the new one where the old one is, or after so many lines, and the first place.
fn apply_edit(bytes: &[u8], edit: &Edit) -> Result<(usize, Vec<u8>), Refusal> {
    let (old, new) = (&*edit.old, &*edit.new);
    let expected = edit.expected.filter(|_| !edit.all);
    let several = edit.all || expected.is_some();
    let places: Vec<usize> = match edit.after {
        Some(row) => after_row(bytes, row).into_iter().collect(),
        None if old.is_empty() => Vec::new(),
        None if several => memchr::memmem::find_iter(bytes, old).collect(),
        None => find_all(bytes, old),
    };
    let places = match places
        .iter()
        .find(|at| edit.hint.is_some_and(|hint| line_at(bytes, **at) == u64::from(hint)))
    {
        Some(at) if !several => vec![*at],
        _ => places,
    };
    let count = places.len();
    let Some(first) = places.first() else {
        let message = match edit.after {
            Some(row) => format!("the file has no line {row} to put the new text after"),
            None => "the old text is not in the file".to_owned(),
        };
        return refuse(Code::P401, message);
    };
    if let Some(expected) =
        expected.filter(|wanted| *wanted as usize != count && edit.after.is_none())
    {
        let message = format!("the old text fits in {count} places, but {expected} are expected");
        return refuse(Code::P403, message);
    }
    if count > 1 && !several {
        let more = if count > MANY_PLACES { "at least " } else { "" };
        let message = format!("the old text fits in {more}{count} places");
        let mut failure = Refusal::new(Code::P403, message);
        failure.mismatch.candidates =
            places.iter().take(50).map(|at| line_at(bytes, *at)).collect();
        return Err(failure);
    }
    if count > 1 && (new.len() as u64).saturating_mul(count as u64) > MAX_READ_BYTES {
        let message = format!("the new text would be written in {count} places, which is too many");
        return refuse(Code::P705, message);
    }
    let mut made = Vec::with_capacity(bytes.len() + new.len());
    if edit.after.is_some() && *first == bytes.len() && !bytes.ends_with(b"\n") && !bytes.is_empty()
    {
        // Behind a last line without a newline, the new one has none.
        let new = new.strip_suffix(b"\n").unwrap_or(new);
        return Ok((*first, [bytes, b"\n", new].concat()));
    }
    let mut from = 0;
    for at in &places {
        made.extend_from_slice(bytes.get(from..*at).unwrap_or_default());
        made.extend_from_slice(new);
        from = at + old.len();
    }
    made.extend_from_slice(bytes.get(from..).unwrap_or_default());
    Ok((*first, made))
}

// The new text without the indent that the file has before the old one already, where only the old text has
// lost that of its first line.
fn without_first_indent(bytes: &[u8], edit: &Edit) -> Option<Vec<u8>> {
    let (old, new) = (&*edit.old, &*edit.new);
    let is_lost = old.first()?.is_ascii_graphic() && new.trim_ascii_start() != old;
    let places = find_all(bytes, old);
    let [at] = places.as_slice() else {
        return None;
    };
    let indent = bytes.get(..*at)?.rsplit(|byte| *byte == b'\n').next()?;
    let is_indent = !indent.is_empty() && indent.iter().all(|byte| b" \t".contains(byte));
    let rest = new.strip_prefix(indent)?;
    (is_lost && is_indent).then(|| rest.to_vec())
}

// Where a text is, also where places overlap; one more than many at the most.
fn find_all(bytes: &[u8], old: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(bytes.get(from..).unwrap_or_default(), old) {
        found.push(from + at);
        from += at + 1;
        if found.len() > MANY_PLACES {
            break;
        }
    }
    found
}

// Where the line after the first `row` lines starts.
fn after_row(bytes: &[u8], row: u32) -> Option<usize> {
    let (text, row) = (Text::new(bytes), row as usize);
    (row <= text.len()).then(|| text.span(0, row).len())
}

/// Applies a binary patch, whose data `make` expands; both ids have to prove its content.
pub(super) fn apply_binary(
    ids: Option<(&str, &str)>,
    before: &[u8],
    make: impl FnOnce(BlobId) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, Refusal> {
    let ids = ids.and_then(|(old, new)| Some((old.parse().ok()?, new.parse().ok()?)));
    let Some::<(BlobId, BlobId)>((old, new)) = ids else {
        let message = "a binary patch needs full blob ids in its index line";
        return refuse(Code::P601, message);
    };
    let zero = BlobId::from_bytes([0; 20]);
    let matches =
        |bytes: &[u8], id| BlobId::from_content(bytes) == id || (bytes.is_empty() && id == zero);
    if !matches(before, old) {
        let message = "the file is not the one the binary patch was made for";
        return refuse(Code::P604, message);
    }
    let after = make(new).filter(|after| matches(after, new));
    let message = "the binary data does not produce the content that the `index` line names";
    after.ok_or_else(|| Refusal::new(Code::P601, message))
}

/// The content that binary data leads to; `None` when it is damaged.
pub(super) fn expand_binary(data: &Binary, before: &[u8]) -> Option<Vec<u8>> {
    match data {
        Binary::Literal(bytes) => Some(bytes.clone()),
        Binary::Delta(delta) => apply_delta(before, delta),
    }
}

/// Applies a git delta.
fn apply_delta(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta.iter().copied();
    let (from, to) = (read_size(&mut rest)?, read_size(&mut rest)?);
    if from != base.len() || to > MAX_READ_BYTES as usize {
        return None;
    }
    let mut out = Vec::with_capacity(to.min(1 << 20));
    while let Some(command) = rest.next() {
        if command & 0x80 != 0 {
            let mut number = |bits: std::ops::Range<u8>| {
                bits.clone().try_fold(0_usize, |value, bit| {
                    if command & (1 << bit) == 0 {
                        return Some(value);
                    }
                    Some(value | usize::from(rest.next()?) << (8 * (bit - bits.start)))
                })
            };
            let offset = number(0..4)?;
            let count = match number(4..7)? {
                0 => 0x10000,
                count => count,
            };
            out.extend_from_slice(base.get(offset..offset.checked_add(count)?)?);
        } else if command == 0 {
            return None;
        } else {
            for _ in 0..command {
                out.push(rest.next()?);
            }
        }
        if out.len() > to {
            return None;
        }
    }
    (out.len() == to).then_some(out)
}

/// Reads a size of a delta: seven bits a byte, the lowest first.
fn read_size(rest: &mut dyn Iterator<Item = u8>) -> Option<usize> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    loop {
        let byte = rest.next()?;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            return usize::try_from(value).ok();
        }
    }
}

/// Removed and added lines as a hunk: lines that both sides share at the start and the end are context.
pub(in crate::patch) fn with_context<'a>(
    mut old: Vec<HunkLine<'a>>,
    mut new: Vec<HunkLine<'a>>,
) -> Vec<HunkLine<'a>> {
    let head = old.iter().zip(&new).take_while(has_same_text).count();
    let most = old.len().min(new.len()) - head;
    let back = old.iter().rev().zip(new.iter().rev()).take(most);
    let tail = back.take_while(has_same_text).count();
    let mut below = old.split_off(old.len() - tail);
    let gone = old.split_off(head);
    for line in old.iter_mut().chain(&mut below) {
        line.kind = LineKind::Context;
    }
    old.extend(gone);
    new.truncate(new.len() - tail);
    old.extend(new.into_iter().skip(head));
    old.extend(below);
    old
}

fn has_same_text((a, b): &(&HunkLine<'_>, &HunkLine<'_>)) -> bool {
    a.text() == b.text()
}
