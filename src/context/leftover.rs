//! Lists what a packet leaves out, with a code for each.

use std::collections::BTreeMap;

use super::failure::Failure;
use super::inputs::PacketInputs;
use crate::model::{Code, Omission, RepoPath, UnresolvedImport};

/// Returns the best rows of what has no place in a packet, and how many there are of each code.
pub(super) fn best_rows(left_out: Vec<Omission>) -> (Vec<Omission>, BTreeMap<Code, u64>) {
    let mut counts: BTreeMap<Code, u64> = BTreeMap::new();
    for row in &left_out {
        *counts.entry(row.code).or_default() += 1;
    }
    let mut rows = left_out;
    rows.sort_by_key(|row| (row.rank.is_none(), row.rank));
    // Rows that say what was left out.
    rows.truncate(50);
    (rows, counts)
}

/// Imports of included files that lead nowhere.
pub(super) fn unresolved(
    inputs: &PacketInputs<'_>,
    failure: &Failure,
    included: &[RepoPath],
) -> Vec<UnresolvedImport> {
    let imports = failure.import_closure.unresolved.iter();
    let imports = imports.filter(|import| included.contains(&import.path));
    let masked = imports.map(|import| UnresolvedImport {
        specifier: inputs.redactor.mask(&import.specifier),
        tried: import.tried.iter().map(|path| inputs.redactor.mask(path)).collect(),
        ..import.clone()
    });
    let mut found: Vec<UnresolvedImport> = masked.collect();
    found.sort();
    found
}

/// Returns files worth asking for: what the caps cut, and what lies one import further.
pub(super) fn next_files(
    inputs: &PacketInputs<'_>,
    failure: &Failure,
    included: &[RepoPath],
    omitted: &[Omission],
) -> Vec<RepoPath> {
    let cut = omitted.iter().filter(|file| file.rank.is_some());
    let cut = cut.filter_map(|file| RepoPath::new(&file.path).ok());
    let further = failure.import_closure.nodes.iter().map(|node| node.path.clone());
    let mut found: Vec<RepoPath> = Vec::new();
    for path in cut.chain(further) {
        if !included.contains(&path) && !found.contains(&path) && inputs.may_read(&path) {
            found.push(path);
        }
    }
    found.truncate(20);
    found
}
