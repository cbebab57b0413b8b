use std::collections::BTreeMap;

use crate::graph::Closure;
use crate::model::{Code, Omission, RepoPath, UnresolvedImport};
use crate::policy::Redactor;
use crate::source::EntryKind;

use super::snapshot::SnapshotTaker;

/// Rows that say what was left out.
const MAX_ROWS: usize = 50;
/// Of these, for what cannot be read at all.
const MAX_UNREADABLE: usize = 20;

/// What has no place in a packet: the best rows, and how many there are of each code.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    ranked: Vec<Omission>,
    unranked: Vec<Omission>,
    counts: BTreeMap<Code, u64>,
}

impl LeftOut {
    /// Whether a file of this rank is written down in a row; that it is counted is all that is said of others.
    pub(super) fn has_row(rank: u64) -> bool {
        rank <= 4 * MAX_ROWS as u64
    }

    pub(super) fn count(&mut self, code: Code) {
        *self.counts.entry(code).or_default() += 1;
    }

    pub(super) fn push(&mut self, row: Omission) {
        self.count(row.code);
        match row.rank {
            Some(_) => self.ranked.push(row),
            None => self.unranked.push(row),
        }
    }

    /// The rows, best first, and the counts.
    pub(super) fn into_rows(mut self) -> (Vec<Omission>, BTreeMap<Code, u64>) {
        self.ranked.sort_by_key(|it| it.rank);
        let apart = self.unranked.len().min(MAX_UNREADABLE);
        self.ranked.truncate(MAX_ROWS - apart);
        self.unranked.truncate(MAX_ROWS - self.ranked.len());
        self.ranked.append(&mut self.unranked);
        (self.ranked, self.counts)
    }
}

/// States links, pipes and odd names, so that nobody takes them for forgotten.
pub(super) fn unreadable_entries(
    taker: &SnapshotTaker<'_>,
    targets: &[RepoPath],
    left_out: &mut LeftOut,
) {
    let listing = taker.source.listing();
    let entries = listing.entries().iter().filter(|entry| {
        !matches!(entry.kind, EntryKind::File { .. }) && !targets.contains(&entry.path)
    });
    let entries = entries.filter_map(|entry| {
        let unshown = taker.may_be_read(&entry.path).err()?;
        Some((entry.path.to_string(), unshown.code, unshown.reason))
    });
    let skipped = listing.skipped().iter();
    let skipped = skipped.map(|one| (one.lossy_path.clone(), Code::C310, one.reason.clone()));
    for (path, code, reason) in entries.chain(skipped) {
        if left_out.unranked.len() >= MAX_ROWS {
            left_out.count(code);
            continue;
        }
        left_out.push(Omission {
            path: taker.redactor.redact(&path).text.into_owned(),
            rank: None,
            code,
            reason: taker.redactor.redact(&reason).text.into_owned(),
            bytes: None,
            remedy: String::new(),
        });
    }
}

/// Imports of included files that lead nowhere.
pub(super) fn unresolved(
    reach: &Closure,
    included: &[RepoPath],
    redactor: &Redactor,
) -> Vec<UnresolvedImport> {
    let mut found: Vec<UnresolvedImport> = reach
        .unresolved
        .iter()
        .filter(|import| included.contains(&import.path))
        .map(|import| UnresolvedImport {
            specifier: redactor.redact(&import.specifier).text.into_owned(),
            tried: import
                .tried
                .iter()
                .map(|path| redactor.redact(path).text.into_owned())
                .collect(),
            ..import.clone()
        })
        .collect();
    found.sort();
    found
}

const MAX_NEXT: usize = 20;

/// Returns files worth asking for: what the caps cut, and what lies one import further.
pub(super) fn next(
    reach: &Closure,
    included: &[RepoPath],
    omitted: &[Omission],
    may_read: &dyn Fn(&RepoPath) -> bool,
) -> Vec<RepoPath> {
    let cut = omitted.iter().filter(|file| file.rank.is_some());
    let cut = cut.filter_map(|file| RepoPath::new(&file.path).ok());
    let further = reach.nodes.iter().map(|node| node.path.clone());
    let mut found: Vec<RepoPath> = Vec::new();
    for path in cut.chain(further) {
        if !included.contains(&path) && !found.contains(&path) && may_read(&path) {
            found.push(path);
        }
        if found.len() == MAX_NEXT {
            break;
        }
    }
    found
}
