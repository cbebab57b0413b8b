use std::borrow::Cow;
use std::ops::Range;

use super::binary::binary;
use super::claims::Claims;
use super::file_line::name_above;
use super::hunk::{self, HunkHeader, Surroundings};
use super::name::{name, side};
use super::problem;
use super::reader::{Lines, number};
use crate::model::{Code, Mend, PatchFormat, PatchProblem};
use crate::patch::set::{Body, FilePatch, Headers, Hunk, IndexLine, PatchSet, Side};

/// Reads git and unified diffs, whatever stands around them.
pub(super) fn diff<'a>(lines: &Lines<'a>, mends: Vec<Mend>, binary_limit: u64) -> Claims<'a> {
    let mut scan = Scan {
        lines,
        at: 0,
        around: Surroundings::default(),
        files: Vec::new(),
        problems: Vec::new(),
        spans: Vec::new(),
        index_name: None,
        binary_limit,
    };
    scan.run();
    let is_git = scan.files.iter().any(|file| file.headers.is_git);
    let format = if is_git {
        PatchFormat::Git
    } else {
        PatchFormat::Unified
    };
    Claims {
        set: PatchSet {
            files: scan.files,
            problems: scan.problems,
            ..PatchSet::empty(format, mends)
        },
        spans: scan.spans,
    }
}

struct Scan<'a, 'l> {
    lines: &'l Lines<'a>,
    at: usize,
    around: Surroundings<'a>,
    files: Vec<FilePatch<'a>>,
    problems: Vec<PatchProblem>,
    spans: Vec<Range<usize>>,
    index_name: Option<&'a [u8]>,
    binary_limit: u64,
}

impl<'a> Scan<'a, '_> {
    fn run(&mut self) {
        while let Some(line) = self.lines.line(self.at) {
            if let Some(rest) = line.strip_prefix(b"diff --git ") {
                self.git_section(rest);
            } else if line.starts_with(b"--- ") && self.lines.get(self.at + 1).starts_with(b"+++ ")
            {
                self.section(Headers::default(), self.at);
            } else if self.is_damaged_header() {
                self.damaged_section();
            } else if let Some(name) = line.strip_prefix(b"Index: ") {
                self.index_name = Some(name.trim_ascii());
                self.at += 1;
            } else if line.starts_with(b"@@") && self.named_above().is_some() {
                self.section_under_name();
            } else if line.starts_with(b"@@ -") && hunk::header(line).is_some() {
                self.stray_hunk();
            } else if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
                self.fail(
                    Code::P103,
                    "this is a combined diff (of a merge), which cannot be applied",
                );
            } else {
                self.prose(line);
            }
        }
    }

    fn fail(&mut self, code: Code, message: &str) {
        self.problems.push(problem(code, number(self.at), message));
        self.at += 1;
    }

    fn prose(&mut self, line: &'a [u8]) {
        let text = line.trim_ascii();
        if text.starts_with(b"```") {
            self.around.fenced = !self.around.fenced;
        } else if let Some(tag) = text.strip_prefix(b"<").and_then(|it| it.strip_suffix(b">")) {
            let is_name = |tag: &[u8]| {
                !tag.is_empty()
                    && tag.len() < 40
                    && tag
                        .iter()
                        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            };
            if let Some(closed) = tag.strip_prefix(b"/") {
                self.around.tags.retain(|open| *open != closed);
            } else if is_name(tag) && self.around.tags.len() < 16 {
                self.around.tags.push(tag);
            }
        }
        self.at += 1;
    }

    fn git_section(&mut self, git_line: &'a [u8]) {
        let start = self.at;
        let mut headers = Headers {
            is_git: true,
            git_line: Some(git_line),
            ..Headers::default()
        };
        self.at += 1;
        while let Some(line) = self.lines.line(self.at) {
            if !extended_header(line, &mut headers) {
                break;
            }
            self.at += 1;
        }
        self.section(headers, start);
    }

    // From the `---` line on; headers before it are read.
    fn section(&mut self, mut headers: Headers<'a>, start: usize) {
        headers.index_name = self.index_name.take();
        let minus = self.lines.get(self.at).strip_prefix(b"--- ");
        let plus = self.lines.get(self.at + 1).strip_prefix(b"+++ ");
        let named = minus.is_some() && plus.is_some();
        if let (Some(minus), Some(plus)) = (minus, plus) {
            for (text, place) in [(minus, &mut headers.minus), (plus, &mut headers.plus)] {
                match side(text) {
                    Ok(side) => *place = Some(side),
                    Err(message) => headers.bad_name = Some(message),
                }
            }
            self.at += 2;
        }
        self.take_body(headers, named, start);
    }

    fn take_body(&mut self, headers: Headers<'a>, named: bool, start: usize) {
        let body = self.section_body(&headers, named);
        self.claim(start, &body);
        self.files.push(FilePatch {
            line: number(start),
            headers,
            body,
        });
    }

    // Lines that may be no part of a hunk are anyone's.
    fn claim(&mut self, mut from: usize, body: &Body<'a>) {
        let hunks: &[Hunk<'_>] = match body {
            Body::Hunks(hunks) => hunks,
            _ => &[],
        };
        for hunk in hunks {
            let firm = hunk.lines.len().saturating_sub(hunk.loose_tail);
            if let (Some(first), Some(last)) = (hunk.lines.get(firm), hunk.lines.last()) {
                self.spans.push(from..(first.at as usize).saturating_sub(1));
                from = last.at as usize;
            }
        }
        self.spans.push(from..self.at);
    }

    fn section_body(&mut self, headers: &Headers<'a>, named: bool) -> Body<'a> {
        let line = self.lines.get(self.at);
        if headers.is_git && !named {
            if line == b"GIT binary patch" {
                return self.binary_body();
            }
            if line.starts_with(b"Binary files ") || line.starts_with(b"Binary file ") {
                self.at += 1;
                return Body::BinaryWithoutData;
            }
        }
        let mut hunks = Vec::new();
        if named && self.is_headless_body() {
            let header = HunkHeader::Bare { scope: &[] };
            self.hunk(header, self.at, &mut hunks);
        }
        loop {
            let mut ahead = self.at;
            while self.lines.line(ahead).is_some_and(<[u8]>::is_empty) {
                ahead += 1;
            }
            let Some(header) = hunk::header(self.lines.get(ahead)) else {
                break;
            };
            if matches!(header, HunkHeader::Bare { .. }) && !named && !headers.is_git {
                break;
            }
            self.at = ahead;
            if header == HunkHeader::Broken {
                self.fail(
                    Code::P307,
                    "the hunk header has numbers that cannot be read",
                );
                continue;
            }
            self.hunk(header, ahead + 1, &mut hunks);
        }
        if hunks.is_empty() {
            Body::Empty
        } else {
            Body::Hunks(hunks)
        }
    }

    fn is_headless_body(&self) -> bool {
        let line = self.lines.get(self.at);
        matches!(line.first(), Some(b' ' | b'+' | b'-'))
            && !hunk::starts_section(self.lines, self.at)
    }

    fn hunk(&mut self, header: HunkHeader<'a>, from: usize, hunks: &mut Vec<Hunk<'a>>) {
        let (mut hunk, next) = hunk::body(self.lines, from, header, &self.around);
        hunk.line = number(self.at);
        // One without lines has its section refused; more of them than anybody reads say no more.
        let empty = |it: &&Hunk<'_>| it.lines.is_empty();
        if !hunk.lines.is_empty() || hunks.iter().rev().take_while(empty).count() < EMPTY_HUNKS {
            hunks.push(hunk);
        }
        self.at = next.max(from);
    }

    fn binary_body(&mut self) -> Body<'a> {
        match binary(self.lines, self.at + 1, self.binary_limit) {
            Ok((forward, backward, next)) => {
                self.at = next;
                Body::Binary(forward, backward)
            }
            Err(message) => {
                self.fail(Code::P601, &message);
                Body::BinaryWithoutData
            }
        }
    }

    // Headers in the wrong order, or one of two, right above a hunk.
    fn is_damaged_header(&self) -> bool {
        let line = |ahead: usize| self.lines.get(self.at + ahead);
        let is_hunk = |ahead| hunk::header(line(ahead)).is_some();
        let swapped = line(0).starts_with(b"+++ ") && line(1).starts_with(b"--- ") && is_hunk(2);
        let one = line(0).starts_with(b"+++ ") || line(0).starts_with(b"--- ");
        swapped || (one && is_hunk(1))
    }

    fn damaged_section(&mut self) {
        let start = self.at;
        let mut headers = Headers::default();
        while let Some(text) = self.lines.get(self.at).get(4..)
            && hunk::header(self.lines.get(self.at)).is_none()
        {
            let old = self.lines.get(self.at).starts_with(b"--- ");
            match side(text) {
                Ok(side) if old => headers.minus = Some(side),
                Ok(side) => headers.plus = Some(side),
                Err(message) => headers.bad_name = Some(message),
            }
            self.at += 1;
        }
        // One name stands for both sides.
        headers.minus = headers.minus.or_else(|| headers.plus.clone());
        headers.plus = headers.plus.or_else(|| headers.minus.clone());
        self.take_body(headers, true, start);
    }

    // The file that the line above a hunk names, where no header does.
    fn named_above(&self) -> Option<&'a [u8]> {
        hunk::header(self.lines.get(self.at))?;
        name_above(self.lines, self.at).filter(|name| name.contains(&b'.'))
    }

    fn section_under_name(&mut self) {
        let name = || self.named_above().map(|it| Side::Name(Cow::Borrowed(it)));
        let headers = Headers {
            minus: name(),
            plus: name(),
            ..Headers::default()
        };
        self.take_body(headers, true, self.at);
    }

    // A hunk before any file header.
    fn stray_hunk(&mut self) {
        let Some(header) = hunk::header(self.lines.get(self.at)) else {
            return;
        };
        self.problems.push(problem(
            Code::P201,
            number(self.at),
            "a hunk stands before any file header, so no file is named",
        ));
        let (_, next) = hunk::body(self.lines, self.at + 1, header, &self.around);
        self.spans.push(self.at..next.max(self.at + 1));
        self.at = next.max(self.at + 1);
    }
}

// Takes one line of git's headers. `false` when it is none.
fn extended_header<'a>(line: &'a [u8], headers: &mut Headers<'a>) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let after = |start: &str| line.strip_prefix(start.as_bytes());
    if let Some(text) = after("old mode ") {
        headers.old_mode = Some(mode(text));
    } else if let Some(text) = after("new mode ") {
        headers.new_mode = Some(mode(text));
    } else if let Some(text) = after("new file mode ") {
        headers.new_file_mode = Some(mode(text));
    } else if let Some(text) = after("deleted file mode ") {
        headers.deleted_file_mode = Some(mode(text));
    } else if let Some(text) = after("rename from ").or_else(|| after("rename old ")) {
        take(name(text), &mut headers.rename_from, &mut headers.bad_name);
    } else if let Some(text) = after("rename to ").or_else(|| after("rename new ")) {
        take(name(text), &mut headers.rename_to, &mut headers.bad_name);
    } else if let Some(text) = after("copy from ") {
        take(name(text), &mut headers.copy_from, &mut headers.bad_name);
    } else if let Some(text) = after("copy to ") {
        take(name(text), &mut headers.copy_to, &mut headers.bad_name);
    } else if let Some(text) = after("index ") {
        headers.index = index_line(text);
    } else {
        return line.starts_with(b"similarity index ") || line.starts_with(b"dissimilarity index ");
    }
    true
}

fn take<T>(read: Result<T, String>, place: &mut Option<T>, bad: &mut Option<String>) {
    match read {
        Ok(name) => *place = Some(name),
        Err(message) => *bad = Some(message),
    }
}

/// Bits that no mode has: what stands for an unreadable one.
const BAD_MODE: u32 = u32::MAX;

// Hunks without lines, one behind the other, that are told.
const EMPTY_HUNKS: usize = 100;

fn mode(text: &[u8]) -> u32 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| u32::from_str_radix(text.trim(), 8).ok())
        .unwrap_or(BAD_MODE)
}

fn index_line(text: &[u8]) -> Option<IndexLine<'_>> {
    let dots = memchr::memmem::find(text, b"..")?;
    let (old, rest) = text.split_at(dots);
    let mut rest = rest.get(2..)?.splitn(2, |byte| *byte == b' ');
    Some(IndexLine {
        old,
        new: rest.next()?,
        mode: rest.next().map(mode),
    })
}
