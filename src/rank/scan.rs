use std::cell::RefCell;

use super::query::Query;
use super::terms::{ByTerm, TermId, identifiers, parts, term_id};
use crate::model::RepoPath;
use crate::source::Source;
use crate::state::{Key, Store};

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

/// Counts the query's terms in a file. The words of a file that an earlier run has
/// read are known; those of one that is read now are put to them. A file that cannot be read has
/// no terms.
pub(super) fn scan(
    query: &Query,
    source: &dyn Source,
    path: &RepoPath,
    words: &Store,
) -> FileTerms {
    let id = words.keeps().then(|| source.blob_id(path)).flatten();
    let key = id.map(|id| Key::new(id.as_bytes(), 0));
    let cached = key.as_ref().and_then(|key| words.get(key));
    if let Some(terms) = cached.and_then(|cached| decode(query, &cached)) {
        return terms;
    }
    let Ok(bytes) = source.read(path) else {
        return FileTerms::default();
    };
    let found = count(&bytes);
    if let Some(key) = key {
        words.put(key, found.encode());
    }
    FileTerms::new(query, found.length, found.counts.into_iter())
}

// The words of a file: how many there are, and each with its count, its lowest bit saying whether
// the file defines it; sorted by id.
struct FileWords {
    length: u32,
    counts: Vec<(TermId, u32)>,
}

thread_local! {
    // Room for the counts of one file, used again for the next.
    static COUNTS: RefCell<ByTerm<u32>> = RefCell::default();
}

fn count(bytes: &[u8]) -> FileWords {
    COUNTS.with_borrow_mut(|counts| {
        let mut length = 0_u32;
        identifiers(bytes, |word| {
            length += 1;
            let count = counts.entry(term_id(word.word)).or_default();
            *count = (*count + 2) | u32::from(word.defines);
            parts(word.word, |id| {
                length += 1;
                *counts.entry(id).or_default() += 2;
            });
        });
        let mut counts: Vec<(TermId, u32)> = counts.drain().collect();
        counts.sort_unstable();
        FileWords { length, counts }
    })
}

impl FileWords {
    // The length, the number of words, their ids, their counts; each in four or eight bytes, the
    // lowest first, but counts in as many as they need.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + 9 * self.counts.len());
        bytes.extend_from_slice(&self.length.to_le_bytes());
        bytes.extend_from_slice(&(self.counts.len() as u32).to_le_bytes());
        for (id, _) in &self.counts {
            bytes.extend_from_slice(&id.to_le_bytes());
        }
        for (_, count) in &self.counts {
            let mut left = *count;
            while left >= 0x80 {
                bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            bytes.push(left as u8);
        }
        bytes
    }
}

fn decode(query: &Query, bytes: &[u8]) -> Option<FileTerms> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let number = u32::from_le_bytes(*number) as usize;
    let (ids, counts) = rest.split_at_checked(number.checked_mul(8)?)?;
    let (ids, _) = ids.as_chunks::<8>();
    let mut counts = counts.iter();
    let mut next = || {
        let mut value = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = counts.next()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    };
    let mut found = Vec::with_capacity(number);
    for id in ids {
        found.push((u64::from_le_bytes(*id), next()?));
    }
    Some(FileTerms::new(
        query,
        u32::from_le_bytes(*length),
        found.into_iter(),
    ))
}

impl FileTerms {
    // Several ids may stand for one term.
    fn new(query: &Query, length: u32, words: impl Iterator<Item = (TermId, u32)>) -> Self {
        let mut terms = Self {
            length,
            ..Self::default()
        };
        for (id, count) in words {
            if let Some(number) = query.number(id) {
                terms.counts.push((number, count >> 1));
                if count & 1 == 1 {
                    terms.defines.push(number);
                }
            }
        }
        terms.counts.sort_unstable();
        terms.counts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        terms.defines.sort_unstable();
        terms.defines.dedup();
        terms
    }
}

/// Counts the query's terms in the path of a file.
pub(super) fn add_path(terms: &mut FileTerms, query: &Query, path: &RepoPath) {
    let mut hit = |id| {
        let Some(number) = query.number(id) else {
            return;
        };
        match terms.counts.binary_search_by_key(&number, |it| it.0) {
            Ok(at) => terms.counts[at].1 += PATH_WEIGHT,
            Err(at) => terms.counts.insert(at, (number, PATH_WEIGHT)),
        }
    };
    identifiers(path.as_str().as_bytes(), |word| {
        hit(term_id(word.word));
        parts(word.word, &mut hit);
    });
}

#[cfg(test)]
mod tests {
    use super::{FileTerms, Query, add_path, count, decode, scan};
    use crate::model::RepoPath;
    use crate::source::Memory;
    use crate::state::Store;

    #[test]
    fn words_that_are_known_count_as_words_that_are_read() {
        let text = "def parse_money(text):\n    return parse(text) + parse_money(text)\n";
        let query = Query::new(b"parse_money of text in money.py", &[b"def parse(): pass"]);
        let path = RepoPath::new("src/money.py").unwrap();
        let source = Memory::new([(path.clone(), text.into())]);
        let directory = tempfile::tempdir().unwrap();
        let run = |words: &Store| {
            let mut terms = scan(&query, &source, &path, words);
            add_path(&mut terms, &query, &path);
            words.save();
            (terms.length, terms.counts, terms.defines)
        };
        let afresh = run(&Store::nothing());
        let number = |word: &[u8]| query.number(super::term_id(word)).unwrap();
        let of = |word: &[u8]| {
            let at = afresh.1.iter().find(|it| it.0 == number(word));
            at.map(|it| it.1)
        };
        // Whole and in parts, and three more for the path.
        assert_eq!(of(b"parse"), Some(3));
        assert_eq!(of(b"money"), Some(5));
        assert_eq!(afresh.2, [number(b"parse_money")]);
        for _ in 0..3 {
            assert_eq!(run(&Store::open(directory.path())), afresh);
        }
    }

    #[test]
    fn what_is_no_list_of_words_is_none() {
        let query = Query::new(b"some words of a log", &[]);
        let whole = count(b"some words, some other words").encode();
        assert!(decode(&query, &whole).is_some());
        for end in 0..whole.len() {
            let cut: Option<FileTerms> = decode(&query, &whole[..end]);
            assert!(cut.is_none(), "{end} bytes");
        }
        assert!(decode(&query, &[0xff; 64]).is_none());
    }
}
