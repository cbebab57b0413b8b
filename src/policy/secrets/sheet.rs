use std::ops::Range;

// Rows of one table, and cells of a row, that are looked at.
const MAX_ROWS: usize = 5_000;
const MAX_CELLS: usize = 64;
const MAX_ROW: usize = 4 * 1024;

/// The tables of a text, as Markdown draws them or as rows of separated values, each with names of
/// columns in its first row.
#[derive(Debug, Default)]
pub(super) struct Sheets {
    // Where the last head begins, and where its table ends.
    head: usize,
    end: usize,
}

impl Sheets {
    /// The cells below the head that a name stands in, if it is one.
    pub(super) fn below(&mut self, text: &[u8], name: &Range<usize>) -> Vec<Range<usize>> {
        let Some(mark) = mark_beside(text, name) else {
            return Vec::new();
        };
        let line = line_around(text, name.start);
        if line.len() > MAX_ROW || (line.start < self.end && line.start != self.head) {
            return Vec::new();
        }
        let head = cells(text, &line, mark);
        let column = head
            .iter()
            .position(|it| it.start <= name.start && name.end <= it.end);
        let named = |cell: &Range<usize>| {
            let cell = text.get(cell.clone()).unwrap_or_default();
            let part = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.()".contains(byte);
            cell.len() <= 40 && cell.iter().all(part)
        };
        let Some(column) = column.filter(|_| head.len() > 1 && head.iter().all(named)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut at = line.end + 1;
        for number in 0..MAX_ROWS {
            let row = line_around(text, at.min(text.len()));
            if at >= text.len() || row.len() > MAX_ROW {
                break;
            }
            let row_cells = cells(text, &row, mark);
            if row_cells.len() != head.len() {
                break;
            }
            at = row.end + 1;
            let drawn = text.get(row.clone()).unwrap_or_default();
            let is_rule = drawn.iter().all(|byte| b"|-: \t\r".contains(byte));
            // Markdown has a rule below the head and a mark on each side.
            if mark == b'|' && number == 0 && !is_rule {
                return Vec::new();
            }
            found.extend(row_cells.into_iter().nth(column).filter(|_| !is_rule));
        }
        (self.head, self.end) = (line.start, at);
        found
    }
}

// What separates the cells of a row in which the name stands alone in one.
fn mark_beside(text: &[u8], name: &Range<usize>) -> Option<u8> {
    let blank = |byte: &&u8| matches!(**byte, b' ' | b'"');
    let before = text.get(..name.start)?.iter().rev().find(|it| !blank(it));
    let after = text.get(name.end..)?.iter().find(|it| !blank(it));
    let is_end = |it: Option<&u8>| it.is_none_or(|it| matches!(it, b'\n' | b'\r'));
    let mark = |it: Option<&u8>| it.copied().filter(|it| b"|,;\t".contains(it));
    match (mark(before), mark(after)) {
        (Some(one), Some(other)) if one == other => Some(one),
        (Some(one), None) if is_end(after) && one != b'|' => Some(one),
        (None, Some(one)) if is_end(before) && one != b'|' => Some(one),
        _ => None,
    }
}

fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at..).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(0, |it| it + 1);
    start..at + memchr::memchr(b'\n', after).unwrap_or(after.len())
}

// Each without the blanks and quotes around it.
fn cells(text: &[u8], row: &Range<usize>, mark: u8) -> Vec<Range<usize>> {
    let line = text.get(row.clone()).unwrap_or_default();
    let mut from = row.start;
    let mut cells = Vec::new();
    for cell in line.split(|byte| *byte == mark).take(MAX_CELLS) {
        let around = |byte: &&u8| b" \t\r\"'`".contains(byte);
        let lead = cell.iter().take_while(around).count();
        let tail = cell.iter().rev().take_while(around).count();
        cells.push(from + lead..(from + cell.len()).saturating_sub(tail).max(from + lead));
        from += cell.len() + 1;
    }
    cells
}
