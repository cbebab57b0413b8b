//! Removes what transport added to an input: byte order marks, carriage returns, colors and reasoning.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::thoughts::without_thoughts;
use crate::model::{Code, Mend, Safety};
use crate::patch::text::with_line_ends;
use crate::source::without_colors;

/// Removes what the whole input carries. `Err` names an encoding that is not read.
pub(super) fn clean_input(input: &[u8]) -> Result<(Cow<'_, [u8]>, Vec<Mend>), &'static str> {
    if input.starts_with(b"\xff\xfe") || input.starts_with(b"\xfe\xff") {
        return Err("UTF-16");
    }
    let mut mends = Vec::new();
    let mut bytes = Cow::Borrowed(input);
    if let Some(rest) = input.strip_prefix(b"\xef\xbb\xbf") {
        bytes = Cow::Borrowed(rest);
        mends.push(build_mend("dropped the byte order mark"));
    }
    if every_line_ends_in_cr(&bytes) {
        let plain = with_line_ends(&bytes, b"\n");
        bytes = Cow::Owned(plain.strip_suffix(b"\r").unwrap_or(&plain).to_vec());
        mends.push(build_mend("dropped the carriage return of every line"));
    }
    if let Cow::Owned(plain) = without_colors(&bytes) {
        bytes = Cow::Owned(plain);
        mends.push(build_mend("removed the colors of a terminal"));
    }
    if let Some(plain) = unescape_html(&bytes) {
        bytes = Cow::Owned(plain);
        mends.push(build_mend("undid the escapes of HTML"));
    }
    if let Cow::Owned(plain) = without_thoughts(&bytes) {
        bytes = Cow::Owned(plain);
        mends.push(build_mend("dropped reasoning text"));
    }
    Ok((bytes, mends))
}

pub(super) fn build_mend(message: &str) -> Mend {
    Mend::new(Code::M101, Safety::Safe, 1_u64, message)
}

/// Rewrites an input that does not read as it is; `None` where there is nothing to rewrite.
type Rewrite = fn(&[u8]) -> Option<Vec<u8>>;

/// Other readings of an input, each with what it does. One counts only where the header counts of all hunks hold in
/// it.
pub(super) const READINGS: [(Rewrite, &str); 3] = [
    (unindent_lines, "removed the indentation of the patch"),
    (drop_blank_lines, "removed a blank line after each"),
    (drop_line_numbers, "removed the numbers of the lines"),
];

/// The first line of a patch, as an item of a list indents it.
static INDENTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let heads = r"--- |diff --git |<<<<<<< |\*\*\* Begin Patch";
    Regex::new(&format!(r"(?m-u)^([ \t]+)(?:{heads})")).ok()
});

/// The first line of context with its numbers on both sides, as viewers print them: `   12    13  x`.
static NUMBERED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m-u)^( *\d+ +\d+ )[ +-]").ok());

fn unindent_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    let indent = INDENTED.as_ref()?.captures(bytes)?.get(1)?.as_bytes();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_prefix(indent).unwrap_or(line));
    Some(lines.collect::<Vec<_>>().concat())
}

fn drop_blank_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut others = lines.iter().skip(1).step_by(2);
    let is_spaced = others.all(|line| line.trim_ascii().is_empty());
    is_spaced.then(|| lines.into_iter().step_by(2).collect::<Vec<_>>().concat())
}

fn drop_line_numbers(bytes: &[u8]) -> Option<Vec<u8>> {
    let width = NUMBERED.as_ref()?.captures(bytes)?.get(1)?.len();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let (numbers, rest) = line.split_at_checked(width).unwrap_or((line, &[]));
        let is_numbered = numbers.iter().all(|byte| b" 0123456789".contains(byte));
        if is_numbered { rest } else { line }
    });
    Some(lines.collect::<Vec<_>>().concat())
}

/// Preformatted text of HTML with a diff in it: its `<` are escaped, so what looks like an escape is one.
static PREFORMATTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m-u)\A(?:[^<]*\n)?<pre[^>]*>(?:\s*<code[^>]*>)?([^<]*&(?:lt|gt|amp);[^<]*)<")
        .ok()
});

fn unescape_html(bytes: &[u8]) -> Option<Vec<u8>> {
    // Compiling the pattern takes longer than looking for the tag.
    memchr::memmem::find(bytes, b"<pre")?;
    let escaped = PREFORMATTED.as_ref()?.captures(bytes)?.get(1)?;
    let mut text = String::from_utf8(escaped.as_bytes().to_vec()).ok()?;
    for (entity, letter) in [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")] {
        text = text.replace(entity, letter);
    }
    let mut plain = bytes.to_vec();
    plain.splice(escaped.range(), text.into_bytes());
    Some(plain)
}

fn every_line_ends_in_cr(bytes: &[u8]) -> bool {
    let mut feeds = memchr::memchr_iter(b'\n', bytes).peekable();
    feeds.peek().is_some() && feeds.all(|at| at > 0 && bytes.get(at - 1) == Some(&b'\r'))
}

#[cfg(test)]
mod tests {
    use super::{Code, clean_input};

    #[test]
    fn drops_what_transport_added() {
        let found = clean_input(b"\xef\xbb\xbf--- a/x\r\n+++ b/x\r\n");
        let (bytes, mends) = found.ok().unwrap();
        assert_eq!(&*bytes, b"--- a/x\n+++ b/x\n");
        assert!(mends.len() == 2 && mends.iter().all(|mend| mend.code == Code::M101));
        let escaped = b"So:\n<pre><code>\n-a &lt; b\n+a &amp;lt; b\n</code></pre>\n";
        let plain = b"So:\n<pre><code>\n-a < b\n+a &lt; b\n</code></pre>\n";
        assert_eq!(&*clean_input(escaped).ok().unwrap().0, plain);
    }

    #[test]
    fn keeps_what_is_content() {
        let text = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+\x1b[1mb\n";
        assert_eq!(&*clean_input(text).ok().unwrap().0, text);
        assert!(clean_input(b"\xff\xfed\0i\0").is_err());
    }
}
