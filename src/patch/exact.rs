//! Applies hunks by git's rules, byte for byte.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::change::FileState;
use super::compose::compose_edits;
use super::content::{Modified, add_verdicts, lost_all_indent};
use super::place::{Placed, Placement, Work};
use super::set::{FilePatch, Hunk, HunkLine, LineKind};
use super::text::Text;

/// Applies a section whose header counts hold by git's rules, byte for byte.
///
/// `None` unless every hunk is at the line it states (as git finds it, without fuzz), or every
/// old side is at exactly one place of the file. What is returned is final.
pub(super) fn apply_exactly(
    before: &FileState,
    section: &FilePatch<'_>,
    work: &Work,
) -> Option<Modified> {
    let hunks = section.hunks();
    let counted = |hunk: &Hunk<'_>| {
        let marked = hunk.lines.iter().all(|line| !line.bare);
        hunk.counts_hold && marked && hunk.changes_something()
    };
    if section.headers.explicit.is_some() || hunks.is_empty() || !hunks.iter().all(counted) {
        return None;
    }
    // The one doubt that an exact patch meets, unless blob ids prove it.
    let is_stripped = hunks
        .iter()
        .any(|hunk| lost_all_indent(section, hunk).is_some());
    if is_stripped && section.announced_ids().is_none() {
        return None;
    }
    let text = Text::new(&before.bytes);
    let rows = find_rows(&text, hunks)?;
    let placements = hunks.iter().zip(&rows).map(|(hunk, row)| {
        let lines = Cow::Borrowed(hunk.lines.as_slice());
        Ok(Placed::new(lines, *row, Vec::new()))
    });
    let placements: Vec<Placement<'_, '_>> = placements.collect();
    let bytes = compose_edits(&text, &placements, true).ok()?;
    let mut modified = Modified {
        after: Some(bytes.into()),
        is_exact: true,
        ..Modified::default()
    };
    for row in &rows {
        tracing::debug!("hunk placed at line {} by git's rules", row + 1);
    }
    add_verdicts(&mut modified, false, (&text, hunks), &placements, work);
    Some(modified)
}

fn find_rows(text: &Text<'_>, hunks: &[Hunk<'_>]) -> Option<Vec<usize>> {
    let stated: Option<Vec<usize>> = hunks.iter().map(|hunk| stated_row(text, hunk)).collect();
    if stated.is_some() {
        return stated;
    }
    let index = LineIndex::new(text);
    hunks
        .iter()
        .map(|hunk| index.only_row(text, hunk))
        .collect()
}

/// Returns the row that a hunk states, when its old side is there.
fn stated_row(text: &Text<'_>, hunk: &Hunk<'_>) -> Option<usize> {
    let (start, count) = hunk.old?;
    let row = (start as usize).checked_sub(usize::from(count > 0))?;
    (stands_at(text, hunk, row) && keeps_edge(text, hunk, row)).then_some(row)
}

fn stands_at(text: &Text<'_>, hunk: &Hunk<'_>, row: usize) -> bool {
    let mut lines = hunk.old_lines().zip(row..);
    lines.all(|(line, row)| is_whole_line(line, text.whole(row))) && row <= text.len()
}

// Like git, a hunk that ends without context has to be at the end of the file.
fn keeps_edge(text: &Text<'_>, hunk: &Hunk<'_>, row: usize) -> bool {
    let last = hunk.lines.last();
    let ends = last.is_some_and(|line| line.kind != LineKind::Context);
    !ends || row + hunk.old_lines().count() == text.len()
}

fn is_whole_line(line: &HunkLine<'_>, whole: &[u8]) -> bool {
    match whole.strip_suffix(b"\n") {
        Some(text) => !line.no_newline && text == line.text(),
        None => line.no_newline && whole == line.text(),
    }
}

/// Beyond this many rivals a line says too little to be worth the search.
const MOST_RIVALS: usize = 4096;
/// Places of one hunk that are distinguished.
const MOST_PLACES: usize = 256;

fn index_rows<'t>(
    text: &Text<'t>,
    key: impl Fn(&'t [u8]) -> &'t [u8],
) -> HashMap<&'t [u8], Vec<u32>> {
    let mut rows: HashMap<&[u8], Vec<u32>> = HashMap::with_capacity(text.len());
    for row in 0..text.len() {
        let numbered = u32::try_from(row).unwrap_or(u32::MAX);
        rows.entry(key(text.line(row))).or_default().push(numbered);
    }
    rows
}

/// The rows of a file by their text, made once.
pub(super) struct LineIndex<'t> {
    rows: HashMap<&'t [u8], Vec<u32>>,
    /// The same by the text without white space around it, made when it is asked for.
    words: OnceCell<HashMap<&'t [u8], Vec<u32>>>,
}

impl<'t> LineIndex<'t> {
    pub(super) fn new(text: &Text<'t>) -> Self {
        Self {
            rows: index_rows(text, |line| line),
            words: OnceCell::new(),
        }
    }

    /// Returns the rows with the text of `line`, whatever white space is around it.
    pub(super) fn rows_of_words(&self, text: &Text<'t>, line: &[u8]) -> &[u32] {
        let words = self
            .words
            .get_or_init(|| index_rows(text, <[u8]>::trim_ascii));
        words.get(line.trim_ascii()).map_or(&[], Vec::as_slice)
    }

    /// Returns the rows where `line` stands.
    pub(super) fn equal_rows(&self, line: &[u8]) -> &[u32] {
        self.rows.get(line).map_or(&[], Vec::as_slice)
    }

    /// Returns where old lines would begin by the one of them that the file has least.
    fn find_starts<'l>(
        &self,
        old: impl Iterator<Item = &'l [u8]>,
    ) -> impl Iterator<Item = usize> + Clone {
        let rows = old.map(|line| self.equal_rows(line)).enumerate();
        let rarest = rows.min_by_key(|(_, rows)| rows.len());
        let (offset, rows) = rarest.unwrap_or((0, &[]));
        rows.iter()
            .filter_map(move |row| (*row as usize).checked_sub(offset))
    }

    /// Returns the rows where old lines stand byte for byte but for line ends.
    pub(super) fn exact_rows(
        &self,
        text: &Text<'t>,
        old: &[&HunkLine<'_>],
        work: &Work,
    ) -> Vec<usize> {
        let starts = self.find_starts(old.iter().map(|line| line.text()));
        let fits = |at: &usize| {
            let rows = old.iter().zip(*at..text.len());
            let same = rows.take_while(|(line, row)| line.text() == text.line(*row));
            let same = same.count();
            work.spend(same as u64 + 1) && same == old.len()
        };
        starts.filter(fits).take(MOST_PLACES).collect()
    }

    /// Returns the only row where the old side of a hunk is, byte for byte.
    fn only_row(&self, text: &Text<'_>, hunk: &Hunk<'_>) -> Option<usize> {
        let starts = self.find_starts(hunk.old_lines().map(HunkLine::text));
        let is_few = starts.clone().take(MOST_RIVALS + 1).count() <= MOST_RIVALS;
        let mut found = starts.filter(|row| stands_at(text, hunk, *row));
        let only = found.next()?;
        let is_only = is_few && found.next().is_none();
        (is_only && keeps_edge(text, hunk, only)).then_some(only)
    }
}
