use super::query::{Query, Term};
use super::scan::FileTerms;
use super::score::{Scores, log2_1p};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// BM25 of the files against a part of the query; `weight` says how often that part holds a term.
pub(super) fn bm25(query: &Query, files: &[FileTerms], weight: fn(&Term) -> u32) -> Scores {
    let total: f64 = files.iter().map(|file| f64::from(file.length)).sum();
    let average = if files.is_empty() {
        1.0
    } else {
        (total / files.len() as f64).max(1.0)
    };
    let rarity = rarities(query, files);
    files
        .iter()
        .map(|file| {
            let norm = K1 * (1.0 - B + B * f64::from(file.length) / average);
            file.counts
                .iter()
                .filter_map(|(number, count)| {
                    let term = query.terms.get(*number as usize)?;
                    let asked = weight(term);
                    if asked == 0 {
                        return None;
                    }
                    let often = f64::from(*count) * (K1 + 1.0) / (f64::from(*count) + norm);
                    Some(rarity[*number as usize] * often * log2_1p(f64::from(asked)))
                })
                .sum()
        })
        .collect()
}

/// The rarity of each term: log2(1 + (N - n + 0.5) / (n + 0.5)) for n of N files.
pub(super) fn rarities(query: &Query, files: &[FileTerms]) -> Vec<f64> {
    let mut holders = vec![0_u32; query.terms.len()];
    for (number, _) in files.iter().flat_map(|file| &file.counts) {
        holders[*number as usize] += 1;
    }
    let all = files.len() as f64;
    holders
        .into_iter()
        .map(|count| {
            let count = f64::from(count);
            log2_1p((all - count + 0.5) / (count + 0.5))
        })
        .collect()
}
