//! Lets each reader claim rows of the input. A row that two claim, or none, shows that the reply is not
//! one patch.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amid::find_amid;
use super::command::{Place, find_command};
use super::envelope::file_line;
use super::fence::starts_block;
use super::fenced::{read_fenced, suspect_code};
use super::hunk::starts_section;
use super::json::Packet;
use super::keys::{NEW, OLD, is_change, is_one, plain};
use crate::patch::set::{PatchSet, Unread};
use crate::patch::text::{Text, matches_pattern};

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
pub(super) fn first_form(lines: &Text<'_>) -> Option<(usize, Form)> {
    (0..lines.len()).find_map(|at| {
        let line = lines.line(at);
        let form = match line.first()? {
            b'<' | b'-' if starts_block(line) => Form::Blocks,
            b'd' | b'-' if starts_section(lines, at) => Form::Diff,
            b'@' if line.starts_with(b"@@ -") => Form::Diff,
            b'*' if line.starts_with(b"*** Begin Patch") || file_line(line).is_some() => {
                Form::Envelope
            }
            _ => return None,
        };
        Some((at, form))
    })
}

/// Adds to what was read in the rows of `spans` what looks like another change in the other rows: a reply
/// is in one form, and nothing of it is dropped unsaid.
pub(super) fn add_others<'a>(lines: &Text<'a>, first: Claims<'a>) -> PatchSet<'a> {
    let Claims { mut set, spans } = first;
    let mut rest = Rest::new(lines, spans);
    if rest.is_blank() {
        return set;
    }
    rest.skip_mail();
    let bytes = rest.bytes();
    let left = Text::new(&bytes);
    if let Some((at, _)) = first_form(&left) {
        set.note_unread(at, "a patch in another format, which mendit does not read");
    }
    match find_amid(&bytes) {
        Some((Packet::Unread(list), _)) => set.unread.extend(list),
        Some((Packet::Changes(..) | Packet::Text(..), spans)) => {
            let at = spans.first().map_or(0, |span| span.start);
            set.note_unread(at, "a JSON edit, which mendit does not read");
        }
        Some((Packet::Nothing, _)) | None => {}
    }
    let mut rows = 0..left.len();
    if let Some((at, what)) = rows.find_map(|at| Some((at, unread_mark(left.line(at))?))) {
        set.note_unread(at, what);
    }
    claim_fences(&rest, &mut set);
    set
}

// The form of edit that a line opens and that no reader reads.
fn unread_mark(line: &[u8]) -> Option<&'static str> {
    if tags_change(line) {
        return Some("an edit in tool tags, which mendit does not read");
    }
    if matches_pattern(&QUOTED_HUNK, line) {
        return Some("a quoted diff, which mendit does not read");
    }
    let is_block = line.starts_with(b"<<<<<<< ") && !starts_block(line);
    is_block.then_some("a block that `<<<<<<< SEARCH` does not begin")
}

/// The head of a hunk behind the marks of a quotation, a list or a table: `> @@ -1,2 +1,2 @@`.
static QUOTED_HUNK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)^[>|*#\t \d]+@@ -.*\+").ok());

/// The first line of a mail with a patch, of `git log`, or of a patch of Debian: `From 1234abcd Mon Sep`,
/// `commit 1234abcd`, `Subject: x`, `Author: A <a@b.org>`.
static MAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u)^((From|commit) [0-9a-fA-F]{7,}( |$)|Subject: |Author: .*<.+@)").ok()
});

// `<edit>`, `<invoke name="edit">`, `<function=edit>`, `<parameter name="new_str">`, `<old_str>`.
fn tags_change(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    let mut tags = text.split('<').skip(1).filter_map(|rest| rest.split_once('>'));
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

/// Checks the prose of a reply: anything in it that looks like a change becomes unread.
pub(super) fn weigh_prose(set: &mut PatchSet<'_>, prose: &[String]) {
    for text in prose {
        let lines = Text::new(text.as_bytes());
        let nothing = Claims {
            set: PatchSet::empty(set.format, Vec::new()),
            spans: Vec::new(),
        };
        set.unread.extend(add_others(&lines, nothing).unread);
    }
}

/// Adds as unread what else is in fences.
fn claim_fences<'a>(rest: &Rest<'a, '_>, set: &mut PatchSet<'a>) {
    let Some(found) = read_fenced(rest.lines, &|at| rest.is_taken(at)) else {
        set.note_unread(0, "text with too many fences");
        return;
    };
    for (file, rows) in found.named {
        let name = &*file.headers.path;
        set.unread.push(Unread {
            line: file.line,
            what: suspect_code(Some(name), rows.map(|at| rest.lines.line(at))),
        });
    }
    set.unread.extend(found.unread);
}

/// The suspects of a text that is the call of a shell.
pub(super) fn find_commands(text: &str, line: u32) -> impl Iterator<Item = Unread> {
    let rows = text.lines().take(1000);
    let suspects = rows.filter_map(|row| find_command(row.as_bytes(), Place::Script));
    suspects.map(move |what| Unread { line, what })
}

// The rows of a reply that no reader has taken so far.
struct Rest<'a, 'l> {
    lines: &'l Text<'a>,
    taken: Vec<bool>,
}

impl<'a, 'l> Rest<'a, 'l> {
    fn new(lines: &'l Text<'a>, spans: Vec<Range<usize>>) -> Self {
        let taken = vec![false; lines.len()];
        let mut rest = Self { lines, taken };
        rest.take_spans(spans);
        rest
    }

    fn take_spans(&mut self, spans: Vec<Range<usize>>) {
        for at in spans.into_iter().flatten() {
            if let Some(taken) = self.taken.get_mut(at) {
                *taken = true;
            }
        }
    }

    fn is_taken(&self, at: usize) -> bool {
        self.taken.get(at).copied().unwrap_or_default()
    }

    fn is_blank(&self) -> bool {
        (0..self.lines.len())
            .all(|at| self.is_taken(at) || self.lines.line(at).trim_ascii().is_empty())
    }

    // The message of a commit is no part of the patch.
    fn skip_mail(&mut self) {
        let mut from = 0;
        let mut mail = Vec::new();
        for at in 0..=self.lines.len() {
            if at == self.lines.len() || self.is_taken(at) {
                if (from..at).any(|row| matches_pattern(&MAIL, self.lines.line(row))) {
                    mail.push(from..at);
                }
                from = at + 1;
            }
        }
        self.take_spans(mail);
    }

    // The unclaimed rows, each at its line number.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for at in 0..self.lines.len() {
            let line = self.lines.line(at);
            bytes.extend_from_slice(if self.is_taken(at) { b"" } else { line });
            bytes.push(b'\n');
        }
        bytes
    }
}
