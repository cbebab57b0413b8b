use std::ops::Range;

use super::envelope::starts_file;
use super::fence::starts_block;

/// A patch without what stood before every one of its lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unwrapped {
    pub(super) bytes: Vec<u8>,
    /// The rows of the input that it takes.
    pub(super) rows: Range<usize>,
    /// What was done, in words.
    pub(super) from: &'static str,
}

/// The patch without what stands before every one of its lines: marks of a quotation or indentation. `None` when nothing does.
pub(super) fn unwrapped(bytes: &[u8]) -> Option<Unwrapped> {
    quoted(bytes)
        .map(|it| (it, "took off the marks of a quotation"))
        .or_else(|| indented(bytes).map(|it| (it, "took off the indentation of the patch")))
        .map(|((bytes, rows), from)| Unwrapped { bytes, rows, from })
}

/// Whether a patch of any form starts at this line.
pub(super) fn starts_form(line: &[u8]) -> bool {
    let starts: [&[u8]; 4] = [
        b"diff --git ",
        b"--- a/",
        b"--- /dev/null",
        b"*** Begin Patch",
    ];
    starts.iter().any(|start| line.starts_with(start)) || starts_file(line) || starts_block(line)
}

fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n')
}

// What `strip` leaves of the lines from the first that starts a form, up to the first it does not take; and
// which they are.
fn from_form(
    bytes: &[u8],
    strip: impl Fn(&[u8]) -> Option<&[u8]>,
) -> Option<(Vec<u8>, Range<usize>)> {
    let start = split(bytes).position(|line| strip(line).is_some_and(starts_form))?;
    let mut out = Vec::with_capacity(bytes.len());
    let mut end = start;
    for line in split(bytes).skip(start).map_while(strip) {
        out.extend_from_slice(line);
        out.push(b'\n');
        end += 1;
    }
    Some((out, start..end))
}

fn quoted(bytes: &[u8]) -> Option<(Vec<u8>, Range<usize>)> {
    // Blank lines may have lost the blank after the mark.
    from_form(bytes, |line| {
        let rest = line.strip_prefix(b">")?;
        Some(rest.strip_prefix(b" ").unwrap_or(rest))
    })
}

fn indented(bytes: &[u8]) -> Option<(Vec<u8>, Range<usize>)> {
    let depth = split(bytes).find_map(|line| {
        let text = line.trim_ascii_start();
        let depth = line.len() - text.len();
        (depth > 0 && starts_form(text)).then_some(depth)
    })?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    from_form(bytes, |line| {
        if line.trim_ascii().is_empty() {
            return Some(line.get(depth..).unwrap_or_default());
        }
        let (margin, rest) = line.split_at_checked(depth)?;
        margin.iter().all(is_blank).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::unwrapped;

    #[test]
    fn what_stands_before_every_line_comes_off() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n\n";
        let before = |mark: &str| -> String {
            let lines = diff.lines().map(|line| format!("{mark}{line}\n"));
            lines.collect()
        };
        for text in [
            format!("He wrote:\n{}\nbye", before("> ")),
            format!("- do this:\n{}end\n", before("    ")),
        ] {
            let bytes = unwrapped(text.as_bytes()).unwrap().bytes;
            let found = String::from_utf8(bytes).unwrap();
            assert_eq!(found.trim_end(), diff.trim_end(), "{text}");
        }
        for text in ["", "> a\n> b\n", "    code\n", "a \\n b"] {
            assert_eq!(unwrapped(text.as_bytes()), None, "{text}");
        }
    }
}
