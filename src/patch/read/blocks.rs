//! Reads SEARCH/REPLACE blocks.

use super::claims::Claims;
use super::fence::{divides_block, ends_block, name_in_mark, starts_block};
use super::file_line::name_above;
use crate::model::{Code, Mend, Operation, PatchFormat};
use crate::patch::bodies::with_context;
use crate::patch::set::{
    Body, FilePatch, Hunk, HunkLine, LineKind, PatchSet, last_body, line_number,
};
use crate::patch::text::{Text, leading_number};

/// Reads SEARCH/REPLACE blocks. `None` when there is none.
pub(super) fn read_blocks<'a>(lines: &Text<'a>, mends: &[Mend]) -> Option<Claims<'a>> {
    let mut set = PatchSet::empty(PatchFormat::SearchReplace, mends.to_vec());
    let mut spans = Vec::new();
    let starts: Vec<usize> = (0..lines.len()).filter(|at| starts_block(lines.line(*at))).collect();
    let mut path: Option<&'a [u8]> = None;
    for (index, start) in starts.iter().enumerate() {
        let named = name_in_mark(lines.line(*start)).filter(|name| !name.is_empty());
        let named = named.map(str::as_bytes);
        path = named.or_else(|| name_above(lines, *start)).or(path);
        let next = starts.get(index + 1).copied();
        let until = match read_block(lines, *start, next) {
            Ok((hunk, after)) => {
                if let Some(path) = path {
                    push_hunk(&mut set, path, hunk, *start);
                } else {
                    set.refuse(Code::P201, *start, "no line above the block names its file");
                }
                after
            }
            Err((code, message)) => {
                set.refuse(code, *start, message);
                next.unwrap_or(lines.len())
            }
        };
        spans.push(*start..until);
    }
    (!starts.is_empty()).then_some(Claims { set, spans })
}

fn read_block<'a>(
    lines: &Text<'a>,
    start: usize,
    next: Option<usize>,
) -> Result<(Hunk<'a>, usize), (Code, &'static str)> {
    let until = next.unwrap_or(lines.len());
    let nested = next.map(|_| "a block starts inside another");
    let mut rows = start + 1..until;
    let first = rows.find(|row| divides_block(lines.line(*row)));
    let first = first.ok_or((
        Code::P104,
        nested.unwrap_or("a SEARCH block has no `=======`"),
    ))?;
    let end = rows.find(|row| ends_block(lines.line(*row)));
    let end = end.ok_or((
        Code::P104,
        nested.unwrap_or("a block has no `>>>>>>> REPLACE`"),
    ))?;
    let mut hunk = Hunk {
        line: line_number(start),
        ..Hunk::default()
    };
    let mut from = start + 1;
    if let Some(line) = lines.line(from).strip_prefix(b":start_line:") {
        hunk.old = leading_number(line.trim_ascii()).map(|(line, _)| (line, 0));
        from += 1;
        from += usize::from(lines.line(from).starts_with(b":end_line:"));
        if lines.line(from).starts_with(b"-------") {
            from += 1;
        }
    }
    // Roo puts the line behind the block.
    let mut after = (end + 1..end + 3).filter_map(|at| {
        let line = lines.line(at).trim_ascii().strip_prefix(b"<start_line>")?;
        leading_number::<u32>(line).map(|(line, _)| line)
    });
    hunk.old = hunk.old.or(after.next_back().map(|line| (line, 0)));
    let mut usual = (first..end).filter(|row| lines.line(*row).trim_ascii() == b"=======");
    let divider = usual.next().unwrap_or(first);
    if usual.next().is_some() {
        let message = "a block has several `=======` lines, and it is unclear which one divides it";
        return Err((Code::P107, message));
    }
    let sides = [
        (LineKind::Remove, from..divider),
        (LineKind::Add, divider + 1..end),
    ];
    let [old, new] = sides.map(|(kind, rows)| {
        rows.map(|at| HunkLine::plain(kind, lines.line(at), line_number(at))).collect()
    });
    hunk.lines = with_context(old, new);
    Ok((hunk, end + 1))
}

fn push_hunk<'a>(set: &mut PatchSet<'a>, path: &'a [u8], hunk: Hunk<'a>, at: usize) {
    let creates = hunk.old_lines().next().is_none();
    if let Some(Body::Hunks(hunks)) = last_body(&mut set.files, path).filter(|_| !creates) {
        hunks.push(hunk);
        return;
    }
    let operation = match creates {
        true => Operation::Create,
        false => Operation::Modify,
    };
    let body = Body::Hunks(vec![hunk]);
    set.files.push(FilePatch::explicit(line_number(at), operation, path, body));
}
