//! Reads hunks as `git apply` does, `--recount` included.

use super::options::WhiteSpace;
use super::reader::Reader;
use crate::patch::read::parse_range;
use crate::patch::strict::{Hunk, Rule, Section, line_of};

impl<'a> Reader<'a, '_> {
    /// Reads the hunk that the rest of the input starts with; `None` when it is damaged at the line
    /// reached.
    pub(super) fn read_hunk(&mut self, section: &mut Section<'a>) -> Option<Hunk<'a>> {
        let input = self.rest();
        let mut at = line_of(input).len();
        let mut hunk = range_line(line_of(input))?;
        hunk.line = self.line;
        self.line += 1;
        if self.options.recount {
            Self::recount_hunk(input.get(at..).unwrap_or_default(), &mut hunk);
        }
        let (mut old, mut new) = (hunk.old_lines, hunk.new_lines);
        let mut changes = 0;
        while old > 0 || new > 0 {
            let line = line_of(input.get(at..).unwrap_or_default());
            let mark = line.first().filter(|_| line.ends_with(b"\n"))?;
            let (takes, gives) = match mark {
                b' ' | b'\n' => (1, 1),
                b'-' => (1, 0),
                b'+' => (0, 1),
                b'\\' if is_no_newline(line) => (0, 0),
                _ => return None,
            };
            (old, new) = (old.checked_sub(takes)?, new.checked_sub(gives)?);
            match takes + gives {
                0 => {}
                1 => {
                    changes += 1;
                    hunk.trailing = 0;
                }
                _ => {
                    hunk.leading += usize::from(changes == 0);
                    hunk.trailing += 1;
                }
            }
            if takes + gives > 0 {
                self.look_at(line, (takes > 0, gives > 0), section);
            }
            at += line.len();
            self.line += 1;
        }
        if !self.options.recount && changes == 0 {
            return None;
        }
        let line = line_of(input.get(at..).unwrap_or_default());
        if is_no_newline(line) {
            at += line.len();
            self.line += 1;
        }
        hunk.text = input.get(..at).unwrap_or_default();
        Some(hunk)
    }

    // Records carriage returns in lines that the patch matches, and reports white space errors in those it adds.
    fn look_at(&mut self, line: &[u8], (old, new): (bool, bool), section: &mut Section<'_>) {
        let (reverse, action) = (self.options.reverse, self.options.white_space);
        let (finds, makes) = if reverse { (new, old) } else { (old, new) };
        let reports = if old && new {
            !reverse && action == WhiteSpace::Fix
        } else {
            action != WhiteSpace::NoWarn
        };
        if finds && line.ends_with(b"\r\n") {
            section.rules = section.rules.with(Rule::CrAtEnd);
            section.cr_in_old = true;
        }
        if makes && reports {
            let text = line.get(1..).unwrap_or_default();
            let errors = section.rules.errors(text);
            let shown = text.strip_suffix(b"\n").unwrap_or(text);
            let at = (self.name, self.line);
            self.messages.white_space(errors, at, shown, action);
        }
    }

    // Replaces the header's counts by the number of lines up to the next hunk or file.
    fn recount_hunk(body: &[u8], hunk: &mut Hunk<'_>) {
        let (mut old, mut new) = (0, 0);
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            match line.first() {
                Some(b' ' | b'\n') => {
                    old += 1;
                    new += 1;
                }
                Some(b'-') => old += 1,
                Some(b'+') => new += 1,
                Some(b'\\') => {}
                _ if line.starts_with(b"@@ ") || line.starts_with(b"diff ") => break,
                _ => return,
            }
        }
        (hunk.old_lines, hunk.new_lines) = (old, new);
    }
}

/// Reads an `@@ -1,2 +3,4 @@` line; `None` for any other line.
pub(super) fn range_line<'a>(line: &[u8]) -> Option<Hunk<'a>> {
    let rest = line.strip_prefix(b"@@ -")?;
    line.strip_suffix(b"\n")?;
    let (old, rest) = parse_range(rest)?;
    let (new, rest) = parse_range(rest.strip_prefix(b" +")?)?;
    rest.strip_prefix(b" @@")?;
    // Read as u32, so that sums of such numbers stay in range; a file has far fewer lines.
    Some(Hunk {
        old_start: old.0 as usize,
        old_lines: old.1 as usize,
        new_start: new.0 as usize,
        new_lines: new.1 as usize,
        ..Hunk::default()
    })
}

/// `\ No newline at end of file` in whatever language.
fn is_no_newline(line: &[u8]) -> bool {
    line.len() >= 12 && line.starts_with(b"\\ ")
}
