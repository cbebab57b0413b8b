//! Collects the failing tests of all runners, in log order.

use std::collections::HashSet;

use super::case::Case;
use super::{pytest, table};
use crate::diagnose::line::Line;

/// Returns the failing tests that the lines report, in log order, and marks the lines of their
/// failure blocks as claimed.
pub(in crate::diagnose) fn collect_cases(lines: &mut [Line<'_>]) -> Vec<Case> {
    let mut cases = pytest::pytest_cases(lines);
    let candidates = table::find_candidates(lines);
    cases.extend(table::table_blocks(lines, &candidates));
    for case in &cases {
        let block = case.at..case.block.end.min(lines.len());
        for line in lines.get_mut(block).unwrap_or_default() {
            line.claimed = true;
        }
    }
    let mut seen = HashSet::new();
    cases.retain(|case| case.name.as_ref().is_none_or(|name| seen.insert(name.clone())));
    let rows = table::status_rows(lines, &candidates, false);
    merge_rows(&mut cases, rows);
    if cases.is_empty() {
        merge_rows(&mut cases, table::status_rows(lines, &candidates, true));
    }
    cases.sort_by_key(|case| case.at);
    // Failing tests that are kept of one log.
    cases.truncate(2000);
    cases
}

// A block names its test in full, a row often by its last part alone. A runner prints its blocks below the rows of
// the same tests: with as many blocks as rows, nothing is missing.
fn merge_rows(cases: &mut Vec<Case>, mut rows: Vec<Case>) {
    let blocks: Vec<String> = cases.iter().map(compact_name).collect();
    let mut seen = HashSet::new();
    rows.retain(|row| !compact_name(row).is_empty() && seen.insert(compact_name(row)));
    let count = |cases: &[Case], runner: &str, from: usize| {
        cases.iter().filter(|case| case.runner == runner && case.at >= from).count()
    };
    let told = |row: &Case| count(&cases[..], row.runner, row.at) >= count(&rows, row.runner, 0);
    let told: Vec<bool> = rows.iter().map(told).collect();
    for (row, told) in rows.into_iter().zip(told) {
        let name = compact_name(&row);
        let same = blocks.iter().position(|block| {
            !block.is_empty() && (block.ends_with(&name) || name.ends_with(block.as_str()))
        });
        if let Some(at) = same {
            let case = &mut cases[at];
            case.place = case.place.take().or(row.place);
        } else if !told {
            cases.push(row);
        }
    }
}

fn compact_name(case: &Case) -> String {
    let name = case.name.as_deref().unwrap_or_default();
    name.chars().filter(|c| c.is_alphanumeric()).collect()
}
