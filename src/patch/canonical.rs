//! Writes a validated change as a git patch with true line numbers.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;

use zlib_rs::{DeflateConfig, compress_bound, compress_slice};

use super::change::{Change, FileState};
use super::read::ALPHABET;
use super::text::Text;
use crate::model::{BlobId, Operation};

const CONTEXT: usize = 3;

/// Writes changes as a git patch with true line numbers, modes and blob ids.
pub fn canonical(changes: &[Change]) -> Vec<u8> {
    let mut out = Vec::new();
    for change in changes {
        match (&change.before, &change.after) {
            // A file cannot become a link in place: git deletes the one and makes the other.
            (Some(before), Some(after)) if file_type(before) != file_type(after) => {
                let sides = [(Some(before), None), (None, Some(after))];
                for (before, after) in sides {
                    let path = change.path.clone();
                    let one = Change::between(path, before.cloned(), after.cloned());
                    write_change(&one, &mut out);
                }
            }
            _ => write_change(change, &mut out),
        }
    }
    out
}

fn file_type(state: &FileState) -> u32 {
    state.mode & 0o170_000
}

fn write_change(change: &Change, out: &mut Vec<u8>) {
    let old_path = change.from.as_ref().unwrap_or(&change.path).as_str();
    let path = change.path.as_str();
    let (a, b) = (quote_path("a/", old_path), quote_path("b/", path));
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    let mut head = vec![format!("diff --git {a} {b}")];
    match (before, after) {
        (None, Some(after)) => head.push(format!("new file mode {:06o}", after.mode)),
        (Some(before), None) => head.push(format!("deleted file mode {:06o}", before.mode)),
        (Some(before), Some(after)) if before.mode != after.mode => head.extend([
            format!("old mode {:06o}", before.mode),
            format!("new mode {:06o}", after.mode),
        ]),
        _ => {}
    }
    let empty = FileState::default();
    let (old, new) = (before.unwrap_or(&empty), after.unwrap_or(&empty));
    let differs = old.bytes != new.bytes;
    if change.from.is_some() {
        let is_copy = change.operation == Operation::Copy;
        let word = if is_copy { "copy" } else { "rename" };
        let score = if differs { 50 } else { 100 };
        head.push(format!("similarity index {score}%"));
        head.push(format!("{word} from {}", quote_path("", old_path)));
        head.push(format!("{word} to {}", quote_path("", path)));
    }
    if differs || before.is_none() || after.is_none() {
        let mode = before.filter(|before| before.mode == new.mode);
        let mode = mode.map_or_else(String::new, |state| format!(" {:06o}", state.mode));
        head.push(format!("index {}..{}{mode}", id_of(before), id_of(after)));
    }
    let is_text = !is_binary(&old.bytes) && !is_binary(&new.bytes);
    if differs && is_text {
        let old = before.map_or("/dev/null".to_owned(), |_| with_tab(a));
        let new = after.map_or("/dev/null".to_owned(), |_| with_tab(b));
        head.extend([format!("--- {old}"), format!("+++ {new}")]);
    }
    for line in head {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    if differs && is_text {
        let (old, new) = (Text::new(&old.bytes), Text::new(&new.bytes));
        write_hunks(&old, &new, &change.runs(), out);
    } else if differs {
        out.extend_from_slice(b"GIT binary patch\n");
        write_literal(&new.bytes, out);
        write_literal(&old.bytes, out);
    }
}

/// Ends a name with a blank as git does.
fn with_tab(name: String) -> String {
    let is_open = name.contains(' ') && !name.starts_with('"');
    if is_open { name + "\t" } else { name }
}

fn id_of(state: Option<&FileState>) -> String {
    let id = state.map(|state| BlobId::from_content(&state.bytes).to_string());
    id.unwrap_or_else(|| "0".repeat(40))
}

/// Whether bytes are those of a binary file, as git guesses it for diffs, merges and line ends.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes.get(..8000).unwrap_or(bytes)).is_some()
}

/// Lines of the old file and those of the new one that represent them.
type Run = (Range<usize>, Range<usize>);

fn write_hunks(old: &Text<'_>, new: &Text<'_>, runs: &[Run], out: &mut Vec<u8>) {
    for group in runs.chunk_by(|one, two| two.0.start <= one.0.end + 2 * CONTEXT) {
        write_hunk((old, new), group, out);
    }
}

fn write_hunk((old, new): (&Text<'_>, &Text<'_>), group: &[Run], out: &mut Vec<u8>) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    let above = first.0.start.min(CONTEXT);
    let below = (old.len() - last.0.end).min(CONTEXT);
    let (from, to) = (first.0.start - above, last.0.end + below);
    let head = format_range(first.1.start - above, last.1.end + below);
    let _ = writeln!(out, "@@ -{} +{head} @@", format_range(from, to));
    let mut row = from;
    for (gone, come) in group {
        write_rows(old, row..gone.start, b' ', out);
        write_rows(old, gone.clone(), b'-', out);
        write_rows(new, come.clone(), b'+', out);
        row = gone.end;
    }
    write_rows(old, row..to, b' ', out);
}

fn format_range(from: usize, to: usize) -> String {
    match to - from {
        0 => format!("{from},0"),
        1 => format!("{}", from + 1),
        count => format!("{},{count}", from + 1),
    }
}

fn write_rows(old: &Text<'_>, rows: Range<usize>, mark: u8, out: &mut Vec<u8>) {
    for row in rows {
        let line = old.whole(row);
        out.push(mark);
        out.extend_from_slice(line);
        if line.last() != Some(&b'\n') {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// A name as git writes it: in C quotes when it has bytes that need them.
pub(super) fn quote_path(prefix: &str, path: &str) -> String {
    if !path.bytes().any(needs_escape) {
        return format!("{prefix}{path}");
    }
    let mut quoted = format!("\"{prefix}");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            7..=13 => quoted.extend(['\\', char::from(b"abtnvfr"[usize::from(byte - 7)])]),
            byte if needs_escape(byte) => {
                let _ = write!(quoted, "\\{byte:03o}");
            }
            byte => quoted.push(char::from(byte)),
        }
    }
    quoted.push('"');
    quoted
}

fn needs_escape(byte: u8) -> bool {
    !(0x20..0x7f).contains(&byte) || byte == b'"' || byte == b'\\'
}

fn write_literal(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("literal {}\n", bytes.len()).as_bytes());
    let mut packed = vec![0; compress_bound(bytes.len())];
    let (packed, _) = compress_slice(&mut packed, bytes, DeflateConfig::default());
    for line in packed.chunks(52) {
        let count = line.len() as u8;
        out.push(if count <= 26 { b'A' + count - 1 } else { b'a' + count - 27 });
        for group in line.chunks(4) {
            let mut value = group
                .iter()
                .chain(std::iter::repeat(&0))
                .take(4)
                .fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
            let mut digits = [0_u8; 5];
            for digit in digits.iter_mut().rev() {
                *digit = ALPHABET.get((value % 85) as usize).copied().unwrap_or(b'0');
                value /= 85;
            }
            out.extend_from_slice(&digits);
        }
        out.push(b'\n');
    }
    out.push(b'\n');
}
