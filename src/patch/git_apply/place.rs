//! Places hunks by git's rules: offset, reduced context, start and end of file.

use std::borrow::Cow;

use super::messages::Messages;
use super::options::{GitApplyOptions, Verbosity, WhiteSpace};
use crate::patch::strict::{Errors, Hunk, Rule, Rules, is_blank, line_of, same_but_for_space};

/// What placing hunks of one file depends on.
pub(super) struct Placing<'o> {
    pub(super) options: &'o GitApplyOptions,
    pub(super) rules: Rules,
    /// What messages call the patch.
    pub(super) file: &'o str,
    /// The patch has white space errors, so added lines need fixing.
    pub(super) has_errors: bool,
    pub(super) messages: &'o mut Messages,
    /// Comparisons left before the search is given up.
    pub(super) work: u64,
}

/// Comparisons that the hunks of one file may take: far more than honest patches need.
pub(super) const WORK: u64 = 400_000_000;

/// One line of a file, with its newline when it has one.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// A hunk made or checked it; others must leave it alone.
    patched: bool,
}

/// Splits a file into lines.
pub(super) fn split_lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| Line {
        text: Cow::Borrowed(line),
        patched: false,
    });
    lines.collect()
}

// One line of a side of a hunk.
#[derive(Debug, Clone)]
struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    // It is on both sides.
    common: bool,
}

struct Sides<'a> {
    old: Vec<Text<'a>>,
    new: Vec<Text<'a>>,
    // Added blank lines at the end, and the line of the patch with the first.
    blank_at_end: usize,
    first_blank: usize,
}

impl Placing<'_> {
    /// Applies a hunk; `false` when it fits nowhere.
    pub(super) fn apply_hunk<'a>(
        &mut self,
        image: &mut Vec<Line<'a>>,
        hunk: &Hunk<'a>,
        number: usize,
    ) -> bool {
        let Some(mut sides) = self.split_sides(hunk) else {
            return false;
        };
        // The message shows it before its context was reduced.
        let whole = sides.old.clone();
        let (mut leading, mut trailing) = (hunk.leading, hunk.trailing);
        // A hunk that starts at the first line and one that ends without context belong at the
        // edges, unless hunks without context are expected.
        let zero = self.options.unidiff_zero;
        let mut at_start = hunk.old_start == 0 || (hunk.old_start == 1 && !zero);
        let mut at_end = !zero && trailing == 0;
        let mut stated = to_signed(hunk.new_start) - i64::from(hunk.new_start > 0);
        let found = loop {
            if let Some(found) = self.search_place(image, &mut sides, stated, at_start, at_end) {
                break found;
            }
            let least = self.options.min_context;
            if self.work == 0 || (leading <= least && trailing <= least) {
                if self.options.verbosity > Verbosity::Normal {
                    self.messages.raw(b"error: while searching for:\n");
                    let lines = whole.iter().map(|line| &*line.bytes);
                    self.messages.raw(&lines.collect::<Vec<_>>().concat());
                    self.messages.raw(b"\n");
                }
                return false;
            }
            if at_start || at_end {
                (at_start, at_end) = (false, false);
                continue;
            }
            if leading >= trailing {
                drop_first(&mut sides);
                stated -= 1;
                leading -= 1;
            }
            if trailing > leading {
                sides.old.pop();
                sides.new.pop();
                trailing -= 1;
            }
        };
        self.check_blank_end(image, &mut sides, found);
        if self.options.verbosity > Verbosity::Normal && to_signed(found) != stated {
            let sign = if self.options.reverse { -1 } else { 1 };
            let offset = sign * (to_signed(found) - stated);
            let plural = if offset == 1 { "" } else { "s" };
            self.messages.line(&format!(
                "Hunk #{number} succeeded at {} (offset {offset} line{plural}).",
                found + 1
            ));
        }
        if leading != hunk.leading || trailing != hunk.trailing {
            self.messages.line(&format!(
                "Context reduced to ({leading}/{trailing}) to apply fragment at {}",
                found + 1
            ));
        }
        let count = sides.old.len().min(image.len() - found);
        let lines = sides.new.into_iter().map(|line| Line {
            text: line.bytes,
            patched: true,
        });
        image.splice(found..found + count, lines);
        true
    }

    // Splits a hunk; a line is followed by `\` when it has no newline.
    fn split_sides<'a>(&mut self, hunk: &Hunk<'a>) -> Option<Sides<'a>> {
        let mut sides = Sides {
            old: Vec::new(),
            new: Vec::new(),
            blank_at_end: 0,
            first_blank: 0,
        };
        let first = line_of(hunk.text);
        let mut rest = hunk.text.get(first.len()..).unwrap_or_default();
        let mut number = hunk.line;
        let checks_end = self.rules.has(Rule::BlankAtEndOfFile);
        while let Some(mark) = rest.first() {
            number += 1;
            let line = line_of(rest);
            rest = rest.get(line.len()..).unwrap_or_default();
            let mut text = line.get(1..).unwrap_or_default();
            let cut = rest.first() == Some(&b'\\');
            if cut {
                text = text.strip_suffix(b"\n").unwrap_or(text);
            }
            let mark = match (mark, self.options.reverse) {
                (b'-', true) => b'+',
                (b'+', true) => b'-',
                (mark, _) => *mark,
            };
            let (mut blank_context, mut blank_added) = (false, false);
            match mark {
                b'\n' => {
                    // Some tools drop the space of an empty context line.
                    if !cut {
                        sides.old.push(Text::borrowed(line, true));
                        sides.new.push(Text::borrowed(line, true));
                        blank_context = true;
                    }
                }
                b' ' => {
                    blank_context = checks_end && !text.is_empty() && is_blank(text);
                    sides.old.push(Text::borrowed(text, true));
                    sides.new.push(Text::borrowed(text, true));
                }
                b'-' => sides.old.push(Text::borrowed(text, false)),
                b'+' => {
                    let mends = self.has_errors && self.options.white_space == WhiteSpace::Fix;
                    let fixed = if mends { self.rules.fixed(text) } else { None };
                    let counts =
                        fixed.as_deref().is_some_and(|fixed| !self.loses_only_cr(text, fixed));
                    self.messages.fixed += usize::from(counts);
                    let bytes = fixed.map_or(Cow::Borrowed(text), Cow::Owned);
                    sides.new.push(Text {
                        bytes,
                        common: false,
                    });
                    blank_added = checks_end && is_blank(text);
                }
                b'@' | b'\\' => {}
                _ => return None,
            }
            if blank_added {
                if sides.blank_at_end == 0 {
                    sides.first_blank = number;
                }
                sides.blank_at_end += 1;
            } else if !blank_context {
                sides.blank_at_end = 0;
            }
        }
        if self.options.inaccurate_eof
            && ends_with_newline(&sides.old)
            && ends_with_newline(&sides.new)
        {
            for line in [sides.old.last_mut(), sides.new.last_mut()].into_iter().flatten() {
                line.bytes.to_mut().pop();
            }
        }
        Some(sides)
    }

    // git does not count a line as fixed that loses nothing but its carriage return.
    fn loses_only_cr(&self, text: &[u8], fixed: &[u8]) -> bool {
        let body = text.strip_suffix(b"\r\n").filter(|_| !self.rules.has(Rule::CrAtEnd));
        body.is_some_and(|body| fixed.strip_suffix(b"\n") == Some(body))
    }

    // The stated line first, then one line further away at a time, forwards and backwards.
    fn search_place<'a>(
        &mut self,
        image: &[Line<'a>],
        sides: &mut Sides<'a>,
        stated: i64,
        at_start: bool,
        at_end: bool,
    ) -> Option<usize> {
        let len = image.len();
        let stated = if at_start {
            0
        } else if at_end {
            to_signed(len) - to_signed(sides.old.len())
        } else {
            stated
        };
        let start = usize::try_from(stated).map_or(len, |stated| stated.min(len));
        let away = (1..=len).flat_map(|away| [start.checked_add(away), start.checked_sub(away)]);
        let away = away.flatten().filter(|row| *row <= len);
        for at in std::iter::once(start).chain(away) {
            if let Some(lines) = self.fits_at(image, &sides.old, at, at_start, at_end) {
                if let Some(lines) = lines {
                    take_context(sides, lines);
                }
                return Some(at);
            }
            self.work = self.work.saturating_sub(1);
            if self.work == 0 {
                return None;
            }
        }
        None
    }

    // Whether the old side is at a line, and what to take for it when it does not byte for
    // byte.
    fn fits_at<'a>(
        &mut self,
        image: &[Line<'a>],
        old: &[Text<'a>],
        at: usize,
        at_start: bool,
        at_end: bool,
    ) -> Option<Option<Vec<Cow<'a, [u8]>>>> {
        let fixes = self.options.white_space == WhiteSpace::Fix;
        let within = if old.len() + at <= image.len() {
            if at_end && old.len() + at != image.len() {
                return None;
            }
            old.len()
        } else if fixes && self.rules.has(Rule::BlankAtEndOfFile) {
            // Blank lines at the end that an earlier patch added may have been fixed away.
            image.len().checked_sub(at)?
        } else {
            return None;
        };
        if at_start && at > 0 {
            return None;
        }
        let (inside, beyond) = old.split_at_checked(within)?;
        let mut exact = true;
        for (index, line) in inside.iter().enumerate() {
            let there = image.get(at + index)?;
            if there.patched {
                return None;
            }
            let is_last = index + 1 == old.len() && !at_end;
            exact = exact
                && (there.text == line.bytes || is_last && begins_with(&there.text, &line.bytes));
            if !exact && !fixes && !self.options.ignore_white_space {
                self.work = self.work.saturating_sub(index as u64);
                return None;
            }
        }
        if !beyond.iter().all(|line| is_blank(&line.bytes)) {
            return None;
        }
        if exact && beyond.is_empty() {
            return Some(None);
        }
        // Beyond the end, some line before it has to hold the hunk in place.
        if !beyond.is_empty() && inside.iter().all(|line| is_blank(&line.bytes)) {
            return None;
        }
        self.work = self.work.saturating_sub(within as u64);
        let pairs = || {
            let there = inside.iter().enumerate();
            there.filter_map(|(index, line)| Some((image.get(at + index)?, line)))
        };
        if self.options.ignore_white_space {
            if !pairs().all(|(there, line)| same_but_for_space(&there.text, &line.bytes)) {
                return None;
            }
            let lines = pairs().map(|(there, _)| there.text.clone());
            let after = beyond.iter().map(|line| line.bytes.clone());
            return Some(Some(lines.chain(after).collect()));
        }
        let rules = self.rules;
        if !pairs().all(|(there, line)| rules.fix(&there.text) == rules.fix(&line.bytes)) {
            return None;
        }
        let lines = old.iter().map(|line| match rules.fixed(&line.bytes) {
            Some(fixed) => Cow::Owned(fixed),
            None => line.bytes.clone(),
        });
        // As in git, a blank last line without its newline is no line once it is fixed, so it stays in the file.
        Some(Some(lines.filter(|line| !line.is_empty()).collect()))
    }

    fn check_blank_end(&mut self, image: &[Line<'_>], sides: &mut Sides<'_>, found: usize) {
        let action = self.options.white_space;
        if sides.blank_at_end == 0
            || sides.old.len() + found < image.len()
            || !self.rules.has(Rule::BlankAtEndOfFile)
            || action == WhiteSpace::NoWarn
        {
            return;
        }
        let at = (self.file, sides.first_blank);
        self.messages.white_space(Errors::NEW_BLANK_AT_END, at, b"+", action);
        if action == WhiteSpace::Fix {
            let kept = sides.new.len().saturating_sub(sides.blank_at_end);
            sides.new.truncate(kept);
        }
    }
}

fn ends_with_newline(side: &[Text<'_>]) -> bool {
    side.last().is_some_and(|line| line.bytes.ends_with(b"\n"))
}

impl<'a> Text<'a> {
    fn borrowed(bytes: &'a [u8], common: bool) -> Self {
        Self {
            bytes: Cow::Borrowed(bytes),
            common,
        }
    }
}

// As in git, which compares as many bytes as the hunk has, a last line without its newline also is one that
// goes on with white space.
fn begins_with(there: &[u8], line: &[u8]) -> bool {
    let rest = there.strip_prefix(line).filter(|_| !line.ends_with(b"\n"));
    rest.is_some_and(is_blank)
}

fn to_signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn drop_first(sides: &mut Sides<'_>) {
    for side in [&mut sides.old, &mut sides.new] {
        if !side.is_empty() {
            side.remove(0);
        }
    }
}

// Context keeps the white space that was matched rather than the patch's own.
fn take_context<'a>(sides: &mut Sides<'a>, lines: Vec<Cow<'a, [u8]>>) {
    sides.old.truncate(lines.len());
    for (line, bytes) in sides.old.iter_mut().zip(lines) {
        line.bytes = bytes;
    }
    let mut context = sides.old.iter().filter(|line| line.common);
    sides.new.retain_mut(|line| {
        if !line.common {
            return true;
        }
        match context.next() {
            Some(there) => {
                line.bytes.clone_from(&there.bytes);
                true
            }
            None => false,
        }
    });
}
