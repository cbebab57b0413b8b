use super::placed::{MendNote, Placed};
use crate::model::Code;
use crate::patch::set::{HunkLine, LineKind};
use crate::patch::text::Text;

/// Moves a hunk whose every old line stands in the file from row `at` on with more or less indentation,
/// all by the same amount; added lines follow.
///
/// That they have to is shown by removed lines, or by a block whose two sides begin alike. A new side that has
/// the indentation of the file already stays.
pub(super) fn reindent<'h, 'a>(
    text: &Text<'_>,
    lines: &[HunkLine<'a>],
    old: &[&HunkLine<'a>],
    at: usize,
) -> Option<Placed<'h, 'a>> {
    let pairs = old.iter().zip(at..).filter(|(line, _)| !line.is_blank());
    let pairs = pairs.map(|(line, row)| (indent(line.text()), indent(text.line(row))));
    let pairs: Vec<(&[u8], &[u8])> = pairs.collect();
    let (first, file) = *pairs.first()?;
    let shift = Shift::between(first, file)?;
    let is_uniform = pairs
        .iter()
        .all(|(patch, file)| shift.apply(patch).as_deref() == Some(*file));
    let is_diff = lines.iter().any(|line| line.prefixed);
    let removes = lines
        .iter()
        .any(|line| line.kind == LineKind::Remove && !line.is_blank());
    let new = lines.iter().filter(|line| line.kind != LineKind::Remove);
    let new = new
        .filter(|line| !line.is_blank())
        .map(|line| indent(line.text()));
    let opens_alike = new.clone().next().is_none_or(|indent| indent == first);
    let is_shown = if is_diff {
        // A diff without any indentation does not tell that of its new lines.
        removes && pairs.len() > 1 && lines.iter().any(HunkLine::is_indented)
    } else {
        opens_alike || pairs.len() > 1 && new.clone().next() == Some(file)
    };
    if !is_uniform || !is_shown {
        return None;
    }
    let moved = lines.iter().map(|line| {
        let stays = !is_diff && !opens_alike && line.kind == LineKind::Add;
        if line.is_blank() || stays {
            return Some(line.clone());
        }
        let before = indent(line.text());
        let rest = line.text().get(before.len()..).unwrap_or_default();
        Some(line.with_text([&shift.apply(before)?, rest].concat()))
    });
    let message = "moved the whole hunk to the indentation of the file";
    let mend = MendNote::lossy(Code::M416, message);
    Some(Placed::new(
        moved.collect::<Option<Vec<_>>>()?,
        at,
        vec![mend],
    ))
}

/// What every line has more, or less, than in the patch.
enum Shift<'l> {
    More(&'l [u8]),
    Less(&'l [u8]),
}

impl<'l> Shift<'l> {
    fn between(patch: &'l [u8], file: &'l [u8]) -> Option<Self> {
        let more = file.strip_suffix(patch).map(Self::More);
        more.or_else(|| patch.strip_suffix(file).map(Self::Less))
    }

    fn apply(&self, indent: &[u8]) -> Option<Vec<u8>> {
        match self {
            // Tabs and spaces do not add up.
            Self::More(more) => {
                let mut bytes = indent.iter().chain(*more);
                let is_one_kind = bytes.all(|byte| Some(byte) == more.first());
                is_one_kind.then(|| [more, indent].concat())
            }
            Self::Less(less) => indent.strip_prefix(*less).map(<[u8]>::to_vec),
        }
    }
}

/// The blanks and tabs that a line begins with.
fn indent(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t'))
        .unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}
