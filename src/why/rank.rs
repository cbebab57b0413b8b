//! Collects the clues of a failure (log, trace, names), and orders hunks by the evidence against them, so that the first
//! trials hit.

use std::collections::{BTreeMap, BTreeSet};

use super::test_files::holds_failing_test;
use crate::graph::Graph;
use crate::languages::{Language, Outline, outline};
use crate::model::{Diagnosis, RepoPath, Traced};
use crate::policy::is_test;
use crate::source::Source;
use crate::workplace::{Difference, Hunk, What};
use crate::workspace::Workspace;

/// What a failure says of the place of its cause.
#[derive(Debug, Default)]
pub struct Clues {
    /// Files that the failing tests reach by import, with the hops; their own files are 0.
    pub reach: BTreeMap<RepoPath, u32>,
    /// Places that the output names, the innermost of the project first.
    pub places: Vec<(RepoPath, Option<u32>)>,
    /// Words of the lines that say what failed.
    pub words: BTreeSet<String>,
    /// Words in the bodies of the failing tests.
    pub names: BTreeSet<String>,
    /// What ran in the failing tests and beside them, of every file that was loaded; empty where none were seen.
    pub ran: Traced,
}

/// A hunk and what speaks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// Its place in the difference.
    pub hunk: usize,
    /// In a few words.
    pub why: String,
    /// How much that is; none below 1 is likely at all.
    pub score: i32,
}

/// The hunks from the likeliest on: what the output names, what the tests call, what they reach.
pub fn rank_suspects(difference: &Difference, clues: &Clues) -> Vec<Suspect> {
    let mut outlines: BTreeMap<&RepoPath, Outline> = BTreeMap::new();
    for hunk in difference.hunks() {
        if let Some(after) = difference.after(hunk) {
            outlines.entry(&hunk.path).or_insert_with(|| outline(&hunk.path, &after.bytes));
        }
    }
    let mut found: Vec<Suspect> = Vec::new();
    for (at, hunk) in difference.hunks().iter().enumerate() {
        let weighed = Weighed::new(difference, hunk, outlines.get(&hunk.path), clues);
        found.push(Suspect {
            hunk: at,
            why: weighed.why.join(", "),
            score: weighed.score,
        });
    }
    found.sort_by_key(|suspect| (std::cmp::Reverse(suspect.score), suspect.hunk));
    found
}

/// Lists the uncommitted changes of product code as `path:line`, the likeliest first. None was tried.
pub fn list_suspects(
    diagnosis: &Diagnosis,
    workspace: &Workspace,
    is_output: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Vec<String> {
    let source = workspace.source.as_ref();
    let Some(head) = workspace.git.as_ref().and_then(|git| git.tree("HEAD").ok()) else {
        return Vec::new();
    };
    let clues = collect_clues(diagnosis, source);
    let difference = Difference::between(&head, source, &|path| {
        let is_open = !is_new_lock_file(path, &head) && !is_output(path);
        is_open && !is_test(path.as_str()) && !holds_failing_test(path, diagnosis)
    });
    let ranked = rank_suspects(&difference, &clues);
    let hunks = ranked.iter().filter_map(|suspect| difference.hunks().get(suspect.hunk));
    hunks.map(Hunk::place).collect()
}

/// Checks whether an installer wrote a lock file that was not there before. It breaks no test: no trial installs packages.
pub(super) fn is_new_lock_file(path: &RepoPath, before: &dyn Source) -> bool {
    let mut endings = [".lock", "-lock.json", "-lock.yaml"].iter();
    endings.any(|end| path.as_str().ends_with(end))
        && before.listing().file(path.as_str()).is_none()
}

#[derive(Default)]
struct Weighed {
    score: i32,
    why: Vec<String>,
}

impl Weighed {
    fn new(difference: &Difference, hunk: &Hunk, outline: Option<&Outline>, clues: &Clues) -> Self {
        let mut weighed = Self::default();
        let places = || clues.places.iter().filter(|(path, _)| *path == hunk.path);
        let lines = match &hunk.what {
            What::Lines(_, after) => after.start..after.end + 1,
            _ => 0..usize::MAX,
        };
        let mut named = places().filter_map(|(_, line)| *line);
        let named = named.find(|line| lines.contains(&(*line as usize).saturating_sub(1)));
        if let (Some(_), Some(line)) = (hunk.line(), named) {
            weighed.add_score(8, format!("the output names line {line}"));
        } else if places().next().is_some() {
            weighed.add_score(2, "the output names the file".to_owned());
        }
        match ran_share(hunk, outline, clues) {
            Some(score) if score > 0.0 => {
                // What passing tests run as often says less.
                let more = (score * 8.0).round().clamp(0.0, 8.0) as i32;
                weighed.add_score(4 + more, "it ran in the failing tests".to_owned());
            }
            Some(_) => weighed.add_score(-8, "it did not run in the failing tests".to_owned()),
            None => {}
        }
        let around = outline.zip(hunk.line()).map_or(Vec::new(), |(outline, line)| {
            let mut at = outline.innermost(line);
            let mut names = Vec::new();
            while let Some(definition) = at.and_then(|at| outline.definitions.get(at)) {
                names.push(definition.name.clone());
                at = definition.parent;
            }
            names
        });
        if let Some(name) = around.first().filter(|word| clues.words.contains(*word)) {
            weighed.add_score(4, format!("the output names `{name}`"));
        }
        if let Some(name) = around.iter().find(|name| clues.names.contains(*name)) {
            weighed.add_score(5, format!("a failing test names `{name}`"));
        }
        // Lines of a hunk that are looked at.
        let diff = difference.diff(hunk, 200);
        let words: BTreeSet<&str> = words_of(&diff).collect();
        let printed = words.iter().filter(|word| clues.words.contains(**word));
        let named = words.iter().filter(|word| clues.names.contains(**word));
        let matches = printed.count().min(3) + named.count().min(2);
        weighed.score += i32::try_from(matches).unwrap_or(0);
        match clues.reach.get(&hunk.path) {
            Some(0) => weighed.add_score(2, "in a file of failing tests".to_owned()),
            Some(1) => weighed.add_score(3, "imported by the failing tests".to_owned()),
            Some(hops) => weighed.add_score(2, format!("{hops} imports away from the tests")),
            None => {}
        }
        if is_prose(hunk.path.as_str()) {
            weighed.score -= 6;
        }
        if changes_no_code(&diff) {
            weighed.score -= 4;
        }
        if weighed.why.is_empty() {
            weighed.why.push("changed".to_owned());
        }
        weighed
    }

    fn add_score(&mut self, score: i32, why: String) {
        self.score += score;
        self.why.push(why);
    }
}

// How much of a hunk is of the failing tests, 0 where none of it ran in them; `None` for what is in no function,
// or where nothing was seen.
fn ran_share(hunk: &Hunk, outline: Option<&Outline>, clues: &Clues) -> Option<f64> {
    let What::Lines(_, after) = &hunk.what else {
        return None;
    };
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    // For deleted lines, the lines around them.
    let mut lines = if after.is_empty() {
        number(after.start)..number(after.start + 2)
    } else {
        number(after.start + 1)..number(after.end + 1)
    };
    let Some(file) = clues.ran.files.get(&hunk.path) else {
        // It was not loaded, where others of its language were.
        let language = Language::of_path(hunk.path.as_str())?;
        let mut ran = clues.ran.files.keys().map(|path| Language::of_path(path.as_str()));
        return (ran.any(|other| other == Some(language))
            && lines.all(|line| outline.is_some_and(|outline| outline.innermost(line).is_some())))
        .then_some(0.0);
    };
    if lines.clone().any(|line| file.ran_in_failing(line)) {
        let last = lines.end.saturating_sub(1);
        return clues.ran.score(&hunk.path, [lines.start, last]);
    }
    lines.any(|line| file.idle_in_failing(line)).then_some(0.0)
}

/// Words of a text that may be names: of letters, digits and low lines, with three characters or more.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| word.len() >= 3 && !word.starts_with(|letter: char| letter.is_ascii_digit()))
}

fn is_prose(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "md" | "rst" | "txt" | "adoc") || path.starts_with(".github/")
}

// Blank lines and comments alone.
fn changes_no_code(diff: &str) -> bool {
    let mut lines = diff.lines().map(|line| line.get(1..).unwrap_or("").trim());
    lines.all(|line| line.is_empty() || line.starts_with(['#', '*']) || line.starts_with("//"))
}

/// Collects the clues of a failure about the place of its cause.
pub fn collect_clues(diagnosis: &Diagnosis, after: &dyn Source) -> Clues {
    let mut clues = Clues::default();
    let places = diagnosis.files.iter();
    clues.places = places.filter_map(|file| Some((file.repo_path()?, file.line))).collect();
    let tests = diagnosis.tests.iter();
    let messages = tests.clone().filter_map(|test| test.message.as_deref());
    let lines = diagnosis.evidence.iter().map(|line| line.text.as_str());
    let words = lines.chain(messages).flat_map(words_of).map(str::to_owned);
    clues.words = words.chain(diagnosis.lacks().cloned()).collect();
    let paths = tests.filter_map(|test| RepoPath::new(test.path.as_deref()?).ok());
    let paths: BTreeSet<RepoPath> = paths.collect();
    let mut targets: Vec<RepoPath> = paths.into_iter().collect();
    targets.retain(|path| after.listing().has_file(path.as_str()));
    for test in &targets {
        let text = after.read(test).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        clues.names.extend(failing_words(diagnosis, test, &text));
    }
    if targets.is_empty() {
        targets = clues.places.iter().map(|(path, _)| path.clone()).collect();
    }
    // Imports between a failing test and a file that it reaches.
    let nodes = Graph::new(after).imported(&targets, 6, false).nodes.into_iter();
    clues.reach = nodes.map(|node| (node.path, node.hops)).collect();
    clues
}

// The words in the bodies of a file's failing tests; in all of the file where these are not found.
fn failing_words(diagnosis: &Diagnosis, path: &RepoPath, text: &str) -> BTreeSet<String> {
    let outline = outline(path, text.as_bytes());
    let failing = outline.definitions.iter().filter(|definition| {
        let mut ids = diagnosis.tests.iter().filter_map(|test| test.id.split('[').next());
        ids.any(|bare| bare.ends_with(&*definition.name))
    });
    let mut ranges: Vec<[u32; 2]> = failing.map(|definition| definition.lines).collect();
    if ranges.is_empty() {
        ranges.push([1, u32::MAX]);
    }
    let lines = (1..).zip(text.lines()).filter(|(number, _)| {
        let mut ranges = ranges.iter();
        ranges.any(|[from, to]| (*from..=*to).contains(number))
    });
    lines.flat_map(|(_, line)| words_of(line)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Clues, rank_suspects};
    use crate::model::RepoPath;
    use crate::source::Memory;
    use crate::why::Difference;

    #[test]
    fn ranks_hunks_that_failure_names_first() {
        let path = |path: &str| RepoPath::new(path).unwrap();
        let before = Memory::named([
            ("README.md", "over_due\n"),
            ("app/far.py", "X = 1\n"),
            (
                "app/loans.py",
                "def due(a):\n    return a > 1\n\n\ndef other():\n    return 1\n",
            ),
        ]);
        let after = Memory::named([
            ("README.md", "due\n"),
            ("app/far.py", "X = 2\n"),
            (
                "app/loans.py",
                "def due(a):\n    return a >= 1\n\n\ndef other():\n    return 2\n",
            ),
        ]);
        let difference = Difference::between(&before, &after, &|_| true);
        let clues = Clues {
            reach: [(path("app/loans.py"), 1), (path("app/far.py"), 2)].into(),
            names: ["due".to_owned()].into(),
            ..Clues::default()
        };
        let ranked = rank_suspects(&difference, &clues);
        let places: Vec<String> =
            ranked.iter().map(|suspect| difference.hunks()[suspect.hunk].place()).collect();
        let expected = [
            "app/loans.py:2", "app/loans.py:6", "app/far.py:1", "README.md:1",
        ];
        assert_eq!(places, expected, "{ranked:?}");
        assert!(
            ranked[0].why.contains("a failing test names `due`"),
            "{ranked:?}"
        );
        let named = Clues {
            places: vec![(path("app/far.py"), Some(1))],
            ..clues
        };
        assert_eq!(
            difference.hunks()[rank_suspects(&difference, &named)[0].hunk].place(),
            "app/far.py:1"
        );
    }
}
