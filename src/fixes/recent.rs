//! Fixes that the latest changes explain: they exchanged one name for another, or removed what bound a name that is
//! still used.

use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::list::Question;
use super::log_file::product_files;
use crate::git::TreeSource;
use crate::hint::rename_name;
use crate::languages::{Language, facts, words};
use crate::model::{FileFacts, RepoPath};
use crate::patch::{Change, FileState};
use crate::policy::is_test;
use crate::source::Source;
use crate::workplace::{Difference, Hunk, What};

/// The states with which the files are compared: uncommitted changes explain a failure before those of the last
/// commit do.
const REVISIONS: [&str; 2] = ["HEAD", "HEAD~1"];

/// What changed in the product since a revision.
pub(super) struct Recent<'q> {
    question: &'q Question<'q>,
    before: TreeSource,
    difference: Difference,
}

impl<'q> Recent<'q> {
    /// Compares the product files with the last two commits.
    pub(super) fn compare(question: &'q Question<'q>) -> Vec<Self> {
        let source = question.graph.source();
        let may_read = question.ask.may_read;
        let may_change = |path: &RepoPath| !is_test(path.as_str()) && may_read(path);
        let tree = |revision: &&str| question.git?.tree(revision).ok();
        let before = REVISIONS.iter().filter_map(tree);
        let compared = before.map(|before| Self {
            difference: Difference::between(&before, source, &may_change),
            question,
            before,
        });
        compared.collect()
    }

    /// Returns fixes for words that the failure calls missing, the likeliest first.
    pub(super) fn list_fixes(&self, missing: &BTreeSet<String>) -> Vec<Candidate> {
        let wrote = |hunk: &Hunk| {
            let words = self.difference.exchanged_words(hunk);
            words.iter().any(|(_, new)| missing.contains(new))
        };
        let unbinds = |hunk: &Hunk| missing.iter().any(|word| self.unbinds(hunk, word));
        let mut found = Vec::from_iter(self.revert("the former name", wrote));
        found.extend(missing.iter().filter_map(|word| self.follow_rename(word)));
        found.extend(self.revert("the import or export that was removed", unbinds));
        found
    }

    // Reverts some hunks.
    fn revert(&self, what: &str, is_meant: impl Fn(&Hunk) -> bool) -> Option<Candidate> {
        let hunks = self.difference.hunks().iter().enumerate();
        let meant = hunks.filter(|(_, hunk)| is_meant(hunk));
        let states = self.difference.reverted(&meant.map(|(at, _)| at).collect());
        let changes = states.into_iter().map(|(path, state)| {
            let now = FileState::read(self.question.graph.source(), &path);
            Change::between(path, now, state)
        });
        Candidate::from_changes(what.to_owned(), changes.collect())
    }

    // Renames what still has the old name of something that was renamed.
    fn follow_rename(&self, old: &str) -> Option<Candidate> {
        let hunks = self.difference.hunks().iter();
        let mut pairs = hunks.flat_map(|hunk| {
            let words = self.difference.exchanged_words(hunk);
            let renamed = words.into_iter().filter(|(gone, _)| gone == old);
            renamed.map(|(_, new)| (new, Language::of_path(hunk.path.as_str())))
        });
        let (new, language) = pairs.next()?;
        let is_clear = pairs.all(|(other, _)| other == new);
        let is_meant = |path: &str| Language::of_path(path) == language;
        let resolver = self.question.graph.resolver();
        let mut changes = Vec::new();
        for file in product_files(self.question.graph.source(), is_meant) {
            if words(file.text.as_bytes(), old).next().is_none() {
                continue;
            }
            let facts = resolver.facts(&file.path);
            // Others may mean this one.
            if !is_clear || defines(&facts, old) {
                return None;
            }
            let after = rename_name(&file.path, &file.text, &facts, (old, &new));
            changes.extend(after.and_then(|after| file.change_to(&after)));
        }
        Candidate::from_changes(format!("`{new}` for `{old}`, which was renamed,"), changes)
    }

    // Whether a hunk removes an import or export of a word whose definition it leaves.
    fn unbinds(&self, hunk: &Hunk, word: &str) -> bool {
        let (gone, come) = self.difference.sides(hunk);
        let holds = |lines: &[String]| {
            let mut lines = lines.iter();
            lines.any(|line| words(line.as_bytes(), word).next().is_some())
        };
        if !matches!(hunk.what, What::Lines(..)) || !holds(&gone) || holds(&come) {
            return false;
        }
        let sources = [&self.before as &dyn Source, self.question.graph.source()];
        let [old, new] = sources.map(|source| {
            let bytes = source.read(&hunk.path).unwrap_or_default();
            facts(&hunk.path, &bytes)
        });
        let binds = |facts: &FileFacts| {
            facts.imports.iter().any(|import| import.binds(word))
                || facts.exports.iter().any(|export| export.name == word)
        };
        binds(&old) && !binds(&new) && defines(&old, word) == defines(&new, word)
    }
}

fn defines(facts: &FileFacts, name: &str) -> bool {
    facts.definitions.iter().any(|one| one.name == name)
}
