//! Reads git and unified diffs.

use std::ops::Range;

use super::binary::read_binary;
use super::claims::Claims;
use super::file_line::name_above;
use super::hunk::{self, HunkHeader, Surroundings};
use crate::model::{Code, Mend, PatchFormat, Safety};
use crate::patch::set::{Body, FilePatch, Headers, Hunk, PatchSet, line_number};
use crate::patch::strict::is_header_word;
use crate::patch::text::Text;

/// Reads git and unified diffs, whatever is around them.
pub(super) fn read_diff<'a>(lines: &Text<'a>, mends: Vec<Mend>) -> Claims<'a> {
    let mut scan = Scan {
        lines,
        at: 0,
        around: Surroundings::default(),
        set: PatchSet::empty(PatchFormat::Unified, mends),
        spans: Vec::new(),
        index_name: &[],
    };
    while let Some(line) = lines.get(scan.at) {
        scan.read_line(line);
    }
    if scan.set.files.iter().any(|file| file.headers.text.starts_with(b"diff --git ")) {
        scan.set.format = PatchFormat::Git;
    }
    let Scan { set, spans, .. } = scan;
    Claims { set, spans }
}

struct Scan<'a, 'l> {
    lines: &'l Text<'a>,
    at: usize,
    around: Surroundings<'a>,
    set: PatchSet<'a>,
    spans: Vec<Range<usize>>,
    index_name: &'a [u8],
}

impl<'a> Scan<'a, '_> {
    fn read_line(&mut self, line: &'a [u8]) {
        let start = self.at;
        let count = self.header_lines();
        if count > 0 {
            self.at += count;
            self.read_section(self.header_text(start, count), start);
        } else if let Some(name) = line.strip_prefix(b"Index: ") {
            self.index_name = name.trim_ascii();
            self.at += 1;
        } else if hunk::parse_header(line).is_some()
            && let Some(name) = name_above(self.lines, start).filter(|name| name.contains(&b'.'))
        {
            self.read_section([b"--- ", name, b"\n+++ ", name, b"\n"].concat(), start);
        } else if line.starts_with(b"@@ -") && hunk::parse_header(line).is_some() {
            let message = "a hunk comes before any file header, so no file is named";
            self.fail(Code::P201, message);
            self.read_hunk(&mut Vec::new(), hunk::parse_header(line));
            self.spans.push(start..self.at);
        } else if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
            let message = "this is a combined diff (of a merge), which cannot be applied";
            self.fail(Code::P103, message);
            self.at += 1;
        } else {
            self.around.note_line(line);
            self.at += 1;
        }
    }

    fn fail(&mut self, code: Code, message: &str) {
        self.set.refuse(code, self.at, message);
    }

    /// Returns how many lines of a file header are here.
    ///
    /// Either of the two names may be missing right above a hunk.
    fn header_lines(&self) -> usize {
        let line = |ahead: usize| self.lines.line(self.at + ahead);
        let is_name = line(0).starts_with(b"--- ") || line(0).starts_with(b"+++ ");
        if line(0).starts_with(b"diff --git ") {
            let words = (1..).take_while(|ahead| is_header_word(line(*ahead)));
            return 1 + words.count();
        }
        let usual = line(0).starts_with(b"--- ") && line(1).starts_with(b"+++ ");
        match is_name {
            true if usual => 2,
            true if hunk::parse_header(line(1)).is_some() => 1,
            _ => 0,
        }
    }

    /// The header lines as git wants them, with both names.
    fn header_text(&self, from: usize, count: usize) -> Vec<u8> {
        let mut text = Vec::new();
        for at in from..from + count {
            let line = self.lines.line(at);
            text.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
            text.push(b'\n');
        }
        if count == 1 && !text.starts_with(b"diff ") {
            // One name represents both sides.
            let name = text.get(3..).unwrap_or_default().to_vec();
            text = [b"---", name.as_slice(), b"+++", &name].concat();
        }
        text
    }

    fn read_section(&mut self, text: Vec<u8>, start: usize) {
        let name = std::mem::take(&mut self.index_name).rsplit(|byte| *byte == b'/').next();
        if memchr::memmem::find(&text, name.unwrap_or_default()).is_none() {
            let message = "the `Index:` line names another file than the headers";
            self.fail(Code::P202, message);
        }
        let is_git = text.starts_with(b"diff --git ");
        let named = text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"+++ "));
        let body = if is_git && !named {
            self.body_without_names()
        } else {
            self.read_hunks(named)
        };
        let file = FilePatch {
            line: line_number(start),
            headers: Headers {
                text,
                ..Headers::default()
            },
            body,
        };
        self.claim_rows(start, file.hunks());
        self.set.files.push(file);
    }

    // Lines that may be no part of a hunk are anyone's.
    fn claim_rows(&mut self, mut from: usize, hunks: &[Hunk<'_>]) {
        for hunk in hunks {
            let firm = hunk.lines.len().saturating_sub(hunk.loose_tail);
            if let (Some(first), Some(last)) = (hunk.lines.get(firm), hunk.lines.last()) {
                self.spans.push(from..(first.at as usize).saturating_sub(1));
                from = last.at as usize;
            }
        }
        self.spans.push(from..self.at);
    }

    fn body_without_names(&mut self) -> Body<'a> {
        let line = self.lines.line(self.at);
        if line.starts_with(b"Binary files ") || line.starts_with(b"Binary file ") {
            self.at += 1;
            return Body::BinaryWithoutData;
        }
        if line != b"GIT binary patch" {
            return self.read_hunks(true);
        }
        match read_binary(self.lines, self.at + 1) {
            Ok((forward, backward, next)) => {
                self.at = next;
                Body::Binary(forward, backward)
            }
            Err(message) => {
                self.fail(Code::P601, &message);
                self.at += 1;
                Body::BinaryWithoutData
            }
        }
    }

    fn read_hunks(&mut self, named: bool) -> Body<'a> {
        let mut hunks = Vec::new();
        let line = self.lines.line(self.at);
        let is_headless = matches!(line.first(), Some(b' ' | b'+' | b'-'))
            && !hunk::starts_section(self.lines, self.at);
        if named && is_headless {
            self.read_hunk(&mut hunks, None);
        }
        loop {
            let ahead = hunk::skip_blank(self.lines, self.at);
            let Some(header) = hunk::parse_header(self.lines.line(ahead)) else {
                break;
            };
            self.at = ahead;
            if header == HunkHeader::Broken {
                let is_end = hunk::skip_blank(self.lines, ahead + 1) >= self.lines.len();
                let (code, message) = match is_end {
                    true => (Code::P104, "the reply ends inside a hunk header"),
                    false => (Code::P307, "the hunk header cannot be read"),
                };
                self.fail(code, message);
                self.at += 1;
                continue;
            }
            self.read_hunk(&mut hunks, Some(header));
        }
        if hunks.is_empty() { Body::Empty } else { Body::Hunks(hunks) }
    }

    /// Reads the hunk that begins here, with or without its header.
    fn read_hunk(&mut self, hunks: &mut Vec<Hunk<'a>>, header: Option<HunkHeader<'a>>) {
        let from = self.at + usize::from(header.is_some());
        let header = header.unwrap_or(HunkHeader::Bare { scope: &[] });
        let (mut hunk, next) = hunk::read_body(self.lines, from, header, &self.around);
        hunk.line = line_number(self.at);
        // Behind others, one that is there already repeats it: git finds no place for it.
        let mut earlier = hunks.first().into_iter().chain(hunks.last());
        if earlier.any(|one| is_same(one, &hunk)) {
            let message = "dropped a hunk that the patch has twice";
            let mend = Mend::new(Code::M304, Safety::Safe, hunk.line, message);
            self.set.mends.push(mend);
        } else {
            hunks.push(hunk);
        }
        self.at = next.max(from);
    }
}

/// Whether two hunks have the same numbers and the same lines.
fn is_same(one: &Hunk<'_>, other: &Hunk<'_>) -> bool {
    let is_numbered = one.old.is_some() && (one.old, one.new) == (other.old, other.new);
    let mut lines = one.lines.iter().zip(&other.lines);
    is_numbered
        && one.lines.len() == other.lines.len()
        && lines.all(|(one, other)| one.line == other.line)
}
