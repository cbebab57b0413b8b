use std::collections::BTreeMap;

use rayon::prelude::*;

use super::fuse::{MAX_BYTES, Ranked};
use super::outlines::known_outline;
use super::people::{Zone, zones};
use super::pool::Pool;
use super::query::{Query, is_common};
use super::scan::{FileTerms, add_path, scan};
use super::signals::{Commit, Scores, bm25_by, log2_1p, rarities, recency};
use super::terms::{ByTerm, TermId, identifiers, part_words, term_id};
use super::units::units;
use super::worth::{Terms, Words, shared_words};
use crate::languages::Outline;
use crate::model::RepoPath;
use crate::source::Source;
use crate::state::Store;

/// What the text of an issue or a task asks for: its words, the names in it, the files and the frames.
pub struct Issue {
    query: Query,
    // By term: how much it is asked for, and how much as a name.
    weights: Vec<f64>,
    named: Vec<f64>,
    paths: Vec<String>,
    frames: Vec<Frame>,
}

struct Frame {
    path: String,
    line: u32,
    function: String,
}

/// What files are ranked by beside the issue itself.
pub struct IssueInput<'a> {
    /// History, newest first; empty when there is none.
    pub commits: &'a [Commit],
    /// The words of files, as far as they are known.
    pub words: &'a Store,
    /// Their outlines.
    pub outlines: &'a Store,
    /// Whether a file may be read at all.
    pub may_read: &'a (dyn Fn(&RepoPath) -> bool + Sync),
}

/// Files in order, and how rare in all of them the words of the issue are.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    /// The files, best first.
    pub files: Vec<Ranked>,
    /// The rarity of the terms of the issue.
    pub rarity: Rarity,
}

/// How rare the terms of a question are, by their numbers.
#[derive(Debug, Clone, Default)]
pub struct Rarity(pub(super) ByTerm<f64>);

/// Bytes of a text that are read.
const MOST_TEXT: usize = 256 << 10;
/// Files whose parts are looked at: the best by their words as a whole.
const LOOKED_INTO: usize = 60;
/// Frames of a traceback that count: the innermost.
const MAX_FRAMES: usize = 8;

impl Issue {
    /// Reads a text that a person wrote; of more than 256 KiB the start, four times what hosts of issues take.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let text = text
            .get(..text.floor_char_boundary(MOST_TEXT))
            .unwrap_or(text);
        let mut words = Asking::default();
        let mut issue = Self {
            query: Query::of_groups(std::iter::empty(), 0),
            weights: Vec::new(),
            named: Vec::new(),
            paths: Vec::new(),
            frames: Vec::new(),
        };
        for (zone, line) in zones(text) {
            if let Zone::Trace = zone {
                issue.frames.extend(frame(line));
                continue;
            }
            for (at, quoted) in line.split('`').enumerate() {
                let is_code = zone == Zone::Code || at % 2 == 1;
                words.add(quoted, zone, is_code);
                issue.paths.extend(paths(quoted));
            }
        }
        let innermost = issue.frames.len().saturating_sub(MAX_FRAMES);
        issue.frames.drain(..innermost);
        let groups = (0_u32..).zip(words.terms.keys());
        let ids = groups.flat_map(|(number, word)| forms(word).map(move |id| (id, number)));
        issue.query = Query::of_groups(ids.collect::<Vec<_>>().into_iter(), words.terms.len());
        (issue.weights, issue.named) = words.terms.into_values().unzip();
        issue
    }

    /// What parts are weighed against.
    pub(super) fn asks<'a>(&'a self, rarity: &'a Rarity) -> Terms<'a> {
        let numbers = (0..).zip(&self.weights);
        Terms {
            weights: numbers.map(|(number, weight)| (number, *weight)).collect(),
            key: Box::new(|id| self.query.number(id).map(u64::from)),
            rarity: Some(rarity),
            part: 1.0,
            length: 1.0,
        }
    }
}

// Words by how they are grouped, with how much each is asked for, and how much as a name.
#[derive(Default)]
struct Asking {
    terms: BTreeMap<Vec<u8>, (f64, f64)>,
}

impl Asking {
    fn add(&mut self, text: &str, zone: Zone, is_code: bool) {
        let weight = match (zone, is_code) {
            (Zone::Title, _) => OF_TITLE,
            (Zone::Code, _) => OF_CODE,
            (_, true) => OF_QUOTED,
            (_, false) => 1.0,
        };
        identifiers(text.as_bytes(), |word| {
            if is_common(word.word) {
                return;
            }
            let parts: Vec<&[u8]> = part_words(word.word).collect();
            let telling = is_telling(word.word);
            let after = word.word.as_ptr_range().end as usize - text.as_ptr() as usize;
            let called = text.as_bytes().get(after) == Some(&b'(');
            let as_name = match (telling, is_code) {
                (true, _) => 1.0,
                (_, true) if zone != Zone::Code => 1.0,
                (_, true) if called => 0.8,
                (_, true) => 0.3,
                (_, false) => 0.05,
            };
            let whole = if parts.is_empty() {
                stem(word.word)
            } else {
                word.word
            };
            self.put(whole, weight, weight * as_name);
            for part in parts {
                self.put(stem(part), weight, 0.0);
            }
        });
    }

    fn put(&mut self, word: &[u8], weight: f64, named: f64) {
        let term = self.terms.entry(word.to_ascii_lowercase()).or_default();
        term.0 += weight;
        term.1 += named;
    }
}

/// What a word of the title, of code between backquotes and of a block of code weighs beside one of a sentence.
const OF_TITLE: f64 = 4.0;
const OF_QUOTED: f64 = 1.5;
const OF_CODE: f64 = 0.35;

// Whether a word is one of code wherever it stands: `split_text`, `splitText`, `Table2`.
fn is_telling(word: &[u8]) -> bool {
    let inner = word.get(..word.len() - 1).unwrap_or_default();
    let is_camel = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    inner.contains(&b'_') || word.windows(2).any(is_camel) || word.iter().any(u8::is_ascii_digit)
}

const ENDINGS: [(&[u8], usize); 5] = [(b"ing", 6), (b"ed", 5), (b"es", 5), (b"s", 4), (b"e", 5)];

// A word without the ending that says number or time.
fn stem(word: &[u8]) -> &[u8] {
    let ends = |(ending, least): &(&[u8], usize)| {
        let cut = word.len().checked_sub(ending.len())?;
        let (head, tail) = word.split_at(cut);
        (word.len() >= *least && tail.eq_ignore_ascii_case(ending)).then_some(head)
    };
    let found = ENDINGS.iter().find_map(ends);
    found.filter(|_| !word.ends_with(b"ss")).unwrap_or(word)
}

// The words that have a stem.
fn forms(group: &[u8]) -> impl Iterator<Item = TermId> {
    let is_compound = part_words(group).next().is_some();
    let endings = ENDINGS.into_iter().filter(move |_| !is_compound);
    let with = endings.filter_map(move |(ending, _)| {
        let form = [group, ending].concat();
        (stem(&form) == group).then(|| term_id(&form))
    });
    std::iter::once(term_id(group)).chain(with.collect::<Vec<_>>())
}

// `File "/a/b.py", line 3, in f`, `at f (/a/b.js:1:2)`.
fn frame(line: &str) -> Option<Frame> {
    let line = line.trim();
    let number = |text: &str| {
        let digits = text.split(|it: char| !it.is_ascii_digit()).next();
        digits.and_then(|it| it.parse().ok())
    };
    if let Some((path, rest)) =
        (line.strip_prefix("File \"")).and_then(|it| it.split_once("\", line "))
    {
        return Some(Frame {
            path: path.replace('\\', "/"),
            line: number(rest)?,
            function: rest
                .split_once(", in ")
                .map_or("", |it| it.1)
                .trim()
                .to_owned(),
        });
    }
    let (function, place) = line
        .strip_prefix("at ")?
        .rsplit_once(' ')
        .unwrap_or(("", line));
    let place = place.trim_matches(['(', ')']).trim_start_matches("file://");
    let mut parts = place.rsplitn(3, ':');
    let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Frame {
        path: path.replace('\\', "/"),
        line: number(line)?,
        function: function.rsplit('.').next().unwrap_or_default().to_owned(),
    })
}

fn paths(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|it: char| !(it.is_alphanumeric() || "_./-$@".contains(it)));
    let words = words.map(|it| it.trim_matches(['.', '/', '-']));
    words
        .filter(|it| crate::languages::Language::of_path(it).is_some())
        .map(str::to_owned)
}

// Whether the longer path ends with the shorter one.
fn is_end(longer: &str, shorter: &str) -> bool {
    let above = longer.strip_suffix(shorter);
    above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

fn is_frame_of(path: &RepoPath, frame: &Frame) -> bool {
    let own = path.as_str();
    let installed = own
        .split_once('/')
        .filter(|it| matches!(it.0, "src" | "lib"));
    is_end(&frame.path, installed.map_or(own, |it| it.1))
}

/// What speaks for a file, and what it weighs.
const SIGNALS: [(&str, f64); 7] = [
    ("issueTerms", 1.0),
    ("issuePart", 0.5),
    ("issueDefinitions", 0.3),
    ("issuePath", 1.0),
    ("issueFrames", 0.5),
    ("issueName", 0.6),
    ("recency", 0.15),
];

fn reason(signal: &str) -> &'static str {
    match signal {
        "issueTerms" => "shares rare words with the issue",
        "issuePart" => "a part of it shares many of them",
        "issueDefinitions" => "defines names that the issue holds",
        "issuePath" => "the issue names it",
        "issueFrames" => "a traceback in the issue leads there",
        "issueName" => "is named like what the issue is about",
        _ => "changed often of late",
    }
}

/// Ranks every source file that may have to change for an issue, best first, ties by path.
#[must_use]
pub fn rank_issue(source: &dyn Source, issue: &Issue, input: &IssueInput<'_>) -> Ranking {
    let candidates = Pool::new(&[], source.listing());
    let files = source.listing().files();
    let pool: Vec<RepoPath> = files
        .filter(|it| it.bytes <= MAX_BYTES && candidates.standing(&it.path).is_some())
        .map(|it| it.path.clone())
        .filter(input.may_read)
        .collect();
    tracing::debug!(candidates = pool.len(), "ranking files for an issue");
    let query = &issue.query;
    let read = |path| scan(query, source, path, input.words);
    let terms: Vec<FileTerms> = pool.par_iter().map(read).collect();
    let rarity = rarities(query, &terms);
    let mut signals: [Scores; SIGNALS.len()] = [
        bm25_by(&issue.weights, &rarity, &terms),
        vec![0.0; pool.len()],
        defined(issue, &terms),
        named(issue, &pool),
        pointed(issue, &pool),
        path_words(issue, &pool),
        recency(&pool, input.commits)
            .iter()
            .map(|it| it.sqrt())
            .collect(),
    ];
    for (scores, (name, _)) in signals.iter_mut().zip(SIGNALS) {
        if !matches!(name, "issuePath" | "issueFrames") {
            normalise(scores);
        }
    }
    let numbers = (0..).zip(&rarity);
    let rarity = Rarity(numbers.map(|(number, it)| (number, *it)).collect());
    let mut best = order(&pool, &signals);
    best.truncate(LOOKED_INTO);
    let mut parts = best_parts(source, issue, (&pool, &best), &rarity, input.outlines);
    normalise(&mut parts.0);
    for (at, score) in best.iter().zip(parts.0) {
        signals[1][*at] = score;
    }
    let mut lines: BTreeMap<usize, Vec<u32>> = best.into_iter().zip(parts.1).collect();
    let files = order(&pool, &signals).into_iter().map(|at| {
        let named = lines.remove(&at).unwrap_or_default();
        ranked(&pool[at], at, &signals, named)
    });
    Ranking {
        files: files.collect(),
        rarity,
    }
}

fn normalise(scores: &mut Scores) {
    let most = scores.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        for score in scores {
            *score /= most;
        }
    }
}

fn total(at: usize, signals: &[Scores]) -> f64 {
    let weighed = signals.iter().zip(SIGNALS);
    weighed
        .map(|(scores, (_, weight))| weight * scores[at])
        .sum()
}

fn order(pool: &[RepoPath], signals: &[Scores]) -> Vec<usize> {
    let totals: Vec<f64> = (0..pool.len()).map(|at| total(at, signals)).collect();
    let mut order: Vec<usize> = (0..pool.len()).collect();
    order.sort_by(|a, b| {
        totals[*b]
            .total_cmp(&totals[*a])
            .then_with(|| pool[*a].cmp(&pool[*b]))
    });
    order
}

/// A score of 1 in numbers.
const SCALE: f64 = 100_000.0;

#[expect(clippy::cast_sign_loss, reason = "no score is below 0")]
fn scaled(score: f64) -> u64 {
    (SCALE * score) as u64
}

fn ranked(path: &RepoPath, at: usize, signals: &[Scores], lines: Vec<u32>) -> Ranked {
    let mut parts: Vec<(u64, &str)> = signals
        .iter()
        .zip(SIGNALS)
        .map(|(scores, (name, weight))| (scaled(weight * scores[at]), name))
        .filter(|it| it.0 > 0)
        .collect();
    parts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let reasons: Vec<&str> = parts.iter().take(2).map(|it| reason(it.1)).collect();
    Ranked {
        path: path.clone(),
        score: parts.iter().map(|it| it.0).sum(),
        scores: parts.iter().map(|it| (it.1.to_owned(), it.0)).collect(),
        why: match &reasons[..] {
            [] => "nothing speaks for it but being source code".to_owned(),
            reasons => reasons.join("; "),
        },
        lines,
    }
}

// Names of the issue that a file defines; one that many files define counts less.
fn defined(issue: &Issue, files: &[FileTerms]) -> Scores {
    let mut definers = vec![0.0_f64; issue.named.len()];
    for number in files.iter().flat_map(|it| &it.defines) {
        definers[*number as usize] += 1.0;
    }
    let of = |number: &u32| {
        let at = *number as usize;
        log2_1p(issue.named[at]) / definers[at].max(1.0).sqrt()
    };
    files
        .iter()
        .map(|it| it.defines.iter().map(of).sum())
        .collect()
}

fn named(issue: &Issue, pool: &[RepoPath]) -> Scores {
    let mut scores = vec![0.0_f64; pool.len()];
    for named in &issue.paths {
        let is_it = |path: &RepoPath| {
            is_end(path.as_str(), named) || named.contains('/') && is_end(named, path.as_str())
        };
        let found: Vec<usize> = (0..pool.len()).filter(|at| is_it(&pool[*at])).collect();
        for at in &found {
            scores[*at] = (scores[*at] + 1.0 / found.len() as f64).min(1.0);
        }
    }
    scores
}

// The innermost frame says most.
fn pointed(issue: &Issue, pool: &[RepoPath]) -> Scores {
    let all = issue.frames.len() as f64;
    let score = |path: &RepoPath| {
        let own = issue.frames.iter().rposition(|it| is_frame_of(path, it));
        own.map_or(0.0, |at| {
            let depth = (at as f64 + 1.0) / all;
            depth * depth
        })
    };
    pool.iter().map(score).collect()
}

fn path_words(issue: &Issue, pool: &[RepoPath]) -> Scores {
    let words = |path| {
        let mut terms = FileTerms::default();
        add_path(&mut terms, &issue.query, path);
        terms
    };
    let words: Vec<FileTerms> = pool.iter().map(words).collect();
    let rarity = rarities(&issue.query, &words);
    let weight = |(number, _): &(u32, u32)| {
        rarity[*number as usize] * log2_1p(issue.weights[*number as usize])
    };
    words
        .iter()
        .map(|it| it.counts.iter().map(weight).sum())
        .collect()
}

// What the best part of each file shares with the issue, and the lines that its frames lead to.
fn best_parts(
    source: &dyn Source,
    issue: &Issue,
    (pool, best): (&[RepoPath], &[usize]),
    rarity: &Rarity,
    outlines: &Store,
) -> (Scores, Vec<Vec<u32>>) {
    let read: Vec<(Vec<Words>, Vec<u32>)> = best
        .par_iter()
        .map(|at| {
            let path = &pool[*at];
            let bytes = source.read(path).unwrap_or_default();
            let outline = known_outline(outlines, path, &bytes);
            let lines: Vec<&[u8]> = bytes.split_inclusive(|it| *it == b'\n').collect();
            let parts = units(&outline, lines.len() as u32);
            let words = parts.iter().map(|part| {
                let [from, to] = part.lines;
                Words::from_text(&lines[from as usize - 1..to as usize].concat())
            });
            (words.collect(), frame_lines(issue, path, &outline))
        })
        .collect();
    let (parts, lines): (Vec<Vec<Words>>, Vec<Vec<u32>>) = read.into_iter().unzip();
    let counts: Vec<usize> = parts.iter().map(Vec::len).collect();
    let all: Vec<Words> = parts.into_iter().flatten().collect();
    let scores = shared_words(&all, &issue.asks(rarity));
    let mut rest = &scores[..];
    let most = counts.iter().map(|count| {
        let (own, others) = rest.split_at(*count);
        rest = others;
        own.iter().copied().fold(0.0, f64::max)
    });
    (most.collect(), lines)
}

// A frame names its function; the line may be one of another version.
fn frame_lines(issue: &Issue, path: &RepoPath, outline: &Outline) -> Vec<u32> {
    let frames = issue.frames.iter().rev().filter(|it| is_frame_of(path, it));
    let line = |frame: &Frame| {
        let named = outline
            .definitions
            .iter()
            .filter(|it| it.name == frame.function);
        let named: Vec<[u32; 2]> = named.map(|it| it.lines).collect();
        let inside = named
            .iter()
            .any(|[from, to]| (*from..=*to).contains(&frame.line));
        match named.first() {
            Some([from, _]) if !inside => *from,
            _ => frame.line,
        }
    };
    let mut lines: Vec<u32> = frames.map(line).collect();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::{Issue, IssueInput, forms, frame, rank_issue, stem};
    use crate::model::RepoPath;
    use crate::rank::terms::term_id;
    use crate::source::Memory;
    use crate::state::Store;

    fn order(text: &str, files: &[(&str, &str)]) -> Vec<String> {
        let source = Memory::named(files.iter().copied());
        let input = IssueInput {
            commits: &[],
            words: &Store::nothing(),
            outlines: &Store::nothing(),
            may_read: &|_: &RepoPath| true,
        };
        let ranking = rank_issue(&source, &Issue::read(text), &input);
        ranking.files.iter().map(|it| it.path.to_string()).collect()
    }

    const FILES: [(&str, &str); 4] = [
        ("src/a_first.py", "def other():\n    return 1\n"),
        (
            "src/basket.py",
            "def total(items):\n    '''Sums prices of items.'''\n    return sum(items)\n",
        ),
        (
            "src/rounding.py",
            "def round_money(amount):\n    return amount\n",
        ),
        (
            "tests/test_basket.py",
            "def test_total():\n    total([1])\n",
        ),
    ];

    #[test]
    fn names_words_paths_and_frames_lead() {
        let first = |text: &str| order(text, &FILES).remove(0);
        assert_eq!(first("round_money drops cents"), "src/rounding.py");
        assert_eq!(
            first("Summing the price of an item is wrong"),
            "src/basket.py"
        );
        assert_eq!(first("Wrong\n\nSee `a_first.py`, please"), "src/a_first.py");
        let trace = "Broken\n\nTraceback (most recent call last):\n  File \"/x/site-packages/rounding.py\", line 9, in round_money\nValueError\n";
        assert_eq!(first(trace), "src/rounding.py");
        assert_eq!(order(trace, &FILES).len(), 3, "tests are no candidates");
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        assert_eq!(stem(b"splitting"), b"splitt");
        for (word, stemmed) in [("prices", "pric"), ("summed", "summ"), ("class", "class")] {
            assert_eq!(stem(word.as_bytes()), stemmed.as_bytes());
        }
        let price: Vec<u64> = forms(b"pric").collect();
        assert!(price.contains(&term_id(b"prices")) && price.contains(&term_id(b"price")));
        assert_eq!(forms(b"round_money").count(), 1);
    }

    #[test]
    fn frames_of_both_languages_are_read() {
        let found = frame("    at Cart.total (file:///srv/app/src/cart.ts:12:9)").unwrap();
        assert_eq!(
            (found.path.as_str(), found.line, found.function.as_str()),
            ("/srv/app/src/cart.ts", 12, "total")
        );
        assert!(frame("at noon the job dies").is_none() && frame("").is_none());
    }
}
