use super::messages::Messages;
use super::options::{GitApplyOptions, Verbosity, WhiteSpace};
use crate::patch::read::range;
use crate::patch::strict::{Fatal, Hunk, Rule, Section, line_of};

/// Where a hunk is read, and what is said about it.
pub(super) struct Counted<'o> {
    pub(super) file: &'o str,
    pub(super) options: &'o GitApplyOptions,
    pub(super) messages: &'o mut Messages,
    /// The line of the patch, counted on while reading.
    pub(super) line: usize,
}

/// Reads the hunk that the input starts with; `None` when it is damaged at the line reached.
pub(super) fn hunk<'a>(
    input: &'a [u8],
    section: &mut Section<'a>,
    counted: &mut Counted<'_>,
) -> Result<Option<Hunk<'a>>, Fatal> {
    let first = line_of(input);
    let Some(mut hunk) = range_line(first) else {
        return Ok(None);
    };
    hunk.line = counted.line;
    if counted.options.recount {
        recount(
            input.get(first.len()..).unwrap_or_default(),
            &mut hunk,
            counted,
        );
    }
    let (mut old, mut new) = (hunk.old_lines, hunk.new_lines);
    let (mut added, mut deleted) = (0, 0);
    let mut at = first.len();
    counted.line += 1;
    while old > 0 || new > 0 {
        let line = line_of(input.get(at..).unwrap_or_default());
        let (Some(mark), true) = (line.first(), line.ends_with(b"\n")) else {
            return Ok(None);
        };
        let (takes, gives) = match mark {
            b' ' | b'\n' => (1, 1),
            b'-' => (1, 0),
            b'+' => (0, 1),
            b'\\' if is_no_newline(line) => (0, 0),
            _ => return Ok(None),
        };
        let (Some(left_old), Some(left_new)) = (old.checked_sub(takes), new.checked_sub(gives))
        else {
            return Ok(None);
        };
        (old, new) = (left_old, left_new);
        if takes + gives > 0 {
            look_at(line, (takes > 0, gives > 0), section, counted);
        }
        match (takes, gives) {
            (1, 1) => {
                hunk.leading += usize::from(deleted == 0 && added == 0);
                hunk.trailing += 1;
            }
            (0, 0) => {}
            _ => {
                deleted += takes;
                added += gives;
                hunk.trailing = 0;
            }
        }
        at += line.len();
        counted.line += 1;
    }
    if !counted.options.recount && deleted == 0 && added == 0 {
        return Ok(None);
    }
    let line = line_of(input.get(at..).unwrap_or_default());
    if is_no_newline(line) {
        at += line.len();
        counted.line += 1;
    }
    if section.creates() && hunk.old_lines > 0 {
        return Err(Fatal("new file depends on old contents".to_owned()));
    }
    if section.deletes() && hunk.new_lines > 0 {
        return Err(Fatal("deleted file still has contents".to_owned()));
    }
    hunk.text = input.get(..at).unwrap_or_default();
    Ok(Some(hunk))
}

/// Reads an `@@ -1,2 +3,4 @@` line; `None` when it is none.
pub(super) fn range_line<'a>(line: &[u8]) -> Option<Hunk<'a>> {
    let rest = line.strip_prefix(b"@@ -")?;
    line.strip_suffix(b"\n")?;
    let (old, rest) = range(rest)?;
    let (new, rest) = range(rest.strip_prefix(b" +")?)?;
    rest.strip_prefix(b" @@")?;
    // A file has far fewer lines, and sums of such numbers stay in range.
    Some(Hunk {
        old_start: old.0 as usize,
        old_lines: old.1 as usize,
        new_start: new.0 as usize,
        new_lines: new.1 as usize,
        ..Hunk::default()
    })
}

// Notes carriage returns of lines that the patch finds, and tells errors of white space in those it makes.
fn look_at(
    line: &[u8],
    (old, new): (bool, bool),
    section: &mut Section<'_>,
    counted: &mut Counted<'_>,
) {
    let (reverse, action) = (counted.options.reverse, counted.options.white_space);
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
        white_space(line, section, counted);
    }
}

fn white_space(line: &[u8], section: &Section<'_>, counted: &mut Counted<'_>) {
    let text = line.get(1..).unwrap_or_default();
    let errors = section.rules.errors(text);
    let shown = text.strip_suffix(b"\n").unwrap_or(text);
    counted.messages.white_space(
        errors,
        (counted.file, counted.line),
        shown,
        counted.options.white_space,
    );
}

// The header's counts give way to what stands there, up to the next hunk or file.
fn recount(body: &[u8], hunk: &mut Hunk<'_>, counted: &mut Counted<'_>) {
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
            _ => {
                if counted.options.verbosity > Verbosity::Quiet {
                    let line = String::from_utf8_lossy(line);
                    counted
                        .messages
                        .warning(&format!("recount: unexpected line: {}", line.trim_end()));
                }
                return;
            }
        }
    }
    (hunk.old_lines, hunk.new_lines) = (old, new);
}

/// `\ No newline at end of file` in whatever language.
fn is_no_newline(line: &[u8]) -> bool {
    line.len() >= 12 && line.starts_with(b"\\ ")
}
