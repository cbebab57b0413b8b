//! Splits text into terms and hashes them. The hash is fixed, so that the order is the same on every
//! machine.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// A 64-bit name of a term: FNV-1a of its lowercase bytes. The same on every machine.
pub(super) type TermId = u64;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Terms below this length say nothing.
const MIN_LENGTH: usize = 3;

/// A map by term. An id is a hash already: hashing it once more would take most of the time of a
/// scan.
pub(super) type ByTerm<V> = HashMap<TermId, V, BuildHasherDefault<Itself>>;

/// The hash of an id: itself.
#[derive(Default)]
pub(super) struct Itself(u64);

impl Hasher for Itself {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
        });
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The id of a word, whatever its case.
pub(super) fn term_id(word: &[u8]) -> TermId {
    word.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(PRIME)
    })
}

/// Calls `visit` with each identifier of a text in order, and its id. One pass, no parser: good enough to
/// compare whole repositories in the time it takes to parse a dozen files.
pub(super) fn identifiers<'t>(text: &'t [u8], mut visit: impl FnMut(&'t [u8], TermId)) {
    let (mut start, mut id) = (0, OFFSET);
    for at in 0..=text.len() {
        let letter = text.get(at).map_or(0, |byte| LETTERS[usize::from(*byte)]);
        if letter > 0 {
            id = (id ^ u64::from(letter)).wrapping_mul(PRIME);
            continue;
        }
        let word = &text[start..at];
        // Longer runs are data, not identifiers.
        if (MIN_LENGTH..=80).contains(&word.len()) && !word[0].is_ascii_digit() {
            visit(word, id);
        }
        (start, id) = (at + 1, OFFSET);
    }
}

/// Calls `visit` with the id of each part of a compound identifier.
pub(super) fn parts(word: &[u8], visit: impl FnMut(TermId)) {
    if !word.iter().all(u8::is_ascii_lowercase) {
        part_words(word).map(term_id).for_each(visit);
    }
}

/// The parts of a compound identifier: `parseMoneyText` and `parse_money_text` give `parse`, `money` and `text`.
/// Simple words give nothing.
pub(super) fn part_words(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    (1..=word.len()).filter_map(move |at| {
        let ends = at == word.len()
            || word[at] == b'_'
            || word[at] == b'$'
            || (word[at].is_ascii_uppercase()
                && (!word[at - 1].is_ascii_uppercase()
                    || word.get(at + 1).is_some_and(u8::is_ascii_lowercase)));
        if !ends {
            return None;
        }
        let part = &word[start..at];
        let part = part.strip_prefix(b"_").unwrap_or(part);
        start = at;
        (part.len() >= MIN_LENGTH && part.len() < word.len()).then_some(part)
    })
}

// The lowercase of each byte of a word, and 0 for others. A table, because most of a scan is this question.
static LETTERS: [u8; 256] = {
    let (mut table, mut byte) = ([0; 256], 1_u8);
    while byte > 0 {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..) {
            table[byte as usize] = byte.to_ascii_lowercase();
        }
        byte = byte.wrapping_add(1);
    }
    table
};

/// Words of the languages and of test runners; in a small repository, rarity alone does not identify them.
const COMMON: &str = "\
    and any args assert async await bool boolean break case catch class const continue \
    def default describe elif else enum except expect export extends False false finally \
    for from function global implements import int interface isinstance kwargs lambda \
    len let namespace new None not null number object pass private public raise raises \
    readonly return self static str string super switch test this throw True true try \
    type typeof undefined unknown var void while with yield";

pub(super) fn is_common(word: &[u8]) -> bool {
    static WORDS: LazyLock<HashSet<&[u8]>> =
        LazyLock::new(|| COMMON.split(' ').map(str::as_bytes).collect());
    WORDS.contains(word)
}

/// log2(1 + x) for x >= 0, by arithmetic that every machine rounds alike: the exponent exactly,
/// the fraction by a line between powers of two.
pub(super) fn log2_1p(x: f64) -> f64 {
    let mut value = 1.0 + x;
    let mut whole = 0.0;
    while value >= 2.0 {
        value *= 0.5;
        whole += 1.0;
    }
    whole + (value - 1.0)
}

/// 2^-x for x >= 0, in the same way.
pub(super) fn exp2_minus(x: f64) -> f64 {
    let mut left = x.min(60.0);
    let mut value = 1.0;
    while left >= 1.0 {
        value *= 0.5;
        left -= 1.0;
    }
    value * (1.0 - left * 0.5)
}

#[cfg(test)]
mod tests {
    use super::{identifiers, parts, term_id};

    #[test]
    fn identifiers_are_words_of_three_letters_and_more() {
        let mut found = Vec::new();
        let text = b"export function* parseMoney(text) { const cents = 1; return ab }";
        identifiers(text, |word, id| {
            assert_eq!(id, term_id(word));
            found.push(word);
        });
        assert_eq!(
            found,
            [
                &b"export"[..],
                b"function",
                b"parseMoney",
                b"text",
                b"const",
                b"cents",
                b"return"
            ]
        );
    }

    #[test]
    fn compounds_have_parts() {
        let of = |word: &str| {
            let mut ids = Vec::new();
            parts(word.as_bytes(), |id| ids.push(id));
            ids
        };
        let expected = ["parse", "money", "text"].map(|part| term_id(part.as_bytes()));
        assert_eq!(of("parseMoneyText"), expected);
        assert_eq!(of("parse_money_text"), expected);
        assert_eq!(
            of("HTMLParser"),
            ["html", "parser"].map(|part| term_id(part.as_bytes()))
        );
        assert!(of("money").is_empty() && of("").is_empty());
        assert_eq!(term_id(b"Money"), term_id(b"money"));
    }
}
