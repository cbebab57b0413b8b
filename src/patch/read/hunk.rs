//! Reads the body of a hunk.

use crate::patch::set::{Hunk, HunkLine, LineKind, line_number};
use crate::patch::text::{Text, leading_number};

/// The surroundings of a hunk that can end it.
#[derive(Debug, Default)]
pub(super) struct Surroundings<'a> {
    /// A code fence is open.
    pub(super) fenced: bool,
    /// Names of tags that are open, such as `patch`.
    pub(super) tags: Vec<&'a [u8]>,
}

impl<'a> Surroundings<'a> {
    /// Notes a fence or a tag that opens or closes at a line of prose.
    pub(super) fn note_line(&mut self, line: &'a [u8]) {
        let text = line.trim_ascii();
        if text.starts_with(b"```") {
            self.fenced = !self.fenced;
        }
        let tag = text.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">"));
        let Some(tag) = tag.filter(|tag| !tag.is_empty() && tag.len() < 40) else {
            return;
        };
        if let Some(closed) = tag.strip_prefix(b"/") {
            self.tags.retain(|open| *open != closed);
        } else if tag.iter().all(|byte| is_name_byte(*byte)) && self.tags.len() < 16 {
            self.tags.push(tag);
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The numbers of a `@@` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HunkHeader<'a> {
    /// `@@ -1,2 +1,3 @@ scope`
    Numbered {
        old: (u32, u32),
        new: (u32, u32),
        scope: &'a [u8],
    },
    /// `@@`, `@@ ... @@`, `@@ scope`
    Bare { scope: &'a [u8] },
    /// It only starts like a numbered one.
    Broken,
}

/// Reads a line as the header of a hunk.
pub(super) fn parse_header(line: &[u8]) -> Option<HunkHeader<'_>> {
    let rest = line.strip_prefix(b"@@")?;
    if !matches!(rest.first(), None | Some(b' ' | b'\r')) {
        return None;
    }
    if let Some(numbers) = rest.strip_prefix(b" -") {
        return Some(parse_numbered(numbers).unwrap_or(HunkHeader::Broken));
    }
    let scope = rest.trim_ascii();
    let scope = scope.strip_suffix(b"@@").unwrap_or(scope).trim_ascii();
    let scope = if scope == b"..." { &[] } else { scope };
    Some(HunkHeader::Bare { scope })
}

fn parse_numbered(text: &[u8]) -> Option<HunkHeader<'_>> {
    let (old, rest) = parse_range(text)?;
    let rest = rest.trim_ascii_start().strip_prefix(b"+")?;
    let (new, rest) = parse_range(rest)?;
    let rest = rest.trim_ascii_start().strip_prefix(b"@@")?;
    let scope = rest.strip_prefix(b" ").unwrap_or(rest);
    Some(HunkHeader::Numbered { old, new, scope })
}

/// Reads `12,3`, or `12` for one line: the numbers, and what follows.
pub(in crate::patch) fn parse_range(text: &[u8]) -> Option<((u32, u32), &[u8])> {
    let (start, rest) = leading_number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => {
            let (count, rest) = leading_number(rest)?;
            Some(((start, count), rest))
        }
        None => Some(((start, 1), rest)),
    }
}

/// Reads the body of a hunk that starts at `from`; gives the hunk and the index of the line after.
///
/// The header's counts are taken when the body has exactly that many lines; else the body
/// decides, up to the next line that cannot belong to it.
pub(super) fn read_body<'a>(
    lines: &Text<'a>,
    from: usize,
    header: HunkHeader<'a>,
    around: &Surroundings<'_>,
) -> (Hunk<'a>, usize) {
    let mut hunk = Hunk {
        line: line_number(from.saturating_sub(1)),
        ..Hunk::default()
    };
    let counted = match header {
        HunkHeader::Numbered { old, new, scope } => {
            (hunk.old, hunk.new, hunk.scope) = (Some(old), Some(new), scope);
            read_counted(lines, from, old.1, new.1, around)
        }
        HunkHeader::Bare { scope } => {
            hunk.scope = scope;
            None
        }
        HunkHeader::Broken => None,
    };
    hunk.counts_hold = counted.is_some();
    let (body, next) = counted.unwrap_or_else(|| read_free(lines, from, around));
    hunk.lines = body;
    if !hunk.counts_hold {
        hunk.loose_tail = loose_tail(&hunk.lines);
    }
    hunk.ends_input = next == lines.len();
    hunk.cut = hunk.ends_input && !lines.final_newline;
    (hunk, next)
}

fn read_counted<'a>(
    lines: &Text<'a>,
    from: usize,
    mut old: u32,
    mut new: u32,
    around: &Surroundings<'_>,
) -> Option<(Vec<HunkLine<'a>>, usize)> {
    let mut body: Vec<HunkLine<'a>> =
        Vec::with_capacity((old as usize + new as usize).min(1 << 12));
    let mut at = from;
    while old > 0 || new > 0 {
        let line = lines.get(at)?;
        if line.first() == Some(&b'\\') {
            body.last_mut()?.no_newline = true;
            at += 1;
            continue;
        }
        if line.starts_with(b"diff --git ") || parse_header(line).is_some() || is_end(line, around)
        {
            return None;
        }
        let line = HunkLine::marked(line, line_number(at));
        match line.kind {
            LineKind::Context => {
                old = old.checked_sub(1)?;
                new = new.checked_sub(1)?;
            }
            LineKind::Remove => old = old.checked_sub(1)?,
            LineKind::Add => new = new.checked_sub(1)?,
        }
        body.push(line);
        at += 1;
    }
    if lines.line(at).starts_with(b"\\ ")
        && let Some(last) = body.last_mut()
    {
        last.no_newline = true;
        at += 1;
    }
    let after = skip_blank(lines, at);
    let next = lines.line(after);
    let goes_on = matches!(next.first(), Some(b' ' | b'+' | b'-' | b'\\'))
        && !starts_section(lines, after)
        && !is_signature(lines, after, true);
    (!goes_on).then_some((body, at))
}

fn read_free<'a>(
    lines: &Text<'a>,
    from: usize,
    around: &Surroundings<'_>,
) -> (Vec<HunkLine<'a>>, usize) {
    let mut body: Vec<HunkLine<'a>> = Vec::new();
    let mut at = from;
    while let Some(line) = lines.get(at) {
        if parse_header(line).is_some()
            || is_end(line, around)
            || starts_section(lines, at)
            || is_signature(lines, at, false)
        {
            break;
        }
        if line.starts_with(b"\\ ") {
            if let Some(last) = body.last_mut() {
                last.no_newline = true;
            }
        } else {
            body.push(HunkLine::marked(line, line_number(at)));
        }
        at += 1;
    }
    (body, at)
}

// Blank lines at the end, and prose after a blank line, may be no part of the hunk.
fn loose_tail(body: &[HunkLine<'_>]) -> usize {
    let unmarked = body.iter().rev().take_while(|line| !line.prefixed && !line.no_newline).count();
    let mut tail = body.iter().skip(body.len() - unmarked);
    let firm = tail.position(|line| line.line.is_empty());
    unmarked - firm.unwrap_or(unmarked)
}

/// Returns the first row from `at` on that is not empty.
pub(super) fn skip_blank(lines: &Text<'_>, at: usize) -> usize {
    at + (at..lines.len()).take_while(|row| lines.line(*row).is_empty()).count()
}

/// Whether a file section starts at this line.
pub(super) fn starts_section(lines: &Text<'_>, at: usize) -> bool {
    let line = lines.line(at);
    match line.first() {
        Some(b'd') => [&b"diff --git "[..], b"diff --cc ", b"diff --combined "]
            .iter()
            .any(|start| line.starts_with(start)),
        Some(b'-') => line.starts_with(b"--- ") && lines.line(at + 1).starts_with(b"+++ "),
        Some(b'*') => line.starts_with(b"*** End Patch") || line.starts_with(b"*** Begin Patch"),
        Some(b'I') => line.starts_with(b"Index: ") && lines.line(at + 1).starts_with(b"====="),
        _ => false,
    }
}

// The line `-- ` with which mailed patches end: behind a hunk whose counts hold whatever follows, else with a
// version or the end of the patch.
fn is_signature(lines: &Text<'_>, at: usize, at_counted_end: bool) -> bool {
    let line = lines.line(at);
    if line != b"-- " && line != b"--" {
        return false;
    }
    let version = lines.line(at + 1);
    let is_version = version.first().is_some_and(u8::is_ascii_digit) && version.contains(&b'.');
    let rest = skip_blank(lines, at + 1 + usize::from(is_version));
    line == b"-- " && at_counted_end
        || (is_version || line == b"-- ")
            && (rest >= lines.len()
                || lines.line(rest).starts_with(b"From ")
                || starts_section(lines, rest))
}

fn is_end(line: &[u8], around: &Surroundings<'_>) -> bool {
    if line.starts_with(b"```") {
        return around.fenced || line.trim_ascii() == b"```";
    }
    let Some(name) = line.strip_prefix(b"</") else {
        return false;
    };
    around
        .tags
        .iter()
        .any(|tag| name.strip_prefix(*tag).is_some_and(|rest| rest.trim_ascii() == b">"))
}

#[cfg(test)]
mod tests {
    use super::{HunkHeader, Surroundings, parse_header, read_body};
    use crate::patch::text::Text;

    fn read(text: &str) -> (usize, usize, usize, bool) {
        let lines = Text::new(text.as_bytes());
        let head = parse_header(lines.line(0)).unwrap();
        let (hunk, next) = read_body(&lines, 1, head, &Surroundings::default());
        (hunk.lines.len(), next, hunk.loose_tail, hunk.counts_hold)
    }

    #[test]
    fn reads_headers() {
        let scope = b"def f():";
        assert_eq!(
            parse_header(b"@@ -1,2 +3 @@ def f():"),
            Some(HunkHeader::Numbered {
                old: (1, 2),
                new: (3, 1),
                scope
            })
        );
        assert_eq!(
            parse_header(b"@@ ... @@"),
            Some(HunkHeader::Bare { scope: b"" })
        );
        assert_eq!(parse_header(b"@@ -x +1 @@"), Some(HunkHeader::Broken));
        assert_eq!(
            parse_header(b"@@ -99999999999 +1 @@"),
            Some(HunkHeader::Broken)
        );
        assert_eq!(parse_header(b"@@decorator"), None);
    }

    #[test]
    fn lets_the_body_decide_when_the_counts_are_wrong() {
        assert_eq!(read("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), (3, 4, 0, true));
        assert_eq!(read("@@ -1,1 +1,1 @@\n a\n-b\n+c\n"), (3, 4, 0, false));
        assert_eq!(
            read("@@ -1,2 +1,2 @@\n a\n-b\n+c\n\nSo be it.\n"),
            (3, 4, 0, true)
        );
        assert_eq!(
            read("@@ -1,9 +1,2 @@\n a\n-b\n+c\n\nSo be it.\n"),
            (5, 6, 2, false)
        );
    }

    #[test]
    fn removed_line_may_look_like_header() {
        assert_eq!(read("@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n"), (3, 4, 0, true));
    }
}
