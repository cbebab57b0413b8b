//! Reads SEARCH/REPLACE blocks.

use super::claims::Claims;
use super::fence::{divides_block, ends_block, starts_block};
use super::file_line::name_above;
use super::problem;
use super::reader::{Lines, line_number};
use crate::model::{Code, Mend, Operation, PatchFormat};
use crate::patch::bodies::with_context;
use crate::patch::set::{Body, FilePatch, Hunk, HunkLine, LineKind, PatchSet};
use crate::patch::text::leading_number;

/// Reads SEARCH/REPLACE blocks. `None` when there is none.
pub(super) fn read_blocks<'a>(lines: &Lines<'a>, mends: &[Mend]) -> Option<Claims<'a>> {
    let mut set = PatchSet::empty(PatchFormat::SearchReplace, mends.to_vec());
    let mut spans = Vec::new();
    let marks = Marks::find(lines);
    let mut path: Option<&'a [u8]> = None;
    let mut from = 0;
    for (index, start) in marks.starts.iter().enumerate() {
        if *start < from {
            continue;
        }
        path = name_above(lines, *start).or(path);
        let next = marks.starts.get(index + 1).copied();
        match read_block(lines, &marks, *start, next) {
            Ok((hunk, after)) => {
                match path {
                    Some(path) => push_hunk(&mut set, path, hunk, *start),
                    None => set.problems.push(problem(
                        Code::P201,
                        line_number(*start),
                        "no line above the block names its file",
                    )),
                }
                spans.push(*start..after);
                from = after;
            }
            Err(message) => set
                .problems
                .push(problem(Code::P104, line_number(*start), message)),
        }
    }
    (!marks.starts.is_empty()).then_some(Claims { set, spans })
}

/// Where the lines stand that begin, divide and end blocks.
struct Marks {
    starts: Vec<usize>,
    dividers: Vec<usize>,
    ends: Vec<usize>,
}

impl Marks {
    fn find(lines: &Lines<'_>) -> Self {
        let rows = |is_mark: fn(&[u8]) -> bool| -> Vec<usize> {
            (0..lines.len())
                .filter(|at| is_mark(lines.get(*at)))
                .collect()
        };
        Self {
            starts: rows(starts_block),
            dividers: rows(divides_block),
            ends: rows(ends_block),
        }
    }
}

fn rows_after(rows: &[usize], at: usize) -> &[usize] {
    rows.get(rows.partition_point(|row| *row <= at)..)
        .unwrap_or_default()
}

fn read_block<'a>(
    lines: &Lines<'a>,
    marks: &Marks,
    start: usize,
    next: Option<usize>,
) -> Result<(Hunk<'a>, usize), &'static str> {
    let dividers = rows_after(&marks.dividers, start);
    let first = *dividers.first().ok_or("a SEARCH block has no `=======`")?;
    let end = *rows_after(&marks.ends, first)
        .first()
        .ok_or("a block has no `>>>>>>> REPLACE`")?;
    if next.is_some_and(|next| next < end) {
        return Err("a block starts inside another");
    }
    let mut hunk = Hunk {
        line: line_number(start),
        ..Hunk::default()
    };
    let mut from = start + 1;
    if let Some(line) = lines.get(from).strip_prefix(b":start_line:") {
        let line = std::str::from_utf8(line)
            .ok()
            .and_then(|line| line.trim().parse().ok());
        hunk.old = line.map(|line| (line, 0));
        from += 1;
        from += usize::from(lines.get(from).starts_with(b":end_line:"));
        if lines.get(from).starts_with(b"-------") {
            from += 1;
        }
    }
    // Roo puts the line behind the block.
    let mut after = (end + 1..end + 3).filter_map(|at| {
        let line = lines.get(at).trim_ascii().strip_prefix(b"<start_line>")?;
        leading_number::<u32>(line).map(|(line, _)| line)
    });
    hunk.old = hunk.old.or(after.next_back().map(|line| (line, 0)));
    let dividers = dividers.get(..dividers.partition_point(|row| *row < end));
    let usual = dividers.unwrap_or_default().iter().copied();
    let mut usual = usual.filter(|row| lines.get(*row).trim_ascii() == b"=======");
    let divider = usual.next().unwrap_or(first);
    if usual.next().is_some() {
        return Err("a block has several lines `=======`, and nothing says which divides it");
    }
    hunk.lines = read_sides(lines, from, divider, end);
    Ok((hunk, end + 1))
}

fn read_sides<'a>(lines: &Lines<'a>, from: usize, divider: usize, end: usize) -> Vec<HunkLine<'a>> {
    let taken = |kind| move |at: usize| HunkLine::plain(kind, lines.get(at), line_number(at));
    let old = (from..divider).map(taken(LineKind::Remove)).collect();
    let new = (divider + 1..end).map(taken(LineKind::Add)).collect();
    with_context(old, new)
}

fn push_hunk<'a>(set: &mut PatchSet<'a>, path: &'a [u8], hunk: Hunk<'a>, at: usize) {
    let creates = hunk.old_lines().next().is_none();
    if let Some(FilePatch {
        headers,
        body: Body::Hunks(hunks),
        ..
    }) = set.files.last_mut()
        && *headers.path == *path
        && !creates
    {
        hunks.push(hunk);
        return;
    }
    let operation = if creates {
        Operation::Create
    } else {
        Operation::Modify
    };
    let body = Body::Hunks(vec![hunk]);
    set.files
        .push(FilePatch::explicit(line_number(at), operation, path, body));
}
