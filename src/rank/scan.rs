use super::query::Query;
use super::terms::{identifiers, parts, term_id};
use crate::model::RepoPath;

/// How often one file holds the query's terms.
#[derive(Debug, Clone, Default)]
pub(super) struct FileTerms {
    /// Identifiers in the file, parts included.
    pub(super) length: u32,
    /// Term number and count, sorted by number.
    pub(super) counts: Vec<(u32, u32)>,
    /// Numbers of the terms that the file defines, sorted.
    pub(super) defines: Vec<u32>,
}

/// Words of a path weigh as much as this many occurrences in the text.
const PATH_WEIGHT: u32 = 3;

/// Counts the query's terms in a file and in its path.
pub(super) fn scan(query: &Query, path: &RepoPath, bytes: &[u8]) -> FileTerms {
    let mut length = 0_u32;
    let mut hits: Vec<u32> = Vec::new();
    let mut defines: Vec<u32> = Vec::new();
    identifiers(bytes, |it| {
        length += 1;
        if let Some(number) = query.number(term_id(it.word)) {
            hits.push(number);
            if it.defines {
                defines.push(number);
            }
        }
        parts(it.word, |id| {
            length += 1;
            hits.extend(query.number(id));
        });
    });
    identifiers(path.as_str().as_bytes(), |it| {
        let mut hit = |id| {
            if let Some(number) = query.number(id) {
                hits.extend(std::iter::repeat_n(number, PATH_WEIGHT as usize));
            }
        };
        hit(term_id(it.word));
        parts(it.word, hit);
    });
    hits.sort_unstable();
    let mut counts: Vec<(u32, u32)> = Vec::new();
    for number in hits {
        match counts.last_mut() {
            Some((last, count)) if *last == number => *count += 1,
            _ => counts.push((number, 1)),
        }
    }
    defines.sort_unstable();
    defines.dedup();
    FileTerms {
        length,
        counts,
        defines,
    }
}
