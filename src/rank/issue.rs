//! Reads a question from the text of an issue.

use std::collections::BTreeMap;

use super::question::Question;
use super::terms::{TermId, identifiers, is_common, part_words, term_id};

impl Question {
    /// Reads a question from an issue or a task. Of more than 256 KiB only the start is read, four
    /// times as much as hosts of issues accept.
    pub fn from_issue(text: &str) -> Self {
        // Bytes of a text that are read.
        let text = text.get(..text.floor_char_boundary(256 << 10)).unwrap_or(text);
        let mut asked = AskedWords::default();
        let mut question = Self {
            part: 1.0,
            length: 1.0,
            is_issue: true,
            ..Self::default()
        };
        for (zone, line) in zones(text) {
            if let Zone::Trace = zone {
                continue;
            }
            for (at, quoted) in line.split('`').enumerate() {
                let weight = match zone {
                    // Weights beside a word of a sentence, which has 1; the third is of code between backquotes.
                    Zone::Title => 4.0,
                    Zone::Code => 0.35,
                    _ if at % 2 == 1 => 1.5,
                    _ => 1.0,
                };
                asked.add(quoted, weight, zone != Zone::Code && at % 2 == 1);
                question.paths.extend(named_paths(quoted));
            }
        }
        for (number, (word, [weight, name])) in (0_u32..).zip(asked.terms) {
            question.numbers.extend(word_forms(&word).map(|id| (id, number)));
            question.weights.push(weight);
            question.names.push(name);
            question.subjects.push(weight);
        }
        question
    }
}

// Words by how they are grouped, with how much each is asked for, and how much as a name.
#[derive(Default)]
struct AskedWords {
    terms: BTreeMap<Vec<u8>, [f64; 2]>,
}

impl AskedWords {
    fn add(&mut self, text: &str, weight: f64, is_quoted: bool) {
        identifiers(text.as_bytes(), |word, _| {
            if is_common(word) {
                return;
            }
            let mut parts = part_words(word).peekable();
            let is_simple = parts.peek().is_none();
            let whole = if is_simple { stem(word) } else { word };
            // How much a plain word of a sentence is a name.
            let named = if is_simple && !is_quoted { 0.05 } else { 1.0 };
            self.put(whole, [weight, weight * named]);
            parts.for_each(|part| self.put(stem(part), [weight, 0.0]));
        });
    }

    fn put(&mut self, word: &[u8], more: [f64; 2]) {
        let term = self.terms.entry(word.to_ascii_lowercase()).or_default();
        *term = [term[0] + more[0], term[1] + more[1]];
    }
}

const ENDINGS: [(&[u8], usize); 5] = [(b"ing", 6), (b"ed", 5), (b"es", 5), (b"s", 4), (b"e", 5)];

// A word without the ending that says number or time.
fn stem(word: &[u8]) -> &[u8] {
    let found = ENDINGS.iter().find_map(|(ending, least)| {
        let cut = word.len().checked_sub(ending.len())?;
        let (head, tail) = word.split_at(cut);
        (word.len() >= *least && tail.eq_ignore_ascii_case(ending)).then_some(head)
    });
    found.filter(|_| !word.ends_with(b"ss")).unwrap_or(word)
}

// The words that have a stem.
fn word_forms(group: &[u8]) -> impl Iterator<Item = TermId> {
    let is_compound = part_words(group).next().is_some();
    let endings = ENDINGS.into_iter().filter(move |_| !is_compound);
    let with = endings.filter_map(move |(ending, _)| {
        let form = [group, ending].concat();
        (stem(&form) == group).then(|| term_id(&form))
    });
    std::iter::once(term_id(group)).chain(with.collect::<Vec<_>>())
}

fn named_paths(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "_./-$@".contains(c)));
    let words = words.map(|word| word.trim_matches(['.', '/', '-']));
    words
        .filter(|word| crate::languages::Language::of_path(word).is_some())
        .map(str::to_owned)
}

/// What a line of a text that people wrote is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Zone {
    /// The first line.
    Title,
    /// A sentence.
    Prose,
    /// An example or an output.
    Code,
    /// Part of a traceback.
    Trace,
}

/// The lines of a text with what they are. What is between fences, indented or typed at a prompt is code.
fn zones(text: &str) -> Vec<(Zone, &str)> {
    let mut zones = Vec::new();
    let (mut fenced, mut traced) = (false, false);
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            traced = false;
            continue;
        }
        let is_frame = bare.starts_with("File \"") || bare.starts_with("at ") && bare.contains(':');
        traced |= bare.starts_with("Traceback (most recent");
        traced &= fenced || !bare.is_empty();
        let is_code = fenced
            || line.starts_with("    ")
            || line.starts_with('\t')
            || [">>>", "... ", "In ["].iter().any(|prompt| bare.starts_with(prompt));
        let zone = match () {
            () if zones.is_empty() && !bare.is_empty() && !is_frame => Zone::Title,
            () if traced || is_frame => Zone::Trace,
            () if is_code => Zone::Code,
            () => Zone::Prose,
        };
        if !bare.is_empty() {
            zones.push((zone, line));
        }
    }
    zones
}

#[cfg(test)]
mod tests {
    use super::Zone::{self, Code, Prose, Title, Trace};
    use super::{stem, word_forms, zones};
    use crate::rank::terms::term_id;

    #[test]
    fn zones_separate_prose_code_and_tracebacks() {
        let text = "It breaks\n\nWhen I call\n```\n>>> f(1)\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no\n```\nso sad\n    x = 1\n";
        let found: Vec<Zone> = zones(text).into_iter().map(|(zone, _)| zone).collect();
        assert_eq!(
            found,
            [Title, Prose, Code, Trace, Trace, Trace, Prose, Code]
        );
    }

    #[test]
    fn forms_of_a_word_share_a_term() {
        assert_eq!(stem(b"splitting"), b"splitt");
        for (word, stemmed) in [("prices", "pric"), ("summed", "summ"), ("class", "class")] {
            assert_eq!(stem(word.as_bytes()), stemmed.as_bytes());
        }
        let price: Vec<u64> = word_forms(b"pric").collect();
        assert!(price.contains(&term_id(b"prices")) && price.contains(&term_id(b"price")));
        assert_eq!(word_forms(b"round_money").count(), 1);
    }
}
