//! Ranks files by their evidence.

use std::cmp::Reverse;

use foldhash::{HashMap, HashSet};

use super::index::{FileTerms, scan_files};
use super::pool::{Pool, ProjectPart, vendored_package};
use super::question::Question;
use super::terms::{exp2_minus, identifiers, log2_1p, parts};
use super::weights::{Evidence, SIGNALS};
use crate::model::RepoPath;
use crate::source::Source;

/// Evidence beside the words of the files.
pub struct FileInput<'a> {
    /// The files the failure is about.
    pub targets: &'a [RepoPath],
    /// Files that the log names, most telling first.
    pub mentioned: &'a [RepoPath],
    /// Imports between a target and each file that it reaches.
    pub hops: &'a [(RepoPath, u32)],
    /// Paths that each commit changed, newest first.
    pub commits: &'a [Vec<RepoPath>],
    /// Files of the change under test.
    pub changed: &'a [RepoPath],
    /// Files that failing tests run, with how much of that is theirs alone.
    pub ran: &'a [(RepoPath, f64)],
    /// Whether a file may be read at all.
    pub may_read: &'a (dyn Fn(&RepoPath) -> bool + Sync),
}

/// A file with the evidence for it.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedFile {
    /// Where it is.
    pub path: RepoPath,
    /// What speaks for it.
    pub evidence: Evidence,
    /// What its score is multiplied with: less in an example.
    pub factor: f64,
}

impl RankedFile {
    /// Returns the score.
    pub fn score(&self) -> f64 {
        self.factor * self.evidence.total()
    }
}

/// The files with evidence, best first, and how rare each term of the question is.
#[derive(Debug, Clone, Default)]
pub struct FileEvidence {
    /// Files for which something speaks.
    pub files: Vec<RankedFile>,
    /// By term of the question.
    pub rarity: Vec<f64>,
}

/// An example that holds a target, or a copy of another project, is rarely what must change.
const SET_APART: f64 = 0.5;
/// How much less each further file that a log names is believed.
const NEXT_MENTION: f64 = 0.85;
const K1: f64 = 1.2;
const LENGTH_OF_FILE: f64 = 0.75;

/// Scores every source file that a repair may have to change, best first, ties by path. A file
/// for which nothing speaks is left out.
pub fn rank_files(source: &dyn Source, question: &Question, input: &FileInput<'_>) -> FileEvidence {
    let pool = Pool::new(input.targets, source.listing());
    // Files above this size are generated or data; their words would drown the others.
    let (paths, standings): (Vec<RepoPath>, Vec<ProjectPart>) = source
        .listing()
        .files()
        .filter(|entry| entry.bytes <= 1_000_000)
        .filter_map(|entry| Some((entry.path.clone(), pool.standing(&entry.path)?)))
        .filter(|(path, _)| (input.may_read)(path))
        .unzip();
    let terms = scan_files(question, source, &paths);
    let rarity = term_rarities(question.weights.len(), &terms);
    let signals = score_signals(question, input, &paths, &terms, &rarity);
    let scored = paths.into_iter().enumerate().map(|(at, path)| RankedFile {
        path,
        evidence: Evidence(signals.each_ref().map(|values| values[at])),
        factor: match standings[at] {
            ProjectPart::SetApart => SET_APART,
            ProjectPart::Product => 1.0,
        },
    });
    let mut files: Vec<RankedFile> = scored.filter(|file| file.score() > 0.0).collect();
    sort_by_score(&mut files);
    let is_about = |package: &str| {
        let mut targets = input.targets.iter();
        targets.any(|target| target.as_str().starts_with(package))
    };
    // Files at the top for which is asked whether they are a copy of another project's: a packet shows no more.
    for file in files.iter_mut().take(40) {
        let package = vendored_package(source, &file.path);
        if package.is_some_and(|package| !is_about(package)) {
            file.factor *= SET_APART;
        }
    }
    sort_by_score(&mut files);
    FileEvidence { files, rarity }
}

fn sort_by_score(files: &mut [RankedFile]) {
    // Bits of positive numbers are in their order.
    files.sort_by_cached_key(|file| (Reverse(file.score().to_bits()), file.path.clone()));
}

// By signal, in the order of the table.
fn score_signals(
    question: &Question,
    input: &FileInput<'_>,
    paths: &[RepoPath],
    terms: &[FileTerms],
    rarity: &[f64],
) -> [Vec<f64>; SIGNALS.len()] {
    let look_up = |values: HashMap<&RepoPath, f64>| {
        let values = paths.iter().map(|path| values.get(path).copied().unwrap_or(0.0));
        values.collect::<Vec<f64>>()
    };
    let imported = input.hops.iter().filter(|(_, hops)| *hops > 0);
    let imported = imported.map(|(path, hops)| (path, 1.0 / f64::from(*hops)));
    [
        normalize_scores(words_scores(question, rarity, terms)),
        normalize_scores(definition_scores(question, terms)),
        mention_scores(question, paths, input.mentioned),
        normalize_scores(name_scores(question, paths)),
        look_up(imported.collect()),
        look_up(input.changed.iter().map(|path| (path, 1.0)).collect()),
        look_up(input.ran.iter().map(|(path, ran)| (path, *ran)).collect()),
        normalize_scores(history_scores(question, paths, input)),
    ]
}

fn normalize_scores(mut scores: Vec<f64>) -> Vec<f64> {
    let highest = scores.iter().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        scores.iter_mut().for_each(|score| *score /= highest);
    }
    scores
}

/// Returns log2(1 + (N - n + 0.5) / (n + 0.5)) for each term that n of N files hold.
fn term_rarities(terms: usize, files: &[FileTerms]) -> Vec<f64> {
    let mut holders = vec![0.0; terms];
    for (term, _) in files.iter().flat_map(|file| &file.counts) {
        if let Some(holders) = holders.get_mut(*term as usize) {
            *holders += 1.0;
        }
    }
    let all = files.len() as f64;
    holders
        .into_iter()
        .map(|held| log2_1p((all - held + 0.5) / (held + 0.5)))
        .collect()
}

fn words_scores(question: &Question, rarity: &[f64], files: &[FileTerms]) -> Vec<f64> {
    let total: f64 = files.iter().map(|file| f64::from(file.length)).sum();
    let average = (total / files.len().max(1) as f64).max(1.0);
    let scores = files.iter().map(|file| {
        let norm = K1 * (1.0 - LENGTH_OF_FILE + LENGTH_OF_FILE * f64::from(file.length) / average);
        let term_scores = file.counts.iter().map(|(term, count)| {
            let (term, count) = (*term as usize, f64::from(*count));
            rarity[term] * log2_1p(question.weights[term]) * count * (K1 + 1.0) / (count + norm)
        });
        term_scores.sum()
    });
    scores.collect()
}

/// Scores files that define what the question names; a name that many files define counts little.
fn definition_scores(question: &Question, files: &[FileTerms]) -> Vec<f64> {
    let mut definers = vec![0.0_f64; question.names.len()];
    for term in files.iter().flat_map(|file| &file.defines) {
        definers[*term as usize] += 1.0;
    }
    let score = |term: &u32| log2_1p(question.names[*term as usize]) / definers[*term as usize];
    files.iter().map(|file| file.defines.iter().map(score).sum()).collect()
}

fn mention_scores(question: &Question, paths: &[RepoPath], mentioned: &[RepoPath]) -> Vec<f64> {
    let numbers: HashMap<&RepoPath, usize> = paths.iter().zip(0..).collect();
    let mut scores = vec![0.0_f64; paths.len()];
    let mut weight = 1.0;
    for path in mentioned {
        if let Some(at) = numbers.get(path) {
            scores[*at] = scores[*at].max(weight);
            weight *= NEXT_MENTION;
        }
    }
    for named in &question.paths {
        let is_named = |path: &RepoPath| {
            ends_with_path(path.as_str(), named)
                || named.contains('/') && ends_with_path(named, path.as_str())
        };
        let found: Vec<usize> = (0..paths.len()).filter(|at| is_named(&paths[*at])).collect();
        for at in &found {
            scores[*at] = (scores[*at] + 1.0 / found.len() as f64).min(1.0);
        }
    }
    scores
}

fn ends_with_path(longer: &str, shorter: &str) -> bool {
    let above = longer.strip_suffix(shorter);
    above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// Scores the words of paths: those of the file name count twice.
fn name_scores(question: &Question, paths: &[RepoPath]) -> Vec<f64> {
    let words: Vec<Vec<(u32, f64)>> = paths.iter().map(|path| path_terms(question, path)).collect();
    let mut holders = vec![0.0; question.subjects.len()];
    for (term, _) in words.iter().flatten() {
        holders[*term as usize] += 1.0;
    }
    let all = paths.len() as f64;
    let score = |(term, weight): &(u32, f64)| {
        let held = holders[*term as usize];
        let rarity = log2_1p((all - held + 0.5) / (held + 0.5));
        rarity * weight * log2_1p(question.subjects[*term as usize])
    };
    words.iter().map(|words| words.iter().map(score).sum()).collect()
}

fn path_terms(question: &Question, path: &RepoPath) -> Vec<(u32, f64)> {
    let mut found: Vec<(u32, f64)> = Vec::new();
    let name = path.file_name();
    let stem = name.split('.').next().unwrap_or(name);
    // A word of the file's own name says more than one of its folders.
    for (text, weight) in [(stem, 2.0), (path.directory(), 1.0)] {
        let mut add = |id| {
            let term = question.number(id).filter(|term| question.subjects[*term as usize] > 0.0);
            if let Some(term) = term.filter(|term| found.iter().all(|row| row.0 != *term)) {
                found.push((term, weight));
            }
        };
        identifiers(text.as_bytes(), |word, id| {
            add(id);
            parts(word, &mut add);
        });
    }
    found
}

/// Scores files that changed with the targets, small commits more; for an issue, files that
/// changed at all, lately more.
fn history_scores(question: &Question, paths: &[RepoPath], input: &FileInput<'_>) -> Vec<f64> {
    let numbers: HashMap<&RepoPath, usize> = paths.iter().zip(0..).collect();
    let targets: HashSet<&RepoPath> = input.targets.iter().collect();
    let mut scores = vec![0.0; paths.len()];
    for (age, commit) in input.commits.iter().enumerate() {
        let shared = commit.iter().filter(|path| targets.contains(path)).count();
        let others = commit.len() - shared;
        let weight = match (question.is_issue, shared) {
            // Commits of more files say nothing of what belongs together.
            _ if commit.len() > 40 => continue,
            (true, _) => 1.0,
            (false, 0) => continue,
            (false, shared) => (shared as f64 / others.max(1) as f64).sqrt(),
        };
        // A change 300 commits ago counts half.
        let weight = weight * exp2_minus(age as f64 / 300.0);
        for at in commit.iter().filter_map(|path| numbers.get(path)) {
            scores[*at] += weight;
        }
    }
    scores.iter().map(|score: &f64| score.sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::{FileInput, rank_files};
    use crate::model::RepoPath;
    use crate::rank::Question;
    use crate::source::Memory;

    fn order(text: &str, files: &[(&str, &str)]) -> Vec<String> {
        let source = Memory::named(files.iter().copied());
        let input = FileInput {
            targets: &[],
            mentioned: &[],
            hops: &[],
            commits: &[],
            changed: &[],
            ran: &[],
            may_read: &|_: &RepoPath| true,
        };
        let found = rank_files(&source, &Question::from_issue(text), &input);
        found.files.iter().map(|file| file.path.to_string()).collect()
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
    fn names_words_and_paths_lead() {
        let first = |text: &str| order(text, &FILES).remove(0);
        assert_eq!(first("round_money drops cents"), "src/rounding.py");
        assert_eq!(
            first("Summing the price of an item is wrong"),
            "src/basket.py"
        );
        assert_eq!(first("Wrong\n\nSee `a_first.py`, please"), "src/a_first.py");
        let elsewhere = order("Broken like `no_such_name`", &FILES);
        assert!(elsewhere.is_empty(), "no evidence, no place: {elsewhere:?}");
    }
}
