//! A patch of any format as one model. Text is borrowed, because inputs may be large.

use std::borrow::Cow;

use crate::model::{Code, Mend, Operation, PatchFormat, PatchProblem};

/// A patch in whatever format, as one model. Text is borrowed from the input where it can be.
#[derive(Debug, Clone)]
pub struct PatchSet<'a> {
    /// The format of the input.
    pub format: PatchFormat,
    /// The files it names, in its order.
    pub files: Vec<FilePatch<'a>>,
    /// Corrections that the reader made.
    pub mends: Vec<Mend>,
    /// Problems that the reader found.
    pub problems: Vec<PatchProblem>,
    /// Parts of the input that look like further changes.
    pub unread: Vec<Unread>,
}

impl PatchSet<'_> {
    pub(super) fn empty(format: PatchFormat, mends: Vec<Mend>) -> Self {
        Self {
            format,
            files: Vec::new(),
            mends,
            problems: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Adds what looks like a change at a row of the input, counted from 0.
    pub(super) fn note_unread(&mut self, row: usize, what: &str) {
        let (line, what) = (line_number(row), Suspect::Other(what.to_owned()));
        self.unread.push(Unread { line, what });
    }

    /// Adds what is wrong at a row of the input, counted from 0.
    pub(super) fn refuse(&mut self, code: Code, row: usize, message: impl Into<String>) {
        let problem = PatchProblem::new(code, message).at(None, u64::from(line_number(row)));
        self.problems.push(problem);
    }
}

/// Returns a line number as documents count them, from 1.
pub(super) fn line_number(row: usize) -> u32 {
    u32::try_from(row + 1).unwrap_or(u32::MAX)
}

/// A part of the input that looks like a change but that no reader read. The files decide whether it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Line of the input, counted from 1.
    pub line: u32,
    /// What it is.
    pub what: Suspect,
}

/// The kind of an unread part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suspect {
    /// Code in a fence: no change where it only shows what is in a file before or after.
    Code {
        /// The file that the line above it names.
        path: Option<String>,
        /// Its lines.
        rows: Vec<String>,
    },
    /// A command of a shell.
    Command {
        /// As it is written.
        text: String,
        /// Paths that it deletes or moves; none where it writes a file.
        takes: Vec<String>,
    },
    /// A change in a form or by a tool that is not known, in words.
    Other(String),
}

/// What a patch says about one file.
#[derive(Debug, Clone)]
pub struct FilePatch<'a> {
    /// Line of the patch where it starts, counted from 1.
    pub line: u32,
    /// Names and modes.
    pub headers: Headers<'a>,
    /// The change of content.
    pub body: Body<'a>,
}

impl<'a> FilePatch<'a> {
    /// A section of a form that says outright what happens to which path.
    pub(super) fn explicit(
        line: u32,
        operation: Operation,
        path: impl Into<Cow<'a, [u8]>>,
        body: Body<'a>,
    ) -> Self {
        let headers = Headers {
            explicit: Some(operation),
            path: path.into(),
            ..Headers::default()
        };
        Self {
            line,
            headers,
            body,
        }
    }

    /// The blob ids that the section announces, before and after.
    pub(super) fn announced_ids(&self) -> Option<(&str, &str)> {
        let text = std::str::from_utf8(&self.headers.text).ok()?;
        let ids = text.lines().find_map(|line| line.strip_prefix("index "))?;
        let (old, new) = ids.split(' ').next()?.split_once("..")?;
        Some((old, new))
    }

    /// The hunks, when the section has some.
    pub(super) fn hunks(&self) -> &[Hunk<'a>] {
        match &self.body {
            Body::Hunks(hunks) => hunks,
            _ => &[],
        }
    }
}

/// Returns the body of the last section, when it is for this path.
pub(super) fn last_body<'f, 'a>(
    files: &'f mut [FilePatch<'a>],
    path: &[u8],
) -> Option<&'f mut Body<'a>> {
    let last = files.last_mut()?;
    (*last.headers.path == *path).then_some(&mut last.body)
}

/// The headers that name the file of a section.
#[derive(Debug, Clone, Default)]
pub struct Headers<'a> {
    /// Set for forms that say outright what happens to which path; names need no stripping.
    pub explicit: Option<Operation>,
    /// The path, when the form states it outright.
    pub path: Cow<'a, [u8]>,
    /// The source of a move, when the form states it outright.
    pub from: Option<Cow<'a, [u8]>>,
    /// The header lines of a diff, each with its line feed.
    pub text: Vec<u8>,
}

/// The change of content.
#[derive(Debug, Clone)]
pub enum Body<'a> {
    /// None: a rename, a mode, an empty file.
    Empty,
    /// Lines.
    Hunks(Vec<Hunk<'a>>),
    /// git's binary patch: forward data, and backward data when present.
    Binary(Binary, Option<Binary>),
    /// `Binary files differ` without data.
    BinaryWithoutData,
    /// Replacements of text, each of which must be found exactly once.
    Edits(Vec<Edit>),
    /// The whole file.
    Whole(Vec<u8>),
}

/// One replacement of text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Edit {
    /// What is there.
    pub old: Vec<u8>,
    /// What shall be there.
    pub new: Vec<u8>,
    /// Replace it wherever it occurs.
    pub all: bool,
    /// Replace it wherever it occurs, which must be in so many places.
    pub expected: Option<u32>,
    /// Put the new text after this many lines; nothing is replaced.
    pub after: Option<u32>,
    /// The line at which the old text is said to begin.
    pub hint: Option<u32>,
    /// Line of the input, counted from 1.
    pub line: u32,
}

impl Edit {
    /// One that takes the place of an old text that is there once.
    pub(super) fn once(old: &[u8], new: &[u8], line: u32) -> Self {
        Self {
            old: old.to_vec(),
            new: new.to_vec(),
            all: false,
            expected: None,
            after: None,
            hint: None,
            line,
        }
    }
}

/// Inflated binary data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binary {
    /// The whole content.
    Literal(Vec<u8>),
    /// A git delta against the other side.
    Delta(Vec<u8>),
}

/// A block of changed lines with their context.
#[derive(Debug, Clone, Default)]
pub struct Hunk<'a> {
    /// Line of the patch with the hunk's header, counted from 1.
    pub line: u32,
    /// First old line and count of old lines, as the header has them.
    pub old: Option<(u32, u32)>,
    /// First new line and count of new lines, as the header has them.
    pub new: Option<(u32, u32)>,
    /// Text that names the place: what follows `@@`.
    pub scope: &'a [u8],
    /// Scopes around `scope`, the outermost first.
    pub outer: Vec<&'a [u8]>,
    /// The body.
    pub lines: Vec<HunkLine<'a>>,
    /// How many lines at the end may be no part of the hunk: blank lines and prose.
    pub loose_tail: usize,
    /// The header's counts are those of the body.
    pub counts_hold: bool,
    /// The input ends with this hunk: nothing says that the hunk is whole.
    pub ends_input: bool,
    /// The input ends with this hunk, in the middle of a line.
    pub cut: bool,
    /// It must be at the end of the file.
    pub at_end: bool,
}

/// The kind of a hunk line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// In both sides.
    Context,
    /// In the old side.
    Remove,
    /// In the new side.
    Add,
}

/// The lines of all kinds but one.
pub(super) fn without_kind<'h, 'a>(
    lines: &'h [HunkLine<'a>],
    gone: LineKind,
) -> impl DoubleEndedIterator<Item = &'h HunkLine<'a>> + Clone {
    lines.iter().filter(move |line| line.kind != gone)
}

/// Whether one of the lines is of a kind.
pub(super) fn has_kind(lines: &[HunkLine<'_>], kind: LineKind) -> bool {
    lines.iter().any(|line| line.kind == kind)
}

/// One line of a hunk.
#[derive(Debug, Clone)]
pub struct HunkLine<'a> {
    /// What it is.
    pub kind: LineKind,
    /// The line as it is in the input, without its line feed.
    pub line: Cow<'a, [u8]>,
    /// Whether its first byte is the marker of the kind.
    pub prefixed: bool,
    /// A context line of a diff without the space that should mark it.
    pub bare: bool,
    /// Followed by `\ No newline at end of file`.
    pub no_newline: bool,
    /// Line of the patch, counted from 1.
    pub at: u32,
}

impl<'a> HunkLine<'a> {
    /// A whole line, without a mark.
    pub(super) fn plain(kind: LineKind, line: impl Into<Cow<'a, [u8]>>, at: u32) -> Self {
        Self {
            kind,
            line: line.into(),
            prefixed: false,
            bare: false,
            no_newline: false,
            at,
        }
    }

    /// A line with the mark of its kind. A blank one is context that lost its space; others without a mark
    /// are taken for context that did, which the file then has to confirm.
    pub(super) fn marked(line: &'a [u8], at: u32) -> Self {
        let kind = match line.first() {
            Some(b'+') => LineKind::Add,
            Some(b'-') => LineKind::Remove,
            _ => LineKind::Context,
        };
        let prefixed = matches!(line.first(), Some(b'+' | b'-' | b' '));
        Self {
            prefixed,
            bare: !prefixed && !matches!(line, b"" | b"\r"),
            ..Self::plain(kind, line, at)
        }
    }

    /// Whether it is in the old side.
    pub(super) fn is_old(&self) -> bool {
        self.kind != LineKind::Add
    }

    /// Whether it is in both sides.
    pub(super) fn is_context(&self) -> bool {
        self.kind == LineKind::Context
    }

    /// Whether it has nothing but white space.
    pub(super) fn is_blank(&self) -> bool {
        self.text().trim_ascii().is_empty()
    }

    /// Whether it begins with a blank or a tab.
    pub(super) fn is_indented(&self) -> bool {
        matches!(self.text().first(), Some(b' ' | b'\t'))
    }

    /// The same line with another text.
    pub(super) fn with_text(&self, text: Vec<u8>) -> Self {
        Self {
            line: Cow::Owned(text),
            prefixed: false,
            bare: false,
            ..self.clone()
        }
    }

    /// The text without its marker.
    pub fn text(&self) -> &[u8] {
        if self.prefixed {
            self.line.get(1..).unwrap_or_default()
        } else {
            &self.line
        }
    }
}

impl<'a> Hunk<'a> {
    /// The lines of the old side.
    pub fn old_lines(&self) -> impl Iterator<Item = &HunkLine<'a>> {
        without_kind(&self.lines, LineKind::Add)
    }

    /// The lines of the new side.
    pub fn new_lines(&self) -> impl Iterator<Item = &HunkLine<'a>> {
        without_kind(&self.lines, LineKind::Remove)
    }

    /// Lines that are part of the hunk for sure, with all but `tail` of the others.
    pub(super) fn firm_lines(&self, tail: usize) -> &[HunkLine<'a>] {
        let firm = self.lines.len().saturating_sub(tail);
        self.lines.get(..firm).unwrap_or_default()
    }

    /// Whether anything is added or removed.
    pub fn changes_something(&self) -> bool {
        self.lines.iter().any(|line| line.kind != LineKind::Context)
    }
}
