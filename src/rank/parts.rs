//! Ranks the functions and methods within files.

use std::collections::BTreeMap;

use super::question::Question;
use super::terms::{ByTerm, identifiers, is_common, log2_1p, parts, term_id};
use super::units::{Lines, Unit, units};
use crate::languages::{Language, Outline};
use crate::model::{RepoPath, Traced};
use crate::parallel;

/// A file whose parts are scored.
pub struct PartFile<'a> {
    /// Where it is.
    pub path: &'a RepoPath,
    /// Its text, as a packet would show it.
    pub text: &'a str,
    /// Its definitions.
    pub outline: &'a Outline,
    /// 1-based lines that the failure points at.
    pub lines: &'a [u32],
    /// Its definitions that are failing tests.
    pub failing: &'a [usize],
    /// Whether a repair may have to change it.
    pub is_product: bool,
}

/// Where nothing speaks for any part, what speaks for the file decides.
const LEAST: f64 = 1e-9;
const K1: f64 = 1.2;

/// Scores the parts of files against a question: by file, its units in order.
pub fn score_parts(
    files: &[PartFile<'_>],
    question: &Question,
    rarity: &[f64],
    traced: Option<&Traced>,
) -> Vec<Vec<(Unit, f64)>> {
    let pieces = cut_files(files);
    let definers = find_definers(&pieces, files);
    let words = parallel::map(&pieces, |piece| {
        Words::count(piece.text, question, &definers)
    });
    let shared = shared_words(&words, question, rarity);
    let reached = walk_definitions(&pieces, &words, &definers);
    let highest = |scores: &[f64]| {
        let product = scores.iter().zip(&pieces).filter(|(_, piece)| files[piece.file].is_product);
        product.map(|(score, _)| *score).fold(LEAST, f64::max)
    };
    let most = [highest(&shared), highest(&reached)];
    let mut units: Vec<Vec<(Unit, f64)>> = files.iter().map(|_| Vec::new()).collect();
    for (at, piece) in pieces.into_iter().enumerate() {
        let file = &files[piece.file];
        // Weight of lines that the failure points at.
        let pointed = if piece.is_pointed { 0.3 } else { 0.0 };
        // Weight of the walk along names beside words shared with the question.
        let mut score = LEAST + shared[at] / most[0] + 0.7 * reached[at] / most[1] + pointed;
        score = match traced.and_then(|traced| ran_in_failing(traced, file.path, &piece.unit)) {
            None => score,
            // What is left of a part that the failing tests do not run.
            Some(ran) if ran <= 0.0 => 0.7 * score,
            // Weight of a part that the failing tests run and passing tests do not.
            Some(ran) => score + 0.7 * ran * ran,
        };
        if !file.is_product {
            // Tests are shown to be read; a repair does not change them.
            score *= 0.1;
        }
        units[piece.file].push((piece.unit, score));
    }
    units
}

/// Returns how much a part is of only the failing tests; `None` where that is not known. A file
/// that was not loaded, where others of its language were, did not run.
fn ran_in_failing(traced: &Traced, path: &RepoPath, unit: &Unit) -> Option<f64> {
    let language = Language::of_path(path.as_str())?;
    let is_same = |other: &RepoPath| Language::of_path(other.as_str()) == Some(language);
    let is_loaded = traced.files.contains_key(path);
    if !is_loaded && unit.definition.is_some() && traced.files.keys().any(is_same) {
        return Some(0.0);
    }
    traced.score(path, unit.lines)
}

struct Piece<'a> {
    file: usize,
    unit: Unit,
    text: &'a str,
    // Names of the definitions that begin in it.
    names: Vec<&'a str>,
    is_pointed: bool,
    // How much it fails: bodies of failing tests, and lines that the log points at.
    seed: f64,
}

fn cut_files<'a>(files: &[PartFile<'a>]) -> Vec<Piece<'a>> {
    let tests: usize = files.iter().map(|file| file.failing.len()).sum();
    let each_test = 1.0 / (tests.max(1) as f64).sqrt();
    let mut pieces = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let lines = Lines::new(file.text);
        let outline: &'a Outline = file.outline;
        for unit in units(outline, lines.count()) {
            let [from, to] = unit.lines;
            let touches = |lines: [u32; 2]| from <= lines[1] && lines[0] <= to;
            let definitions = &outline.definitions;
            let inside = definitions.iter().filter(|definition| {
                touches([definition.signature_end.min(definition.lines[1]); 2])
            });
            let is_test = file.failing.iter().any(|at| touches(definitions[*at].lines));
            let is_pointed = file.lines.iter().any(|line| touches([*line; 2]));
            pieces.push(Piece {
                file: number,
                text: lines.cut([from, to]),
                names: inside.map(|definition| definition.name.as_str()).collect(),
                is_pointed,
                seed: if is_test { each_test } else { 0.0 } + if is_pointed { 1.0 } else { 0.0 },
                unit,
            });
        }
    }
    pieces
}

type Definers = ByTerm<Vec<usize>>;

fn find_definers(pieces: &[Piece<'_>], files: &[PartFile<'_>]) -> Definers {
    let mut definers = Definers::default();
    for (at, piece) in pieces.iter().enumerate() {
        if !files[piece.file].is_product {
            continue;
        }
        for name in &piece.names {
            let short = name.rsplit('.').next().unwrap_or(name).as_bytes();
            if is_common(short) {
                continue;
            }
            let rows = definers.entry(term_id(short)).or_default();
            if rows.last() != Some(&at) {
                rows.push(at);
            }
        }
    }
    definers
}

/// What a part holds of the question's terms and of the names that other parts define.
#[derive(Default)]
struct Words {
    length: f64,
    terms: BTreeMap<u32, f64>,
    uses: BTreeMap<u64, f64>,
}

impl Words {
    fn count(text: &str, question: &Question, definers: &Definers) -> Self {
        let mut words = Self::default();
        identifiers(text.as_bytes(), |word, id| {
            if is_common(word) {
                return;
            }
            words.length += 1.0;
            if definers.contains_key(&id) {
                *words.uses.entry(id).or_default() += 1.0;
            }
            if let Some(term) = question.number(id) {
                *words.terms.entry(term).or_default() += 1.0;
            }
            parts(word, |id| {
                if let Some(term) = question.number(id) {
                    *words.terms.entry(term).or_default() += question.part;
                }
            });
        });
        words
    }
}

/// Returns BM25 of the parts.
fn shared_words(words: &[Words], question: &Question, rarity: &[f64]) -> Vec<f64> {
    let total: f64 = words.iter().map(|piece| piece.length).sum();
    let average = (total / words.len().max(1) as f64).max(1.0);
    let scores = words.iter().map(|piece| {
        let norm = K1 * (1.0 - question.length + question.length * piece.length / average);
        let term_scores = piece.terms.iter().map(|(term, count)| {
            let term = *term as usize;
            let rarity = rarity.get(term).copied().unwrap_or(0.0);
            rarity * log2_1p(question.weights[term]) * count * (K1 + 1.0) / (count + norm)
        });
        term_scores.sum()
    });
    scores.collect()
}

/// How often weight is handed on along names, and how much of it.
const STEPS: usize = 4;
const HANDED_ON: f64 = 0.6;

/// Walks from what fails along the names that it uses to the parts that define them.
fn walk_definitions(pieces: &[Piece<'_>], words: &[Words], definers: &Definers) -> Vec<f64> {
    let mut users: ByTerm<f64> = ByTerm::default();
    for id in words.iter().flat_map(|piece| piece.uses.keys()) {
        *users.entry(*id).or_default() += 1.0;
    }
    let all = pieces.len() as f64;
    let seeds = pieces.iter().enumerate().filter(|(_, piece)| piece.seed > 0.0);
    let mut wave: BTreeMap<usize, f64> = seeds.map(|(at, piece)| (at, piece.seed)).collect();
    let mut total = vec![0.0; pieces.len()];
    for _ in 0..STEPS {
        let mut next: BTreeMap<usize, f64> = BTreeMap::new();
        for (from, weight) in &wave {
            total[*from] += weight;
            let mut edges: BTreeMap<usize, f64> = BTreeMap::new();
            for (id, count) in &words[*from].uses {
                // A name that more pieces define leads nowhere.
                let rows = definers.get(id).filter(|rows| rows.len() <= 12);
                let used = users.get(id).copied().unwrap_or(1.0);
                let value = log2_1p(*count) * log2_1p(all / used);
                for to in rows.into_iter().flatten().filter(|to| *to != from) {
                    *edges.entry(*to).or_default() += value / definers[id].len() as f64;
                }
            }
            let sum: f64 = edges.values().sum();
            for (to, value) in edges {
                *next.entry(to).or_default() += HANDED_ON * weight * value / sum;
            }
        }
        wave = next;
    }
    // Few parts get nearly all of the weight. The root is taken, so that the others separate too.
    total.iter().map(|weight: &f64| weight.sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::{PartFile, score_parts};
    use crate::languages::outline;
    use crate::model::RepoPath;
    use crate::rank::Question;

    #[test]
    fn words_of_the_log_and_names_of_the_body_lead() {
        let test = "def test_total():\n    assert basket_total(3) == 4\n    assert True\n";
        let code = "def unrelated():\n    open_socket()\n    return 1\n\n\n\
                    def basket_total(n):\n    a = 1\n    return rounded_sum(n)\n\n\n\
                    def rounded_sum(n):\n    a = 1\n    return n\n";
        let paths = ["tests/test_a.py", "src/a.py"].map(|path| RepoPath::new(path).unwrap());
        let outlines = [
            outline(&paths[0], test.as_bytes()),
            outline(&paths[1], code.as_bytes()),
        ];
        let file = |at: usize, text, failing| PartFile {
            text,
            outline: &outlines[at],
            lines: &[],
            failing,
            is_product: at == 1,
            path: &paths[at],
        };
        let files = [file(0, test, &[0]), file(1, code, &[])];
        let question = Question::from_log(
            "assert basket_total(3) == 4",
            &[(test.to_owned(), 1.0)],
            &[],
        );
        let rarity = vec![1.0; question.weights.len()];
        let scores = score_parts(&files, &question, &rarity, None);
        let mut parts: Vec<(u32, f64)> =
            scores[1].iter().map(|(unit, score)| (unit.lines[0], *score)).collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let lines: Vec<u32> = parts.iter().map(|part| part.0).collect();
        assert_eq!(lines[..2], [6, 11], "{parts:?}");
        assert!(score_parts(&[], &question, &[], None).is_empty());
    }
}
