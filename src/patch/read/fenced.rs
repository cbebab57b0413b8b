use std::ops::Range;

use super::claims::Claims;
use super::command::{Place, command};
use super::file_line::file_name;
use super::reader::{Lines, number};
use crate::model::{Mend, Operation, PatchFormat};
use crate::patch::set::{Body, FilePatch, PatchSet, Suspect, Unread};

/// What stands in fences and shell commands.
#[derive(Default)]
pub(super) struct Fenced<'a> {
    /// Files under their names, each with the rows that it takes.
    pub(super) named: Vec<(FilePatch<'a>, Range<usize>)>,
    /// Code without a name, and commands.
    pub(super) unread: Vec<Unread>,
}

impl<'a> Fenced<'a> {
    /// The files among it. `None` when there is none.
    pub(super) fn files(self, mends: Vec<Mend>) -> Option<Claims<'a>> {
        let mut set = PatchSet::empty(PatchFormat::WholeFile, mends);
        let (files, spans): (Vec<_>, Vec<_>) = self.named.into_iter().unzip();
        set.files = files;
        (!set.files.is_empty()).then_some(Claims { set, spans })
    }
}

/// Reads whole files that stand in fences, each under a line that names it and nothing else, and what else looks like a change in the rows that are not `taken`. `None` when
/// that takes too long.
pub(super) fn fenced<'a>(lines: &Lines<'a>, taken: &dyn Fn(usize) -> bool) -> Option<Fenced<'a>> {
    let mut found = Fenced::default();
    let mut at = 0;
    // Hostile text is not looked through from each of its fences to its end.
    let mut left = lines.len().saturating_mul(SEARCHES);
    while let Some(line) = lines.line(at) {
        if taken(at) {
            at += 1;
        } else if line.starts_with(b"```") {
            let fence = Fence::at(lines, at, taken);
            left = left.checked_sub(fence.close.unwrap_or(lines.len()) - at)?;
            at = found.take(lines, &fence, taken);
        } else {
            found
                .unread
                .extend(command(line, Place::Prose).map(|what| Unread {
                    line: number(at),
                    what,
                }));
            at += 1;
        }
    }
    Some(found)
}

struct Fence<'a> {
    at: usize,
    close: Option<usize>,
    language: &'a [u8],
    name: Option<&'a [u8]>,
}

impl<'a> Fence<'a> {
    fn at(lines: &Lines<'a>, at: usize, taken: &dyn Fn(usize) -> bool) -> Self {
        let line = lines.get(at);
        let width = line.iter().take_while(|byte| **byte == b'`').count();
        let (mark, word) = line.split_at(width);
        let language = word.trim_ascii();
        let is_diff = matches!(language, b"diff" | b"patch");
        // A suggestion stands for the lines that it comments on.
        let whole = !is_diff && !language.starts_with(b"suggestion");
        let name = named(lines, at).filter(|_| whole);
        let close = closing_fence(lines, at + 1, mark, taken);
        Self {
            at,
            close,
            language,
            name,
        }
    }
}

impl<'a> Fenced<'a> {
    // Gives the row to go on from.
    fn take(
        &mut self,
        lines: &Lines<'a>,
        fence: &Fence<'a>,
        taken: &dyn Fn(usize) -> bool,
    ) -> usize {
        let Some(close) = fence.close else {
            return fence.at + 1;
        };
        if (fence.at + 1..close).any(taken) {
            return close + 1;
        }
        let Some(name) = fence.name else {
            self.unnamed(lines, fence, close);
            return close + 1;
        };
        let file = whole(lines, fence.at, close, name);
        self.named.push((file, fence.at + 1..close));
        close + 1
    }

    fn unnamed(&mut self, lines: &Lines<'a>, fence: &Fence<'a>, close: usize) {
        let rows = || (fence.at + 1..close).map(|at| lines.get(at));
        let is_change = |row: &[u8]| matches!(row.first(), Some(b'+' | b'-'));
        let other = |what: &str| vec![Suspect::Other(what.to_owned())];
        let found = match fence.language {
            b"diff" | b"patch" if rows().any(is_change) => {
                other("a diff that no header gives a file")
            }
            language if language.starts_with(b"suggestion") => {
                other("a suggestion, which says neither file nor lines")
            }
            _ => {
                let commands: Vec<_> = rows()
                    .filter_map(|row| command(row, Place::Script))
                    .collect();
                match commands.is_empty() && rows().any(defines) {
                    true => vec![code(None, rows())],
                    false => commands,
                }
            }
        };
        let line = number(fence.at);
        let found = found.into_iter().map(|what| Unread { line, what });
        self.unread.extend(found);
    }
}

/// Code that may only be shown.
pub(super) fn code<'r>(path: Option<&[u8]>, rows: impl Iterator<Item = &'r [u8]>) -> Suspect {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Suspect::Code {
        path: path.map(text),
        rows: rows.map(text).collect(),
    }
}

// Whether a line of code defines something.
fn defines(row: &[u8]) -> bool {
    let row = row.trim_ascii();
    let starts: [&[u8]; 7] = [
        b"def ",
        b"class ",
        b"async def ",
        b"function ",
        b"async function ",
        b"export ",
        b"interface ",
    ];
    let opens = |byte: &u8| matches!(byte, b'(' | b'{' | b':' | b'=');
    starts.iter().any(|start| row.starts_with(start)) && row.iter().any(opens)
}

fn whole<'a>(lines: &Lines<'a>, at: usize, close: usize, name: &'a [u8]) -> FilePatch<'a> {
    let mut content = Vec::new();
    for row in at + 1..close {
        content.extend_from_slice(lines.get(row));
        content.push(b'\n');
    }
    FilePatch::explicit(number(at), Operation::Modify, name, Body::Whole(content))
}

// How often all lines may be looked through.
const SEARCHES: usize = 64;

// The line right above the fence, or one blank line higher.
fn named<'a>(lines: &Lines<'a>, fence: usize) -> Option<&'a [u8]> {
    let above = |back: usize| fence.checked_sub(back).map(|at| lines.get(at));
    let line = above(1).filter(|line| !line.trim_ascii().is_empty());
    let name = file_name(line.or_else(|| above(2))?).filter(|it| !names_lines(it))?;
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    let extension = last.rsplit(|byte| *byte == b'.').next()?;
    let is_file = extension.len() < last.len() && (1..6).contains(&extension.len());
    is_file.then_some(name)
}

// `src/a.py:12`, `src/a.py:12-20`, `src/a.py#L12`: what follows is no whole file.
fn names_lines(name: &[u8]) -> bool {
    let Some(at) = name.iter().rposition(|byte| matches!(byte, b':' | b'#')) else {
        return false;
    };
    let lines = name.get(at + 1..).unwrap_or_default();
    let number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'L' | b'-' | b',');
    lines.iter().any(u8::is_ascii_digit) && lines.iter().all(number)
}

// The bare fence that no fence with a word behind it has opened.
fn closing_fence(
    lines: &Lines<'_>,
    from: usize,
    fence: &[u8],
    taken: &dyn Fn(usize) -> bool,
) -> Option<usize> {
    let mut open = 0_usize;
    (from..lines.len()).find(|at| {
        let Some(rest) = lines.get(*at).strip_prefix(fence) else {
            return false;
        };
        if taken(*at) {
            return false;
        }
        let word = rest.trim_ascii();
        if !word.is_empty() {
            open += usize::from(word.first().is_some_and(u8::is_ascii_alphanumeric));
            return false;
        }
        let closes = open == 0;
        open = open.saturating_sub(1);
        closes
    })
}
