use super::query::{Query, Term};
use super::scan::FileTerms;
use super::score::{Scores, log2_1p};

/// Files that define what a part of the query names; a name that many files define counts little.
pub(super) fn defines(query: &Query, files: &[FileTerms], weight: fn(&Term) -> u32) -> Scores {
    let mut definers = vec![0_u32; query.terms.len()];
    for number in files.iter().flat_map(|file| &file.defines) {
        definers[*number as usize] += 1;
    }
    files
        .iter()
        .map(|file| {
            file.defines
                .iter()
                .filter_map(|number| {
                    let term = query.terms.get(*number as usize)?;
                    let asked = weight(term);
                    (asked > 0 && term.whole).then(|| {
                        let few = f64::from(definers[*number as usize]);
                        log2_1p(f64::from(asked)) / (few * few.sqrt())
                    })
                })
                .sum()
        })
        .collect()
}

/// Files that use what the targets define: those that a change of the targets touches.
pub(super) fn uses(query: &Query, files: &[FileTerms], rarity: &[f64]) -> Scores {
    files
        .iter()
        .map(|file| {
            file.counts
                .iter()
                .filter(|(number, _)| {
                    let term = query.terms.get(*number as usize);
                    term.is_some_and(|term| term.target_defines && term.whole)
                })
                .map(|(number, count)| rarity[*number as usize] * log2_1p(f64::from(*count)))
                .sum()
        })
        .collect()
}
