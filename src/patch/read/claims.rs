//! Lets each reader claim rows of the input. A row that two claim, or none, shows that the reply is not
//! one patch.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amid::find_amid;
use super::command::{Place, find_command};
use super::envelope::starts_file;
use super::fence::starts_block;
use super::fenced::{read_fenced, suspect_code};
use super::json::Packet;
use super::keys::{NEW, OLD, is_change, is_one, plain};
use super::reader::{Lines, line_number};
use crate::patch::set::{PatchSet, Suspect, Unread};
use crate::patch::text::matches_pattern;

/// What a reader found, and the rows that it took for it.
pub(super) struct Claims<'a> {
    pub(super) set: PatchSet<'a>,
    pub(super) spans: Vec<Range<usize>>,
}

// Text forms of a patch. The one whose first mark comes first is read first: what is inside it may
// show another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Diff,
    Blocks,
    Envelope,
}

/// Finds the first row that opens a form.
pub(super) fn first_form(lines: &Lines<'_>) -> Option<(usize, Form)> {
    (0..lines.len()).find_map(|at| {
        let line = lines.get(at);
        let form = match line.first()? {
            b'<' | b'-' if starts_block(line) => Form::Blocks,
            b'd' if line.starts_with(b"diff --git ") => Form::Diff,
            b'-' if line.starts_with(b"--- ") && lines.get(at + 1).starts_with(b"+++ ") => {
                Form::Diff
            }
            b'@' if line.starts_with(b"@@ -") => Form::Diff,
            b'*' if line.starts_with(b"*** Begin Patch") || starts_file(line) => Form::Envelope,
            _ => return None,
        };
        Some((at, form))
    })
}

/// Adds to what was read in the rows of `spans` what looks like another change in the other rows: a reply
/// is in one form, and nothing of it is dropped unsaid.
pub(super) fn add_others<'a>(lines: &Lines<'a>, first: Claims<'a>) -> PatchSet<'a> {
    let Claims { mut set, spans } = first;
    let mut rest = Rest::new(lines, spans);
    if rest.is_blank() {
        return set;
    }
    rest.skip_mail(lines);
    if let Some((at, _)) = first_form(&rest.lines) {
        let what = "a patch in another form, which is not read";
        set.unread.push(note_other(line_number(at), what));
    }
    match find_amid(&rest.bytes()) {
        Some((Packet::Unread(list), _)) => set.unread.extend(list),
        Some((Packet::Changes(..) | Packet::Text(..), spans)) => {
            let at = spans.first().map_or(0, |span| span.start);
            set.unread.push(note_other(
                line_number(at),
                "an edit as JSON, which is not read",
            ));
        }
        Some((Packet::Nothing, _)) | None => {}
    }
    let mut rows = 0..rest.lines.len();
    let found = rows.find_map(|at| Some((at, unread_mark(rest.lines.get(at))?)));
    set.unread
        .extend(found.map(|(at, what)| note_other(line_number(at), what)));
    claim_fences(&rest, &mut set);
    set
}

// What a line opens that no reader reads.
fn unread_mark(line: &[u8]) -> Option<&'static str> {
    if tags_change(line) {
        return Some("an edit in the tags of a tool, which are not read");
    }
    if matches_pattern(&QUOTED_HUNK, line) {
        return Some("a quoted diff, which is not read");
    }
    let is_block = line.starts_with(b"<<<<<<< ");
    is_block.then_some("a block that `<<<<<<< SEARCH` does not begin")
}

/// The head of a hunk behind the marks of a quotation, a list or a table: `> @@ -1,2 +1,2 @@`.
static QUOTED_HUNK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)^[>|*#\t \d]+@@ -.*\+").ok());

/// What a mail with a patch begins with, or `git log`: `From 1234abcd Mon Sep`, `commit 1234abcd`, `Subject: x`.
static MAIL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)^((From|commit) [0-9a-fA-F]{7,}( |$)|Subject: )").ok());

fn note_other(line: u32, what: &str) -> Unread {
    Unread {
        line,
        what: Suspect::Other(what.to_owned()),
    }
}

// `<edit>`, `<invoke name="edit">`, `<function=edit>`, `<parameter name="new_str">`, `<old_str>`.
fn tags_change(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    let mut tags = text
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'));
    tags.any(|(tag, _)| {
        let tag = tag.trim_start_matches('/');
        let (name, called) = tag.split_once([' ', '=']).unwrap_or((tag, ""));
        let called = called.trim_start_matches("name=").trim_matches('"');
        let word = match name {
            "parameter" | "invoke" | "function" => called,
            "edit" | "write" => return true,
            _ => name,
        };
        let is_tool = word.contains('_') && word != "replace_in_file" && is_change(&plain(word));
        is_tool || is_one(word, OLD) || is_one(word, NEW) || name != word && is_change(&plain(word))
    })
}

/// Weighs what a reply tells beside the changes of a set: what looks like a change there is unread.
pub(super) fn weigh_prose(set: &mut PatchSet<'_>, prose: &[String]) {
    for text in prose {
        let lines = Lines::new(text.as_bytes());
        let nothing = Claims {
            set: PatchSet::empty(set.format, Vec::new()),
            spans: Vec::new(),
        };
        set.unread.extend(add_others(&lines, nothing).unread);
    }
}

/// Adds as unread what else is in fences.
fn claim_fences<'a>(rest: &Rest<'a>, set: &mut PatchSet<'a>) {
    let Some(found) = read_fenced(&rest.whole, &|at| rest.is_taken(at)) else {
        set.unread.push(note_other(1, "text with too many fences"));
        return;
    };
    for (file, rows) in found.named {
        let name = &*file.headers.path;
        set.unread.push(Unread {
            line: file.line,
            what: suspect_code(Some(name), rows.map(|at| rest.whole.get(at))),
        });
    }
    set.unread.extend(found.unread);
}

/// The suspects of a text that is the call of a shell.
pub(super) fn find_commands(text: &str, line: u32) -> impl Iterator<Item = Unread> {
    let rows = text.lines().take(MOST_COMMANDS);
    let suspects = rows.filter_map(|row| find_command(row.as_bytes(), Place::Script));
    suspects.map(move |what| Unread { line, what })
}

const MOST_COMMANDS: usize = 1000;

// The rows of a reply that no reader has taken so far.
struct Rest<'a> {
    // All rows, and those that are left, the others blank.
    whole: Lines<'a>,
    lines: Lines<'a>,
    taken: Vec<bool>,
}

impl<'a> Rest<'a> {
    fn new(lines: &Lines<'a>, spans: Vec<Range<usize>>) -> Self {
        let mut rest = Self {
            whole: lines.clone(),
            lines: lines.clone(),
            taken: vec![false; lines.len()],
        };
        rest.take_spans(spans);
        rest
    }

    fn take_spans(&mut self, spans: Vec<Range<usize>>) {
        for at in spans.into_iter().flatten() {
            self.lines.blank_line(at);
            if let Some(taken) = self.taken.get_mut(at) {
                *taken = true;
            }
        }
    }

    fn is_taken(&self, at: usize) -> bool {
        self.taken.get(at).copied().unwrap_or_default()
    }

    fn is_blank(&self) -> bool {
        (0..self.lines.len()).all(|at| self.lines.get(at).trim_ascii().is_empty())
    }

    // The message of a commit is no part of the patch.
    fn skip_mail(&mut self, lines: &Lines<'a>) {
        let mut from = 0;
        let mut mail = Vec::new();
        for at in 0..=lines.len() {
            if at == lines.len() || self.is_taken(at) {
                if (from..at).any(|row| matches_pattern(&MAIL, lines.get(row))) {
                    mail.push(from..at);
                }
                from = at + 1;
            }
        }
        self.take_spans(mail);
    }

    // What is left, each row in its line.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for at in 0..self.lines.len() {
            bytes.extend_from_slice(self.lines.get(at));
            bytes.push(b'\n');
        }
        bytes
    }
}

/// Where the rows of a text end.
pub(super) struct Rows(Vec<usize>);

impl Rows {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        Self(memchr::memchr_iter(b'\n', bytes).collect())
    }

    /// The rows that a range of bytes touches.
    pub(super) fn touched_rows(&self, range: &Range<usize>) -> Range<usize> {
        let row = |at: usize| self.0.partition_point(|feed| *feed < at);
        row(range.start)..row(range.end.saturating_sub(1)) + 1
    }
}
