use super::change::Change;
use super::text::Text;

/// The statements at the margin of a file that a change touches, before and after it, with the number of the
/// lines above.
///
/// What parses without an error on both sides begins and ends outside of strings and brackets, so the rest of
/// the file reads as it did. What does not parse says nothing: then the whole file has to be asked.
pub(super) struct Window<'c> {
    pub(super) old: &'c [u8],
    pub(super) new: &'c [u8],
    pub(super) above: u32,
}

impl<'c> Window<'c> {
    /// The whole of both sides.
    pub(super) fn whole(change: &'c Change) -> Option<Self> {
        let new = &*change.after.as_ref()?.bytes;
        let old = change.before.as_ref().map_or(&[][..], |it| &it.bytes);
        Some(Self { old, new, above: 0 })
    }

    /// `None` where it would be most of the file.
    pub(super) fn around(change: &'c Change) -> Option<Self> {
        let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
        let (old, new) = (Text::new(&before.bytes), Text::new(&after.bytes));
        let (first, last) = (change.runs().next()?, change.runs().last()?);
        let begins = |row: &usize| starts_statement(old.line(*row));
        // The line above may be one that the change goes on with.
        let start = (0..first.0.start.min(old.len())).rev().find(begins)?;
        let end = (last.0.end..old.len()).find(begins).unwrap_or(old.len());
        let new_end = (end + new.len()).checked_sub(old.len())?;
        let is_part = start <= new_end && (end - start) * 2 < old.len();
        is_part.then(|| Self {
            old: old.span(start, end),
            new: new.span(start, new_end),
            above: u32::try_from(start).unwrap_or(u32::MAX),
        })
    }
}

// A word at the margin that does not go on with the statement above.
fn starts_statement(line: &[u8]) -> bool {
    let word = line
        .split(|it| !it.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    let goes_on: [&[u8]; 7] = [
        b"else", b"elif", b"except", b"finally", b"catch", b"case", b"default",
    ];
    line.first()
        .is_some_and(|it| it.is_ascii_alphabetic() || *it == b'@')
        && !goes_on.contains(&word)
}
