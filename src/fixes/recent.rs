//! Fixes that the latest changes explain: they exchanged one name for another, or removed what bound a name that is
//! still used.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{Candidate, name_lines};
use super::list::Question;
use super::log_file::product_files;
use crate::git::TreeSource;
use crate::graph::Graph;
use crate::hint::rename_name;
use crate::languages::{Language, words};
use crate::model::{FileFacts, RepoPath};
use crate::policy::is_test;
use crate::source::Source;
use crate::workplace::{Difference, Hunk, What, changes_to};

/// The states with which the files are compared: uncommitted changes come first, then the last commit, then older
/// ones. Of older ones only renames are followed, because an import that they removed may have been unused. The steps
/// back are those of `mendit why` without the largest.
const REVISIONS: [&str; 5] = ["HEAD", "HEAD~1", "HEAD~2", "HEAD~4", "HEAD~16"];

// The new names of words, by the old ones.
type Renames = BTreeMap<String, String>;

/// Returns fixes for words that the failure calls missing, the likeliest first.
pub(super) fn recent_fixes(
    question: &Question<'_>,
    missing: &BTreeSet<String>,
    renamed: &mut Renames,
) -> Vec<Candidate> {
    let compare = |steps: usize, revision: &str| {
        let before = question.git?.tree(revision).ok()?;
        let may_change = |path: &RepoPath| !is_test(path.as_str()) && (question.ask.may_read)(path);
        let difference = Difference::between(&before, question.graph.source(), &may_change);
        // Larger differences explain too much.
        let is_small = difference.hunks().len() <= 1_000;
        is_small.then(|| Recent {
            question,
            before,
            difference,
            is_latest: steps < 2,
        })
    };
    let mut found = Vec::new();
    for (steps, revision) in REVISIONS.iter().enumerate() {
        if !missing.is_empty() && (steps < 2 || found.is_empty()) {
            let recent = compare(steps, revision).into_iter();
            found.extend(recent.flat_map(|recent| recent.list_fixes(missing, renamed)));
        }
    }
    found
}

// What changed in the product since a revision.
struct Recent<'q> {
    question: &'q Question<'q>,
    before: TreeSource,
    difference: Difference,
    is_latest: bool,
}

impl Recent<'_> {
    fn list_fixes(&self, missing: &BTreeSet<String>, renamed: &mut Renames) -> Vec<Candidate> {
        let hunks = self.difference.hunks().iter();
        let exchanged = hunks.flat_map(|hunk| {
            let words = self.difference.exchanged_words(hunk).into_iter();
            words.map(move |(old, new)| (hunk, old, new))
        });
        let exchanged: Vec<_> = exchanged.collect();
        let slips: Vec<_> = exchanged.iter().filter(|(_, _, new)| missing.contains(new)).collect();
        let slipped = slips.iter().map(|(_, old, new)| format!("change `{new}` back to `{old}`"));
        let slipped = Vec::from_iter(slipped.collect::<BTreeSet<_>>()).join(", ");
        let is_slip = |hunk: &Hunk| self.is_latest && slips.iter().any(|(at, ..)| *at == hunk);
        let mut found = Vec::from_iter(self.revert(&slipped, is_slip));
        for old in missing {
            let mut others = exchanged.iter().filter(|(_, gone, _)| gone == old);
            let first = others.next();
            // One name has one new name.
            let first = first.filter(|(_, _, new)| others.all(|(_, _, other)| other == new));
            if let Some((hunk, _, new)) = first {
                renamed.insert(old.clone(), new.clone());
                found.extend(self.follow_rename(hunk, old, new));
            }
        }
        let is_meant = |hunk: &Hunk| missing.iter().any(|word| self.unbinds(hunk, word));
        let hunks = self.difference.hunks().iter().filter(|hunk| is_meant(hunk));
        // `export * from` names nothing of what it passes on.
        let names =
            |line: &String| line.contains('*') || missing.iter().any(|word| line.contains(word));
        let gone = hunks.flat_map(|hunk| {
            self.difference
                .sides(hunk)
                .0
                .into_iter()
                .filter(names)
                .map(|line| (&hunk.path, line))
        });
        let what = format!("put back {}", name_lines(gone));
        found.extend(self.revert("", is_meant).map(|fix| Candidate { what, ..fix }));
        found
    }

    // Reverts some hunks.
    fn revert(&self, what: &str, is_meant: impl Fn(&Hunk) -> bool) -> Option<Candidate> {
        let hunks = self.difference.hunks().iter().enumerate();
        let (mut meant, others): (Vec<_>, Vec<_>) = hunks.partition(|(_, hunk)| is_meant(hunk));
        let sides = |hunk: &Hunk| self.difference.sides(hunk);
        let restored: Vec<_> = meant.iter().map(|(_, hunk)| (&hunk.path, sides(hunk).0)).collect();
        // Lines that were added again elsewhere in the file would be there twice.
        meant.extend(others.into_iter().filter(|(_, hunk)| {
            let (gone, come) = sides(hunk);
            let mut moved = restored.iter().filter(|(path, _)| **path == hunk.path);
            gone.is_empty() && moved.any(|(_, lines)| come.iter().all(|line| lines.contains(line)))
        }));
        let states = self.difference.reverted(&meant.iter().map(|(at, _)| *at).collect());
        Candidate::from_changes(what, changes_to(states, self.question.graph.source()))
    }

    // Renames what still has the old name of something that a hunk renamed.
    fn follow_rename(&self, hunk: &Hunk, old: &str, new: &str) -> Option<Candidate> {
        let language = Language::of_path(hunk.path.as_str())?;
        let graph = self.question.graph;
        let (mut imported, mut others) = (Vec::new(), Vec::new());
        let mut uses = 0;
        for file in product_files(graph.source(), |path: &str| {
            Language::of_path(path) == Some(language)
        }) {
            uses += words(file.text.as_bytes(), new).count();
            if words(file.text.as_bytes(), old).next().is_none() {
                continue;
            }
            let facts = graph.resolver().facts(&file.path);
            // Others may mean this one.
            if defines(&facts, old) {
                return None;
            }
            let mut names = facts.imports.iter().flat_map(|import| &import.names);
            let is_imported = file.path == hunk.path || names.any(|one| one.name == old);
            let after = rename_name(&file.path, &file.text, &facts, (old, new));
            let change = after.and_then(|after| file.change_to(&after));
            if is_imported { &mut imported } else { &mut others }.extend(change);
        }
        // A name that is imported is no member: `Math.round`.
        let changes = if imported.is_empty() { others } else { imported };
        let what = format!("rename `{old}` to `{new}`");
        // Beside the definition itself.
        let is_expected = uses > 1 || self.is_in_tests(new);
        Candidate::from_changes(&what, changes).map(|fix| Candidate { is_expected, ..fix })
    }

    fn is_in_tests(&self, name: &str) -> bool {
        let source = self.question.graph.source();
        let files = source.listing().files().map(|file| &file.path);
        let may_read = self.question.ask.may_read;
        let mut tests = files.filter(|path| is_test(path.as_str()) && may_read(path));
        tests.any(|path| source.read(path).is_ok_and(|text| words(&text, name).next().is_some()))
    }

    // Whether a hunk of the latest changes removes an import or export of a word whose definition it leaves.
    fn unbinds(&self, hunk: &Hunk, word: &str) -> bool {
        let gone = self.difference.sides(hunk).0;
        // `export * from "./a"` names nothing of what it passes on.
        let is_star = gone.iter().any(|line| line.contains('*'));
        let holds =
            is_star || gone.iter().any(|line| words(line.as_bytes(), word).next().is_some());
        if !self.is_latest || !matches!(hunk.what, What::Lines(..)) || !holds {
            return false;
        }
        let sources = [&self.before as &dyn Source, self.question.graph.source()];
        let [(binds_old, old), (binds_new, new)] = sources.map(|source| {
            let graph = Graph::new(source);
            let facts = graph.resolver().facts(&hunk.path);
            let binds = facts.imports.iter().any(|import| import.binds(word))
                || facts.exports.iter().any(|export| export.name == word)
                || is_star && graph.defining(&hunk.path, word).is_some();
            let is_lost = self.question.graph.has_lost(&hunk.path, &facts.imports, word);
            (binds && !is_lost, defines(&facts, word))
        });
        binds_old && !binds_new && old == new
    }
}

fn defines(facts: &FileFacts, name: &str) -> bool {
    facts.definitions.iter().any(|one| one.name == name)
}
