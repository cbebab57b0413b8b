//! Gives the lines of a patch the line endings of the file. Models write LF, so otherwise no hunk would
//! match a CRLF file.

use std::borrow::Cow;

use super::set::Hunk;
use super::text::{LineEnds, Text, with_line_ends};
use crate::model::{Code, Mend, Safety};

/// Gives the lines of a patch the line endings of the file: they are a matter of the whole file, not of a
/// line.
pub(super) fn match_line_ends<'t, 'h, 'a>(
    text: Text<'t>,
    mut hunks: Cow<'h, [Hunk<'a>]>,
    mends: &mut Vec<Mend>,
) -> (Text<'t>, Cow<'h, [Hunk<'a>]>) {
    let mut lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    // A carriage return counts only before a newline, since otherwise it is part of the line.
    let any = lines.clone().any(|line| line.line.ends_with(b"\r"));
    let all = any && lines.all(|line| line.line.ends_with(b"\r") != line.no_newline);
    let message = match text.ends {
        LineEnds::CrLf if !all => "gave added lines the CR LF ends of the file",
        LineEnds::Lf if any && text.len() > 0 && !text.has_cr() => {
            "dropped carriage returns that the file does not have"
        }
        _ => return (text, hunks),
    };
    let line = hunks.first().map_or(0, |hunk| u64::from(hunk.line));
    let safety = if all || !any { Safety::Safe } else { Safety::Lossy };
    mends.push(Mend::new(Code::M411, safety, line, message));
    if any {
        drop_cr(&mut hunks);
    }
    let is_plain = text.ends == LineEnds::Lf;
    let text = if is_plain { text } else { text.without_cr() };
    (text, hunks)
}

/// A whole text as the file wants it, its line ends and its byte order mark: those who show a file to a
/// writer leave both out. `None` when it is so already.
pub(super) fn as_the_file(before: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let mark = b"\xef\xbb\xbf";
    let plain = text.strip_prefix(mark).unwrap_or(text);
    let mut out = with_ends(before, plain).unwrap_or_else(|| plain.to_vec());
    if before.ends_with(b"\n") && !plain.is_empty() && !plain.ends_with(b"\n") {
        out.extend_from_slice(last_line_end(before));
    }
    if before.starts_with(mark) || (before.is_empty() && text.starts_with(mark)) {
        out.splice(0..0, *mark);
    }
    (out != text).then_some(out)
}

/// How the last line of a text ends.
pub(super) fn last_line_end(text: &[u8]) -> &'static [u8] {
    if text.ends_with(b"\r\n") { b"\r\n" } else { b"\n" }
}

/// A text with the line ends of a file that has one kind of them; `None` when it has no others.
pub(super) fn with_ends(before: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let end: &[u8] = match Text::new(before).ends {
        LineEnds::CrLf => b"\r\n",
        LineEnds::Lf if before.contains(&b'\n') && !before.contains(&b'\r') => b"\n",
        LineEnds::Lf | LineEnds::Mixed => return None,
    };
    let out = with_line_ends(text, end);
    (out != text).then_some(out)
}

fn drop_cr(hunks: &mut Cow<'_, [Hunk<'_>]>) {
    for hunk in hunks.to_mut() {
        for line in hunk.lines.iter_mut().filter(|line| !line.no_newline) {
            if let Some(plain) = line.line.strip_suffix(b"\r") {
                line.line = Cow::Owned(plain.to_vec());
            }
        }
    }
}
