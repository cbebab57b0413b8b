use std::borrow::Cow;
use std::collections::HashMap;

use super::change::FileState;
use super::compose::compose;
use super::content::{Modified, numbers};
use super::place::{Placed, Placement, Work};
use super::set::{Body, FilePatch, Hunk, HunkLine, LineKind};
use super::text::Text;
use crate::model::{BlobId, Code, HunkVerdict, Mend, Safety, Verdict};

/// Applies a section whose header counts hold by git's rules, byte for byte.
///
/// `None` unless every hunk stands at the line it states (as git finds it, without fuzz), or every
/// old side stands at exactly one place of the file, or the blob id of the `index` line proves
/// the file and each hunk stands in one of these two ways. What is returned is final.
pub(super) fn apply_exactly(before: &FileState, sections: &[&FilePatch<'_>]) -> Option<Modified> {
    let [section] = sections else { return None };
    let Body::Hunks(hunks) = &section.body else {
        return None;
    };
    let counted = |hunk: &Hunk<'_>| {
        let marked = hunk.lines.iter().all(|line| !line.bare);
        hunk.counts_hold && marked && hunk.changes_something()
    };
    if section.headers.explicit.is_some() || hunks.is_empty() || !hunks.iter().all(counted) {
        return None;
    }
    let text = Text::new(&before.bytes);
    let rows = place_as_stated(&text, hunks)
        .or_else(|| place_uniquely(&text, hunks))
        .or_else(|| place_in_proven_file(&text, section, hunks, &before.bytes))?;
    let outcomes: Vec<Placement<'_, '_>> = hunks
        .iter()
        .zip(&rows)
        .map(|(hunk, row)| {
            let lines = Cow::Borrowed(hunk.lines.as_slice());
            Placement::Placed(Placed::whole(lines, *row, Vec::new()))
        })
        .collect();
    let composed = compose(&text, &outcomes, true).ok()?;
    if composed.ignored_marks {
        return None;
    }
    let mut mends = Vec::new();
    let mut verdicts = Vec::new();
    for ((hunk, row), index) in hunks.iter().zip(&rows).zip(numbers(sections)) {
        let line = *row as u64 + 1;
        tracing::debug!("hunk placed at line {line} by git's rules");
        let stated = hunk.old.map(|(start, _)| u64::from(start));
        let mut verdict = HunkVerdict::new(index, stated);
        verdict.applied_at = Some(line);
        if stated.is_some_and(|stated| stated != line) && hunk.old_lines().next().is_some() {
            let stated = stated.unwrap_or_default();
            let message =
                format!("placed at line {line}, the only one that fits; the patch says {stated}");
            mends.push(Mend::new(Code::M401, Safety::Safe, hunk.line, &message));
            verdict.verdict = Verdict::AppliesMended;
        }
        verdicts.push(verdict);
        if hunk.followed {
            let message = "took text directly after the hunk for prose";
            mends.push(Mend::new(Code::M104, Safety::Lossy, hunk.line, message));
        }
    }
    Some(Modified {
        after: Some((composed.bytes.into(), composed.edits)),
        hunks: verdicts,
        mends,
        failures: Vec::new(),
        already: None,
        is_exact: true,
    })
}

fn place_as_stated(text: &Text<'_>, hunks: &[Hunk<'_>]) -> Option<Vec<usize>> {
    hunks.iter().map(|hunk| stated_row(text, hunk)).collect()
}

// The row that a hunk states, when its old side stands there.
fn stated_row(text: &Text<'_>, hunk: &Hunk<'_>) -> Option<usize> {
    let (start, count) = hunk.old?;
    let row = (start as usize).checked_sub(usize::from(count > 0))?;
    (stands_at(text, hunk, row) && keeps_edge(text, hunk, row)).then_some(row)
}

fn stands_at(text: &Text<'_>, hunk: &Hunk<'_>, row: usize) -> bool {
    let mut row = row;
    hunk.old_lines().all(|line| {
        row += 1;
        is_whole_line(line, text.whole(row - 1))
    }) && row <= text.len()
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

fn place_uniquely(text: &Text<'_>, hunks: &[Hunk<'_>]) -> Option<Vec<usize>> {
    let index = LineIndex::new(text);
    hunks
        .iter()
        .map(|hunk| index.only_row(text, hunk))
        .collect()
}

// Of a file that the patch was made from, number and text together leave no doubt.
fn place_in_proven_file(
    text: &Text<'_>,
    section: &FilePatch<'_>,
    hunks: &[Hunk<'_>],
    bytes: &[u8],
) -> Option<Vec<usize>> {
    let id = section.headers.index.filter(|ids| ids.old.len() >= 7)?.old;
    let own = BlobId::from_content(bytes).to_string();
    if !own.as_bytes().starts_with(&id.to_ascii_lowercase()) {
        return None;
    }
    let index = LineIndex::new(text);
    let row = |hunk| {
        let stated = stated_row(text, hunk);
        stated.or_else(|| index.only_row(text, hunk))
    };
    hunks.iter().map(row).collect()
}

/// Beyond this many rivals a line says too little to be worth the search.
const MOST_RIVALS: usize = 4096;

/// The rows of a file by their text, made once.
pub(super) struct LineIndex<'t> {
    rows: HashMap<&'t [u8], Vec<u32>>,
}

impl<'t> LineIndex<'t> {
    pub(super) fn new(text: &Text<'t>) -> Self {
        let mut rows: HashMap<&[u8], Vec<u32>> = HashMap::with_capacity(text.len());
        for row in 0..text.len() {
            let numbered = u32::try_from(row).unwrap_or(u32::MAX);
            rows.entry(text.line(row)).or_default().push(numbered);
        }
        Self { rows }
    }

    /// The rows where `line` stands.
    pub(super) fn rows(&self, line: &[u8]) -> &[u32] {
        self.rows.get(line).map_or(&[], Vec::as_slice)
    }

    /// The rows where old lines stand byte for byte but for line ends, as many as are worth telling.
    pub(super) fn exact_rows(
        &self,
        text: &Text<'_>,
        old: &[&HunkLine<'_>],
        work: &Work,
    ) -> Vec<usize> {
        const MOST_TOLD: usize = 256;
        let lines = old.iter().enumerate();
        let rarest = lines.min_by_key(|(_, line)| self.rows(line.text()).len());
        let Some((offset, line)) = rarest else {
            return Vec::new();
        };
        let rows = self.rows(line.text()).iter();
        let starts = rows.filter_map(|row| (*row as usize).checked_sub(offset));
        let fits = |at: &usize| {
            let mut rows = old.iter().zip(*at..);
            work.spend(1)
                && at + old.len() <= text.len()
                && rows.all(|(line, row)| line.text() == text.line(row))
        };
        starts.filter(fits).take(MOST_TOLD).collect()
    }

    // The only row where the old side of a hunk is, byte for byte.
    fn only_row(&self, text: &Text<'_>, hunk: &Hunk<'_>) -> Option<usize> {
        let lines = hunk.old_lines().enumerate();
        let rarest = lines.min_by_key(|(_, line)| self.rows(line.text()).len());
        let (offset, line) = rarest?;
        let rivals = self.rows(line.text());
        let starts = rivals
            .iter()
            .filter_map(|row| (*row as usize).checked_sub(offset));
        let mut found = starts.filter(|row| stands_at(text, hunk, *row));
        let only = found.next()?;
        let is_only = rivals.len() <= MOST_RIVALS && found.next().is_none();
        (is_only && keeps_edge(text, hunk, only)).then_some(only)
    }
}
