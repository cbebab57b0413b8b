use std::collections::{BTreeMap, HashMap};

use super::issue::{Issue, Rarity};
use super::query::is_common;
use super::signals::log2_1p;
use super::terms::{ByTerm, TermId, identifiers, parts, term_id};

/// A unit of a file, for weighing it.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'t> {
    /// Its lines.
    pub text: &'t [u8],
    /// What it defines by name.
    pub defines: &'t [&'t str],
    /// Other pieces, by their number, of the definition that begins in this one.
    pub rest: &'t [usize],
    /// How much its file has to say, 0 to 1.
    pub prior: f64,
    /// Whether its file is one that a repair may have to change.
    pub product: bool,
    /// How much it is of the failing tests alone, 0 to 1, where it was seen what they run; 0 for a piece that
    /// they do not enter.
    pub ran: Option<f64>,
}

/// What the pieces are weighed against.
#[derive(Clone, Copy)]
pub struct Question<'t> {
    /// What says what is wrong.
    pub wording: Wording<'t>,
    /// Pieces that fail, such as the bodies of failing tests, and pieces that the log points into,
    /// with their weight.
    pub seeds: &'t [(usize, f64)],
}

/// Who says what is wrong.
#[derive(Clone, Copy)]
pub enum Wording<'t> {
    /// A log: what it tells of the failure.
    Log(&'t [u8]),
    /// A person, in words of which it is known how rare they are in the repository.
    Issue(&'t Issue, &'t Rarity),
}

/// The words that are asked for.
pub(super) struct Terms<'t> {
    /// By key, how much each is.
    pub(super) weights: BTreeMap<u64, f64>,
    /// The key of a word; words with the same are one.
    pub(super) key: Box<dyn Fn(TermId) -> Option<u64> + 't>,
    /// How rare words are in the repository; else they are as rare as among the pieces.
    pub(super) rarity: Option<&'t Rarity>,
    /// What a part of an identifier says beside all of it.
    pub(super) part: f64,
    /// How much a long piece has to hold more than a short one, 0 to 1.
    pub(super) length: f64,
}

impl<'t> Terms<'t> {
    fn new(words: &[Words], question: &Question<'t>) -> Self {
        let text = match question.wording {
            Wording::Issue(issue, rarity) => return issue.asks(rarity),
            Wording::Log(text) => text,
        };
        let mut weights: BTreeMap<TermId, f64> = BTreeMap::new();
        for (id, count) in Words::from_text(text).all(PART) {
            *weights.entry(id).or_default() += log2_1p(count);
        }
        for (seed, weight) in question.seeds {
            for (id, count) in words[*seed].all(PART) {
                *weights.entry(id).or_default() += OF_SEED * weight * log2_1p(count);
            }
        }
        Self {
            weights,
            key: Box::new(Some),
            rarity: None,
            part: PART,
            length: B,
        }
    }
}

/// How much each piece says about the failure, by words it shares with the evidence and the
/// failing bodies and by the names that lead from those to it. No scale of its own.
///
/// Adding, multiplying, dividing: the same figures on every machine.
#[must_use]
pub fn worth(pieces: &[Piece<'_>], question: &Question<'_>) -> Vec<f64> {
    let words: Vec<Words> = pieces.iter().map(|it| Words::from_text(it.text)).collect();
    let shared = shared_words(&words, &Terms::new(&words, question));
    let reached = reached(pieces, &words, &shared, question);
    let highest = |scores: &[f64]| {
        let of_product = scores.iter().zip(pieces).filter(|(_, it)| it.product);
        of_product.map(|(score, _)| *score).fold(LEAST, f64::max)
    };
    let (most_shared, most_reached) = (highest(&shared), highest(&reached));
    shared
        .iter()
        .zip(&reached)
        .zip(pieces)
        .map(|((shared, reached), piece)| {
            let score = LEAST + shared / most_shared + REACHED * reached / most_reached;
            let seen = match piece.ran {
                None => score,
                Some(ran) if ran <= 0.0 => IDLE * score,
                Some(ran) => score + RAN * ran * ran,
            };
            piece.prior * seen
        })
        .collect()
}

/// What names that lead from the failing bodies weigh beside words shared with the question.
const REACHED: f64 = 0.7;
/// What it weighs beside them that failing tests run a piece and passing ones do not.
const RAN: f64 = 0.7;
/// What is left of a piece that they do not run.
const IDLE: f64 = 0.7;
/// Where nothing speaks for any piece, what speaks for its file decides.
const LEAST: f64 = 1e-9;

// The identifiers of a piece, whole and in parts, with their counts.
pub(super) struct Words {
    whole: BTreeMap<TermId, u32>,
    parts: BTreeMap<TermId, u32>,
    length: u32,
}

impl Words {
    pub(super) fn from_text(text: &[u8]) -> Self {
        let mut words = Self {
            whole: BTreeMap::new(),
            parts: BTreeMap::new(),
            length: 0,
        };
        identifiers(text, |word| {
            if is_common(word.word) {
                return;
            }
            words.length += 1;
            *words.whole.entry(term_id(word.word)).or_default() += 1;
            parts(word.word, |id| *words.parts.entry(id).or_default() += 1);
        });
        words
    }

    fn all(&self, part: f64) -> impl Iterator<Item = (TermId, f64)> {
        let whole = self.whole.iter();
        let whole = whole.map(|(id, count)| (*id, f64::from(*count)));
        let parts = self.parts.iter();
        whole.chain(parts.map(move |(id, count)| (*id, part * f64::from(*count))))
    }
}

/// A part of an identifier says less than all of it.
const PART: f64 = 0.3;
/// What a word of a failing body weighs beside one of the log.
const OF_SEED: f64 = 2.0;
const K1: f64 = 1.2;
const B: f64 = 0.6;

/// BM25 of the pieces against what is asked for.
pub(super) fn shared_words(words: &[Words], terms: &Terms<'_>) -> Vec<f64> {
    let counted: Vec<BTreeMap<u64, f64>> = words
        .iter()
        .map(|piece| {
            let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
            for (id, count) in piece.all(terms.part) {
                let key = (terms.key)(id).filter(|it| terms.weights.contains_key(it));
                if let Some(key) = key {
                    *counts.entry(key).or_default() += count;
                }
            }
            counts
        })
        .collect();
    let mut holders: ByTerm<u32> = ByTerm::default();
    for key in counted.iter().flat_map(BTreeMap::keys) {
        *holders.entry(*key).or_default() += 1;
    }
    let all = words.len() as f64;
    let total: f64 = words.iter().map(|it| f64::from(it.length)).sum();
    let average = (total / all.max(1.0)).max(1.0);
    let rarity = |key: u64| {
        let given = terms.rarity.and_then(|it| it.0.get(&key).copied());
        given.unwrap_or_else(|| {
            let held = f64::from(holders.get(&key).copied().unwrap_or(0));
            log2_1p((all - held + 0.5) / (held + 0.5))
        })
    };
    let scored = counted.iter().zip(words).map(|(counts, piece)| {
        let length = f64::from(piece.length) / average;
        let norm = K1 * (1.0 - terms.length + terms.length * length);
        let score = |(key, count): (&u64, &f64)| {
            rarity(*key) * log2_1p(terms.weights[key]) * count * (K1 + 1.0) / (count + norm)
        };
        counts.iter().map(score).sum()
    });
    scored.collect()
}

/// How often the weight is handed on along names.
const STEPS: usize = 3;
/// How much of it is handed on in each step.
const HANDED_ON: f64 = 0.6;
/// How much of it a piece hands on to the rest of the definition that begins in it.
const TO_THE_REST: f64 = 0.5;
const LITTLE: f64 = 0.05;
/// What a piece that is much like the question starts with.
const LIKE_A_SEED: f64 = 0.1;
/// A name that more pieces define leads nowhere.
const MAX_DEFINERS: usize = 12;

// A walk from the seeds: a piece hands its weight on to the pieces that define the names it uses.
fn reached(
    pieces: &[Piece<'_>],
    words: &[Words],
    shared: &[f64],
    question: &Question<'_>,
) -> Vec<f64> {
    let mut definers: ByTerm<Vec<usize>> = ByTerm::default();
    for (at, piece) in pieces.iter().enumerate() {
        for name in piece.defines {
            let short = last_name(name);
            if is_common(short) {
                continue;
            }
            let rows = definers.entry(term_id(short)).or_default();
            if rows.last() != Some(&at) {
                rows.push(at);
            }
        }
    }
    let mut users: ByTerm<u32> = ByTerm::default();
    for piece in words {
        for id in piece.whole.keys() {
            *users.entry(*id).or_default() += 1;
        }
    }
    let all = pieces.len() as f64;
    let edges = |from: usize| -> Vec<(usize, f64)> {
        let mut edges: BTreeMap<usize, f64> = BTreeMap::new();
        for (id, count) in &words[from].whole {
            let Some(rows) = definers.get(id).filter(|it| it.len() <= MAX_DEFINERS) else {
                continue;
            };
            let used = f64::from(users.get(id).copied().unwrap_or(1));
            let weight = log2_1p(f64::from(*count)) * log2_1p(all / used);
            let priors: f64 = rows.iter().map(|at| pieces[*at].prior).sum();
            for at in rows.iter().filter(|at| **at != from) {
                *edges.entry(*at).or_default() += weight * pieces[*at].prior / priors.max(1e-9);
            }
        }
        let sum: f64 = edges.values().sum();
        edges
            .into_iter()
            .map(|(at, weight)| (at, weight / sum.max(1e-9)))
            .collect()
    };
    let mut cache: HashMap<usize, Vec<(usize, f64)>> = HashMap::new();
    let mut total = vec![0.0; pieces.len()];
    let mut wave: BTreeMap<usize, f64> = BTreeMap::new();
    for (seed, weight) in question.seeds {
        *wave.entry(*seed).or_default() += weight;
    }
    // What shares most with the question is asked too, a little.
    let most = shared.iter().copied().fold(LEAST, f64::max);
    for (at, shared) in shared.iter().enumerate() {
        if shared / most > 0.5 {
            *wave.entry(at).or_default() += LIKE_A_SEED * shared / most * pieces[at].prior;
        }
    }
    for _ in 0..=STEPS {
        let mut next: BTreeMap<usize, f64> = BTreeMap::new();
        for (at, weight) in &wave {
            total[*at] += weight;
            for (to, share) in cache.entry(*at).or_insert_with(|| edges(*at)) {
                *next.entry(*to).or_default() += HANDED_ON * weight * *share;
            }
            let rest = pieces[*at].rest;
            let alike: f64 = rest.iter().map(|it| LITTLE + shared[*it]).sum();
            for to in rest {
                let share = (LITTLE + shared[*to]) / alike;
                *next.entry(*to).or_default() += TO_THE_REST * weight * share;
            }
        }
        wave = next;
    }
    // Few pieces get nearly all of the weight; its root tells the others apart.
    total.iter().map(|it: &f64| it.sqrt()).collect()
}

fn last_name(name: &str) -> &[u8] {
    name.rsplit('.').next().unwrap_or(name).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::{Piece, Question, Wording, worth};

    fn order(texts: &[(&str, &[&str], f64)], question: &Question<'_>) -> Vec<usize> {
        let pieces: Vec<Piece<'_>> = texts
            .iter()
            .map(|(text, defines, prior)| Piece {
                text: text.as_bytes(),
                defines,
                rest: &[],
                prior: *prior,
                product: *prior > 0.5,
                ran: None,
            })
            .collect();
        let worths = worth(&pieces, question);
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by(|a, b| worths[*b].total_cmp(&worths[*a]).then(a.cmp(b)));
        order
    }

    #[test]
    fn words_of_the_evidence_and_names_of_the_body_lead() {
        let texts: &[(&str, &[&str], f64)] = &[
            (
                "def test_total(): assert basket_total(3) == 4",
                &["test_total"],
                0.1,
            ),
            ("def unrelated(): open_socket()", &["unrelated"], 1.0),
            (
                "def basket_total(n): return rounded_sum(n)",
                &["basket_total"],
                1.0,
            ),
            ("def rounded_sum(n): return n", &["rounded_sum"], 1.0),
            ("def close_socket(): open_socket()", &["close_socket"], 1.0),
        ];
        let question = Question {
            wording: Wording::Log(b"assert basket_total(3) == 4"),
            seeds: &[(0, 1.0)],
        };
        let found = order(texts, &question);
        assert_eq!(found[..2], [2, 3], "{found:?}");
        let socket = Question {
            wording: Wording::Log(b"OSError in open_socket"),
            seeds: &[],
        };
        let found = order(texts, &socket);
        assert!(
            found[..2].contains(&1) && found[..2].contains(&4),
            "{found:?}"
        );
        let last = order(&[("a_word", &[], 0.1), ("a_word", &[], 1.0)], &question);
        assert_eq!(last.len(), 2);
        assert!(worth(&[], &socket).is_empty());
    }
}
