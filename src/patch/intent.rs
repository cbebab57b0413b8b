//! Finds signs that the writer meant something else than the bytes: fences, line numbers, lost
//! newlines.

use std::collections::HashSet;

use super::change::FileState;
use super::elision::left_out_line;
use super::set::FilePatch;
use super::text::leading_number;
use crate::languages::Language;
use crate::model::{BlobId, Code, Refusal};

/// What a new content shows of a writer who meant something else than the bytes say; with the line of
/// the new content, counted from 1.
///
/// `before` is the content that gives way, `None` for a new file.
pub(super) fn find_unmeant(
    path: &str,
    before: Option<&FileState>,
    after: &FileState,
) -> Option<(u64, Refusal)> {
    let old: &[u8] = before.map_or(&[], |state| &state.bytes);
    if let Some((line, text)) = left_out_line(path, old, &after.bytes) {
        let message = format!(
            "`{}` is a placeholder for omitted lines",
            String::from_utf8_lossy(text).trim().to_owned()
        );
        return Some((line, Refusal::new(Code::P312, message)));
    }
    let is_markup = [".md", ".mdx", ".markdown", ".rst"].iter().any(|end| path.ends_with(end));
    if after.bytes.starts_with(b"```") && !old.starts_with(b"```") && !is_markup {
        let message = "the file would begin with a code fence; send the text without it";
        return Some((1, Refusal::new(Code::P312, message)));
    }
    let known: HashSet<&[u8]> = solid_rows(old).into_iter().map(|row| row.1).collect();
    let rows = solid_rows(&after.bytes);
    let numbered = numbered_by_reader(&known, &rows).map(|line| (line, NUMBERED));
    let found = numbered.or_else(|| Some((broken_literal(path, &known, &rows)?, BROKEN)));
    found.map(|(line, message)| (line, Refusal::new(Code::P801, message)))
}

const NUMBERED: &str =
    "the new lines begin with line numbers, as a file viewer shows them; send them without";
const BROKEN: &str = "a string is left open at the end of the line and closed on a later one: a `\\n` \
                      in the text seems to have become a line break";

/// The lines of a text that are not blank, with their numbers.
pub(super) fn solid_rows(text: &[u8]) -> Vec<(u64, &[u8])> {
    let rows = (1..).zip(text.split(|byte| *byte == b'\n'));
    rows.filter(|(_, line)| !line.trim_ascii().is_empty()).collect()
}

// The first of the lines that only the new text has, when all begin with consecutive numbers as a reader
// prints them (`033|# Title`, `7: x`).
fn numbered_by_reader(known: &HashSet<&[u8]>, rows: &[(u64, &[u8])]) -> Option<u64> {
    let first = rows.iter().find(|row| !known.contains(row.1))?.0;
    let fresh = rows.iter().filter(|row| !known.contains(row.1));
    let numbers: Vec<u64> = fresh.map(|row| read_marked_number(row.1)).collect::<Option<_>>()?;
    let is_most = numbers.len() >= 3 && numbers.len() * 2 >= rows.len();
    (is_most && numbers.is_sorted_by(|one, next| one < next)).then_some(first)
}

/// Reads a line number in front of a line, as listings have it.
fn read_marked_number(line: &[u8]) -> Option<u64> {
    let (number, rest) = leading_number::<u64>(line.trim_ascii_start())?;
    let rest = rest.trim_ascii_start();
    let marks: [&[u8]; 3] = [b"|", b":", "→".as_bytes()];
    let is_marked = marks.iter().any(|mark| rest.starts_with(mark));
    is_marked.then_some(number)
}

// In languages that are not parsed and have no strings of several lines: a new line that leaves a quote open,
// where one of the next begins by closing it.
fn broken_literal(path: &str, known: &HashSet<&[u8]>, rows: &[(u64, &[u8])]) -> Option<u64> {
    let endings = ["go", "c", "h", "cc", "cpp", "hpp", "java", "cs", "swift"];
    if !endings.contains(&path.rsplit_once('.')?.1) || Language::of_path(path).is_some() {
        return None;
    }
    let found = rows.iter().enumerate().find(|(at, (_, line))| {
        let mut next = rows.iter().skip(at + 1).take(3);
        let breaks = opens_string(line) && !known.contains(line) && !line.ends_with(b"\\");
        breaks && next.any(|row| row.1.trim_ascii_start().starts_with(b"\"") && opens_string(row.1))
    });
    found.map(|(_, (row, _))| *row)
}

fn opens_string(line: &[u8]) -> bool {
    let quotes = memchr::memchr_iter(b'"', line)
        .filter(|at| !line.get(..*at).is_some_and(|head| head.ends_with(b"\\")));
    quotes.count() % 2 == 1 && !line.contains(&b'\'') && !line.contains(&b'`')
}

/// Whether the blob id that a section announces, which may be abbreviated, is that of its result.
pub(super) fn matches_announced_id(section: &FilePatch<'_>, bytes: &[u8]) -> bool {
    let announced = section.announced_ids().map(|(_, new)| new.to_ascii_lowercase());
    // git abbreviates an id to seven characters at the least.
    let announced = announced.filter(|new| new.len() >= 7);
    announced.is_some_and(|new| BlobId::from_content(bytes).to_string().starts_with(&new))
}
