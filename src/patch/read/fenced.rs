//! Reads whole files in fences.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::claims::Claims;
use super::command::{Place, find_command};
use super::file_line::file_name;
use crate::model::{Mend, Operation, PatchFormat};
use crate::patch::elision::is_comment;
use crate::patch::set::{Body, FilePatch, PatchSet, Suspect, Unread, line_number};
use crate::patch::text::{Text, matches_pattern};

/// The content of code fences and shell commands.
#[derive(Default)]
pub(super) struct Fenced<'a> {
    /// Files under their names, each with the rows that it takes.
    pub(super) named: Vec<(FilePatch<'a>, Range<usize>)>,
    /// Code without a name, and commands.
    pub(super) unread: Vec<Unread>,
}

impl<'a> Fenced<'a> {
    /// The files among it. `None` when there is none.
    pub(super) fn claim_files(self, mends: Vec<Mend>) -> Option<Claims<'a>> {
        let mut set = PatchSet::empty(PatchFormat::WholeFile, mends);
        let (files, spans): (Vec<_>, Vec<_>) = self.named.into_iter().unzip();
        set.files = files;
        (!set.files.is_empty()).then_some(Claims { set, spans })
    }
}

/// Reads whole files that are in fences, each under a line that names it and nothing else, and what else
/// looks like a change in the rows that are not `taken`. `None` when that takes too long.
pub(super) fn read_fenced<'a>(
    lines: &Text<'a>,
    taken: &dyn Fn(usize) -> bool,
) -> Option<Fenced<'a>> {
    let mut found = Fenced::default();
    let mut at = 0;
    // Bounded so that hostile text is not looked through from each of its fences to its end.
    // Budget for passes over all lines, to avoid quadratic work.
    let mut left = lines.len().saturating_mul(64);
    while let Some(line) = lines.get(at) {
        let start = at;
        at += 1;
        if taken(start) {
            continue;
        }
        if !line.starts_with(b"```") {
            let line_number = line_number(start);
            let what = find_command(line, Place::Prose);
            found.unread.extend(what.map(|what| Unread {
                line: line_number,
                what,
            }));
            continue;
        }
        let width = line.iter().take_while(|byte| **byte == b'`').count();
        let (mark, language) = line.split_at(width);
        let close = closing_fence(lines, at, mark, taken);
        left = left.checked_sub(close.unwrap_or(lines.len()) - start)?;
        if let Some(close) = close {
            if !(at..close).any(taken) {
                found.add_fence(lines, start..close, language.trim_ascii());
            }
            at = close + 1;
        }
    }
    Some(found)
}

impl<'a> Fenced<'a> {
    /// Adds what is in a fence: a whole file under its name, or what may be another change.
    fn add_fence(&mut self, lines: &Text<'a>, fence: Range<usize>, language: &[u8]) {
        let rows = (fence.start + 1..fence.end).map(|at| lines.line(at));
        let is_diff = matches!(language, b"diff" | b"patch");
        // A suggestion represents the lines that it comments on.
        let is_suggestion = language.starts_with(b"suggestion");
        let name = name_of_fence(lines, fence.start).filter(|_| !is_diff && !is_suggestion);
        let line = line_number(fence.start);
        if let Some(name) = name {
            let content = rows.clone().flat_map(|row| [row, b"\n"]).collect::<Vec<_>>().concat();
            let body = Body::Whole(content);
            let file = FilePatch::explicit(line, Operation::Modify, name, body);
            self.named.push((file, fence.start + 1..fence.end));
            return;
        }
        let found = if is_diff && rows.clone().any(|row| matches!(row.first(), Some(b'+' | b'-'))) {
            other_suspect("a diff without a header that names its file")
        } else if is_suggestion {
            other_suspect("a suggestion that names neither file nor lines")
        } else {
            let commands: Vec<_> =
                rows.clone().filter_map(|row| find_command(row, Place::Script)).collect();
            if commands.is_empty() && rows.clone().any(|row| matches_pattern(&DEFINITION, row)) {
                vec![suspect_code(None, rows.clone())]
            } else {
                commands
            }
        };
        let found = found.into_iter().map(|what| Unread { line, what });
        self.unread.extend(found);
    }
}

fn other_suspect(what: &str) -> Vec<Suspect> {
    vec![Suspect::Other(what.to_owned())]
}

/// Code that may only be shown.
pub(super) fn suspect_code<'r>(
    path: Option<&[u8]>,
    rows: impl Iterator<Item = &'r [u8]>,
) -> Suspect {
    Suspect::Code {
        path: path.map(to_text),
        rows: rows.map(to_text).collect(),
    }
}

fn to_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A line of code that defines something.
static DEFINITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "(async )?(def|function)|class|export|interface";
    Regex::new(&format!(r"(?-u)^\s*({words}) .*[({{:=]")).ok()
});

/// `src/a.py:12`, `src/a.py:12-20`, `src/a.py#L12`: what follows is no whole file.
static LINES_OF_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)[:#][L,-]*\d[L\d,-]*$").ok());

// The line right above the fence, or one blank line higher.
fn name_of_fence<'a>(lines: &Text<'a>, fence: usize) -> Option<&'a [u8]> {
    let [above, second] = [1, 2].map(|back| Some(lines.line(fence.checked_sub(back)?)));
    path_of_line(above.filter(|line| !line.trim_ascii().is_empty()).or(second)?)
}

/// Finds the first fence whose own first line is a comment that names a file; returns its line and the name.
pub(super) fn headed_fence<'a>(lines: &Text<'a>) -> Option<(u32, &'a [u8])> {
    let mut rows = 1..lines.len();
    rows.find_map(|at| {
        let is_head = lines.line(at - 1).starts_with(b"```") && is_comment(lines.line(at));
        let name = path_of_line(lines.line(at)).filter(|_| is_head)?;
        Some((line_number(at - 1), name))
    })
}

fn path_of_line(line: &[u8]) -> Option<&[u8]> {
    let name = file_name(line).filter(|name| !matches_pattern(&LINES_OF_FILE, name))?;
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    let extension = last.rsplit(|byte| *byte == b'.').next()?;
    let is_file = extension.len() < last.len() && (1..6).contains(&extension.len());
    is_file.then_some(name)
}

// The bare fence that no fence with a word behind it has opened.
fn closing_fence(
    lines: &Text<'_>,
    from: usize,
    fence: &[u8],
    taken: &dyn Fn(usize) -> bool,
) -> Option<usize> {
    let mut open = 0_usize;
    (from..lines.len()).find(|at| {
        let Some(rest) = lines.line(*at).strip_prefix(fence) else {
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
