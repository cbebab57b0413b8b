//! The lines of a file in which hunks are searched, and the rows of each.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::work::Work;
use crate::patch::set::HunkLine;
use crate::patch::text::Text;

/// Places of one hunk that are counted.
pub(super) const MAX_PLACES: usize = 256;

/// The rows of a file by their text.
type Rows<'t> = HashMap<&'t [u8], Vec<u32>>;

/// What hunks are looked for in. Rows are indexed when they are asked for, once.
pub(in crate::patch) struct Site<'s, 't> {
    pub(in crate::patch) text: &'s Text<'t>,
    pub(in crate::patch) work: &'s Work,
    rows: OnceCell<Rows<'t>>,
    /// The same by the text without white space around it.
    words: OnceCell<Rows<'t>>,
}

impl<'s, 't> Site<'s, 't> {
    pub(in crate::patch) fn new(text: &'s Text<'t>, work: &'s Work) -> Self {
        let (rows, words) = (OnceCell::new(), OnceCell::new());
        Self {
            text,
            work,
            rows,
            words,
        }
    }

    fn index_rows(&self, key: impl Fn(&'t [u8]) -> &'t [u8]) -> Rows<'t> {
        let mut rows: Rows<'t> = HashMap::with_capacity(self.text.len());
        for (row, number) in (0..self.text.len()).zip(0..) {
            rows.entry(key(self.text.line(row))).or_default().push(number);
        }
        rows
    }

    /// Returns the rows with the text of `line`, whatever white space is around it.
    pub(super) fn rows_of_words(&self, line: &[u8]) -> &[u32] {
        let words = self.words.get_or_init(|| self.index_rows(<[u8]>::trim_ascii));
        words.get(line.trim_ascii()).map_or(&[], Vec::as_slice)
    }

    /// Returns the only row where the old lines match exactly except for line ends.
    pub(in crate::patch) fn only_row(&self, old: &[&HunkLine<'_>]) -> Option<usize> {
        let mut rows = self.exact_rows(old);
        rows.pop().filter(|_| rows.is_empty())
    }

    /// Returns the rows where the old lines match exactly except for line ends. The search starts from the old line
    /// that is rarest in the file.
    pub(in crate::patch) fn exact_rows(&self, old: &[&HunkLine<'_>]) -> Vec<usize> {
        let index = self.rows.get_or_init(|| self.index_rows(|line| line));
        let rows = old.iter().map(|line| index.get(line.text()).map_or(&[][..], Vec::as_slice));
        let rarest = rows.enumerate().min_by_key(|(_, rows)| rows.len());
        let (offset, rows) = rarest.unwrap_or((0, &[]));
        let starts = rows.iter().filter_map(|row| (*row as usize).checked_sub(offset));
        // Bounded, to avoid quadratic work on repetitive files.
        starts
            .filter(|at| {
                let rows = old.iter().zip(*at..self.text.len());
                let same = rows.take_while(|(line, row)| line.text() == self.text.line(*row));
                let same = same.count();
                self.work.spend(same as u64 + 1) && same == old.len()
            })
            .take(MAX_PLACES)
            .collect()
    }
}
