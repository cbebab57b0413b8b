use std::cell::RefCell;
use std::collections::BTreeMap;

use rayon::prelude::*;

use super::question::Question;
use super::terms::{ByTerm, TermId, identifiers, parts, term_id};
use crate::languages::{Outline, outline, reading};
use crate::model::{BlobId, RepoPath};
use crate::source::Source;
use crate::state::{Key, Store};

/// Returns the outline of a text from the cache, else parses the text and keeps the outline.
#[must_use]
pub fn known_outline(outlines: &Store, path: &RepoPath, text: &[u8]) -> Outline {
    // The text shown may differ from the file: secrets are masked.
    let key = reading(path).filter(|_| outlines.keeps());
    let Some(key) = key.map(|reading| Key::new(BlobId::from_content(text).as_bytes(), reading))
    else {
        return outline(path, text);
    };
    let cached = outlines.get(&key);
    if let Some(cached) = cached.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        return cached;
    }
    let found = outline(path, text);
    if let Ok(data) = serde_json::to_vec(&found) {
        outlines.put(key, data);
    }
    found
}

/// How often one file holds the terms of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileTerms {
    /// Identifiers in the file, parts included.
    pub(super) length: u32,
    /// Term and count, sorted by term.
    pub(super) counts: Vec<(u32, u32)>,
    /// Terms that the file defines, sorted.
    pub(super) defines: Vec<u32>,
}

/// Bytes of one shard beyond which blobs of other states of the repository are forgotten.
const MAX_SHARD: usize = 2 << 20;
/// The reading under which shards are kept; blobs alone have reading 0.
const SHARD: u8 = 1;

type BlobBytes = [u8; 20];

/// Counts the terms of a question in each file.
///
/// The words of all blobs are kept in 256 shards by the first byte of the blob's id, so that a
/// repository of ten thousand files is read in 256 pieces. New blobs extend their shard.
pub(super) fn scan_files(
    question: &Question,
    source: &dyn Source,
    paths: &[RepoPath],
    words: &Store,
) -> Vec<FileTerms> {
    let mut shards: BTreeMap<Option<u8>, Vec<usize>> = BTreeMap::new();
    let ids: Vec<Option<BlobBytes>> = paths
        .iter()
        .map(|path| words.keeps().then(|| source.blob_id(path)).flatten())
        .map(|id| id.map(|id| *id.as_bytes()))
        .collect();
    for (at, id) in ids.iter().enumerate() {
        shards.entry(id.map(|id| id[0])).or_default().push(at);
    }
    let shards: Vec<(Option<u8>, Vec<usize>)> = shards.into_iter().collect();
    let found: Vec<Vec<(usize, FileTerms)>> = shards
        .into_par_iter()
        .map(|(shard, files)| {
            let read = |at: usize| {
                source
                    .read(&paths[at])
                    .ok()
                    .map(|bytes| count_words(&bytes))
            };
            match shard {
                Some(shard) => scan_shard(question, words, shard, &files, &ids, &read),
                None => files
                    .into_par_iter()
                    .map(|at| {
                        (
                            at,
                            read(at).map_or_else(FileTerms::default, |found| {
                                decode(question, &found).unwrap_or_default()
                            }),
                        )
                    })
                    .collect(),
            }
        })
        .collect();
    let mut terms = vec![FileTerms::default(); paths.len()];
    for (at, one) in found.into_iter().flatten() {
        terms[at] = one;
    }
    terms
}

fn scan_shard(
    question: &Question,
    words: &Store,
    shard: u8,
    files: &[usize],
    ids: &[Option<BlobBytes>],
    read: &(dyn Fn(usize) -> Option<Vec<u8>> + Sync),
) -> Vec<(usize, FileTerms)> {
    let key = Key::new(&[shard; 20], SHARD);
    let kept = words.get(&key).unwrap_or_default();
    let known = split_shard(&kept);
    let mut fresh: BTreeMap<BlobBytes, Vec<u8>> = BTreeMap::new();
    let mut found = Vec::with_capacity(files.len());
    for at in files {
        let Some(id) = ids[*at] else { continue };
        let terms = known.get(&id).and_then(|bytes| decode(question, bytes));
        let terms = terms.or_else(|| {
            let bytes = read(*at)?;
            let terms = decode(question, &bytes);
            fresh.insert(id, bytes);
            terms
        });
        found.push((*at, terms.unwrap_or_default()));
    }
    if !fresh.is_empty() {
        let mut all: BTreeMap<BlobBytes, &[u8]> = if kept.len() <= MAX_SHARD {
            known
        } else {
            BTreeMap::new()
        };
        all.extend(fresh.iter().map(|(id, bytes)| (*id, bytes.as_slice())));
        let mut shard = Vec::new();
        for (id, bytes) in all {
            shard.extend_from_slice(&id);
            shard.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            shard.extend_from_slice(bytes);
        }
        words.put(key, shard);
    }
    found
}

fn split_shard(mut bytes: &[u8]) -> BTreeMap<BlobBytes, &[u8]> {
    let mut found = BTreeMap::new();
    while let Some((id, rest)) = bytes.split_first_chunk::<20>() {
        let Some((length, rest)) = rest.split_first_chunk::<4>() else {
            break;
        };
        let Some((words, rest)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)
        else {
            break;
        };
        found.insert(*id, words);
        bytes = rest;
    }
    found
}

thread_local! {
    // Room for the counts of one file, reused for the next.
    static COUNTS: RefCell<ByTerm<u32>> = RefCell::default();
}

/// Encodes the words of a file: their number, the ids, the counts in as many bytes as they need. The
/// lowest bit of a count says whether the file defines the word.
fn count_words(text: &[u8]) -> Vec<u8> {
    COUNTS.with_borrow_mut(|counts| {
        let mut length = 0_u32;
        identifiers(text, |word| {
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
        let mut bytes = Vec::with_capacity(8 + 9 * counts.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&(counts.len() as u32).to_le_bytes());
        for (id, _) in &counts {
            bytes.extend_from_slice(&id.to_le_bytes());
        }
        for (_, count) in &counts {
            let mut left = *count;
            while left >= 0x80 {
                bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            bytes.push(left as u8);
        }
        bytes
    })
}

fn decode(question: &Question, bytes: &[u8]) -> Option<FileTerms> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let number = u32::from_le_bytes(*number) as usize;
    let (ids, counts) = rest.split_at_checked(number.checked_mul(8)?)?;
    let (ids, _) = ids.as_chunks::<8>();
    let mut counts = counts.iter();
    let mut terms = FileTerms {
        length: u32::from_le_bytes(*length),
        ..FileTerms::default()
    };
    for id in ids {
        let mut count = 0_u32;
        let mut shift = 0;
        loop {
            let byte = counts.next()?;
            count |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
        }
        if let Some(term) = question.number(u64::from_le_bytes(*id)) {
            terms.counts.push((term, count >> 1));
            if count & 1 == 1 {
                terms.defines.push(term);
            }
        }
    }
    // Several forms of a word may be one term.
    terms.counts.sort_unstable();
    terms.counts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
    terms.defines.sort_unstable();
    terms.defines.dedup();
    Some(terms)
}

#[cfg(test)]
mod tests {
    use super::{FileTerms, count_words, decode, scan_files};
    use crate::model::RepoPath;
    use crate::rank::Question;
    use crate::rank::terms::term_id;
    use crate::source::Memory;
    use crate::state::Store;

    #[test]
    fn cached_words_count_as_words_read() {
        let text = "def parse_money(text):\n    return parse(text) + parse_money(text)\n";
        let question = Question::from_log("parse_money: def parse(): pass", &[], &[]);
        let paths = [RepoPath::new("src/money.py").unwrap()];
        let source = Memory::new([(paths[0].clone(), text.into())]);
        let directory = tempfile::tempdir().unwrap();
        let run = |words: &Store| {
            let terms = scan_files(&question, &source, &paths, words);
            words.save();
            terms
        };
        let afresh = run(&Store::nothing());
        let number = |word: &[u8]| question.number(term_id(word)).unwrap();
        let count = |word: &[u8]| {
            let mut rows = afresh[0].counts.iter();
            rows.find(|row| row.0 == number(word)).map(|row| row.1)
        };
        assert_eq!(count(b"parse"), Some(3), "whole and in parts");
        assert_eq!(afresh[0].defines, [number(b"parse_money")]);
        for _ in 0..3 {
            assert_eq!(run(&Store::open(directory.path())), afresh);
        }
    }

    #[test]
    fn damaged_words_are_rejected() {
        let question = Question::from_log("some words", &[], &[]);
        let whole = count_words(b"some words, some other words");
        assert!(decode(&question, &whole).is_some());
        for end in 0..whole.len() {
            let cut: Option<FileTerms> = decode(&question, &whole[..end]);
            assert!(cut.is_none(), "{end} bytes");
        }
        assert!(decode(&question, &[0xff; 64]).is_none());
    }
}
