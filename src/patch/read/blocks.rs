use std::borrow::Cow;

use super::lines::{Lines, number};
use super::problem;
use crate::model::{Code, Mend, Operation, PatchFormat};
use crate::patch::set::{Body, FilePatch, Headers, Hunk, HunkLine, LineKind, PatchSet, Side};

/// Reads SEARCH/REPLACE blocks. `None` when there is none.
pub(super) fn blocks<'a>(lines: &Lines<'a>, mends: &[Mend]) -> Option<PatchSet<'a>> {
    let mut set = PatchSet {
        format: PatchFormat::SearchReplace,
        files: Vec::new(),
        mends: mends.to_vec(),
        problems: Vec::new(),
    };
    let mut path: Option<&'a [u8]> = None;
    let mut at = 0;
    let mut found = false;
    while at < lines.len() {
        if !is_fence(lines.get(at), b'<', b"SEARCH") {
            at += 1;
            continue;
        }
        found = true;
        path = name_above(lines, at).or(path);
        match block(lines, at) {
            Ok((hunk, next)) => {
                match path {
                    Some(path) => push(&mut set, path, hunk, at),
                    None => set.problems.push(problem(
                        Code::P201,
                        number(at),
                        "no line above the block names its file",
                    )),
                }
                at = next;
            }
            Err(message) => {
                set.problems.push(problem(Code::P104, number(at), message));
                at += 1;
            }
        }
    }
    found.then_some(set)
}

fn block<'a>(lines: &Lines<'a>, start: usize) -> Result<(Hunk<'a>, usize), &'static str> {
    let find = |from: usize, mark: u8, word: &[u8]| {
        (from..lines.len()).find(|at| is_fence(lines.get(*at), mark, word))
    };
    let divider = find(start + 1, b'=', b"").ok_or("a SEARCH block has no `=======`")?;
    let end = find(divider + 1, b'>', b"REPLACE").ok_or("a block has no `>>>>>>> REPLACE`")?;
    if find(start + 1, b'<', b"SEARCH").is_some_and(|next| next < end) {
        return Err("a block starts inside another");
    }
    let mut hunk = Hunk {
        line: number(start),
        ..Hunk::default()
    };
    let mut from = start + 1;
    if let Some(line) = lines.get(from).strip_prefix(b":start_line:") {
        let line = std::str::from_utf8(line)
            .ok()
            .and_then(|it| it.trim().parse().ok());
        hunk.old = line.map(|line| (line, 0));
        from += 1;
        if lines.get(from).starts_with(b"-------") {
            from += 1;
        }
    }
    let taken = |kind| {
        move |at: usize, line: &'a [u8]| HunkLine {
            kind,
            line: Cow::Borrowed(line),
            prefixed: false,
            bare: false,
            no_newline: false,
            at: number(at),
        }
    };
    let (remove, add) = (taken(LineKind::Remove), taken(LineKind::Add));
    hunk.lines
        .extend((from..divider).map(|at| remove(at, lines.get(at))));
    hunk.lines
        .extend((divider + 1..end).map(|at| add(at, lines.get(at))));
    trim_common(&mut hunk);
    Ok((hunk, end + 1))
}

// Lines that both sides share at the start and the end are context.
fn trim_common(hunk: &mut Hunk<'_>) {
    let (old, new): (Vec<_>, Vec<_>) = hunk
        .lines
        .drain(..)
        .partition(|line| line.kind == LineKind::Remove);
    let same = |a: &HunkLine<'_>, b: &HunkLine<'_>| a.text() == b.text();
    let head = old.iter().zip(&new).take_while(|(a, b)| same(a, b)).count();
    let most = old.len().min(new.len()) - head;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(most)
        .take_while(|(a, b)| same(a, b))
        .count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut after = Vec::new();
    for (index, mut line) in old.into_iter().enumerate() {
        if index < head {
            line.kind = LineKind::Context;
            hunk.lines.push(line);
        } else if index < old_end {
            hunk.lines.push(line);
        } else {
            line.kind = LineKind::Context;
            after.push(line);
        }
    }
    let added = new.into_iter().enumerate();
    hunk.lines.extend(
        added
            .filter(|(index, _)| (head..new_end).contains(index))
            .map(|(_, line)| line),
    );
    hunk.lines.extend(after);
}

fn push<'a>(set: &mut PatchSet<'a>, path: &'a [u8], hunk: Hunk<'a>, at: usize) {
    let creates = hunk.old_lines().next().is_none();
    if let Some(FilePatch {
        headers,
        body: Body::Hunks(hunks),
        ..
    }) = set.files.last_mut()
        && headers.plus.as_ref().and_then(Side::name) == Some(path)
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
    let name = Side::Name(Cow::Borrowed(path));
    set.files.push(FilePatch {
        line: number(at),
        headers: Headers {
            explicit: Some(operation),
            minus: Some(if creates { Side::Null } else { name.clone() }),
            plus: Some(name),
            ..Headers::default()
        },
        body: Body::Hunks(vec![hunk]),
    });
}

// At least five of the mark and then the word.
fn is_fence(line: &[u8], mark: u8, word: &[u8]) -> bool {
    let count = line.iter().take_while(|byte| **byte == mark).count();
    let rest = line.get(count..).unwrap_or_default().trim_ascii();
    (5..=9).contains(&count) && (rest == word || (word == b"SEARCH" && rest == b"ORIGINAL"))
}

// The name stands in one of the three lines above, perhaps dressed up or beside a code fence.
fn name_above<'a>(lines: &Lines<'a>, at: usize) -> Option<&'a [u8]> {
    for back in 1..=3 {
        let line = lines.get(at.checked_sub(back)?).trim_ascii();
        if is_fence(line, b'>', b"REPLACE") {
            return None;
        }
        if let Some(info) = line.strip_prefix(b"```") {
            let name = info.trim_ascii();
            if name.contains(&b'.') && !name.contains(&b' ') {
                return Some(name);
            }
            continue;
        }
        let name = undress(line);
        if !name.is_empty() && !name.contains(&b' ') {
            return Some(name);
        }
        if !name.is_empty() {
            return None;
        }
    }
    None
}

// `**src/a.py**:`, `# src/a.py`, `` `src/a.py` ``
fn undress(line: &[u8]) -> &[u8] {
    let dress = |byte: &u8| matches!(byte, b'*' | b'`' | b'#' | b' ' | b':');
    let start = line
        .iter()
        .position(|byte| !dress(byte))
        .unwrap_or(line.len());
    let end = line
        .iter()
        .rposition(|byte| !dress(byte))
        .map_or(start, |at| at + 1);
    line.get(start..end).unwrap_or_default()
}
