//! Fixes that the latest changes explain: they exchanged one name for another, or removed what bound a name that is
//! still used.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::Candidate;
use super::list::Question;
use super::log_file::LogFile;
use crate::git::TreeSource;
use crate::hint::{rename_name, replace_words};
use crate::languages::{Language, facts, is_word, words};
use crate::model::{FileFacts, RepoPath};
use crate::patch::{Change, FileState};
use crate::policy::is_test;
use crate::source::Source;
use crate::workplace::{Difference, Hunk, What};

/// The states with which the files are compared: uncommitted changes explain a failure before those of the last
/// commit do.
const REVISIONS: [&str; 2] = ["HEAD", "HEAD~1"];
/// Lines of one hunk that are compared with each other.
const MAX_LINES: usize = 80;

/// What changed in the product since a revision.
pub(super) struct Recent<'q> {
    question: &'q Question<'q>,
    before: TreeSource,
    difference: Difference,
    exchanges: Vec<Exchange>,
}

// A line in which one word took the place of another.
struct Exchange {
    path: RepoPath,
    /// Counted from 1, after the change.
    line: usize,
    old: String,
    new: String,
}

impl<'q> Recent<'q> {
    /// Compares the product files with the last two commits.
    pub(super) fn compare(question: &'q Question<'q>) -> Vec<Self> {
        let source = question.graph.source();
        let may_read = |path: &RepoPath| question.ask.is_none_or(|ask| (ask.may_read)(path));
        let compare = |revision: &&str| {
            let before = question.git?.tree(revision).ok()?;
            let may_change = |path: &RepoPath| !is_test(path.as_str()) && may_read(path);
            let difference = Difference::between(&before, source, &may_change);
            let exchanges = difference
                .hunks()
                .iter()
                .flat_map(|hunk| exchanges_of(&difference, hunk));
            Some(Self {
                exchanges: exchanges.collect(),
                question,
                before,
                difference,
            })
        };
        REVISIONS.iter().filter_map(compare).collect()
    }

    /// Returns the files that moved, by their new path.
    pub(super) fn moved_files(&self) -> BTreeMap<RepoPath, RepoPath> {
        let moved = self.difference.hunks().iter().filter_map(|hunk| {
            let What::Moved(from) = &hunk.what else {
                return None;
            };
            Some((hunk.path.clone(), from.clone()))
        });
        moved.collect()
    }

    /// Returns fixes for words that the failure calls missing, the likeliest first.
    pub(super) fn list_fixes(&self, missing: &BTreeSet<String>) -> Vec<Candidate> {
        let each = |fix: &dyn Fn(&str) -> Option<Candidate>| -> Vec<Candidate> {
            missing.iter().filter_map(|word| fix(word)).collect()
        };
        let mut found = each(&|word| self.put_back(word));
        found.extend(each(&|word| self.follow_rename(word)));
        found.extend(self.restore_bindings(missing));
        found.extend(each(&|word| self.keep_old_name(word)));
        found
    }

    // Puts a word back where the change wrote one that nothing has.
    fn put_back(&self, wrong: &str) -> Option<Candidate> {
        let here = || self.exchanges.iter().filter(|one| one.new == wrong);
        let right = only_one(here().map(|one| one.old.as_str()))?;
        let mut changes = Vec::new();
        for path in here().map(|one| &one.path).collect::<BTreeSet<_>>() {
            let file = LogFile::open(path.clone(), self.source())?;
            let lines = here().filter(|one| one.path == *path);
            let lines = lines.filter_map(|one| file.line(one.line));
            let places: BTreeSet<usize> = lines
                .flat_map(|range| file.words(range, wrong).collect::<Vec<_>>())
                .collect();
            let places: Vec<usize> = places.into_iter().collect();
            changes.push(file.change_to(&replace_words(&file.text, &places, wrong, right))?);
        }
        let what = format!("`{right}` again for `{wrong}`");
        Candidate::from_changes(what, changes)
    }

    // Renames what still has the old name of something that the change renamed.
    fn follow_rename(&self, old: &str) -> Option<Candidate> {
        let renamed = self.exchanges.iter().filter(|one| one.old == old);
        let new = only_one(renamed.clone().map(|one| one.new.as_str()))?;
        let language = Language::of_path(renamed.clone().next()?.path.as_str())?;
        let mut changes = Vec::new();
        for entry in self.source().listing().files() {
            let path = &entry.path;
            let is_other = Language::of_path(path.as_str()) != Some(language);
            if is_other || is_test(path.as_str()) {
                continue;
            }
            let bytes = self.source().read(path).unwrap_or_default();
            if words(&bytes, old).next().is_none() {
                continue;
            }
            let facts = self.question.graph.resolver().facts(path);
            // Others may mean this one.
            if defines(&facts, old) {
                return None;
            }
            let file = LogFile::open(path.clone(), self.source())?;
            let after = rename_name(path, &file.text, &facts, (old, new));
            changes.extend(after.and_then(|after| file.change_to(&after)));
        }
        Candidate::from_changes(format!("`{new}` for `{old}`, which was renamed,"), changes)
    }

    // Restores imports and exports that the change removed, of names that are still defined.
    fn restore_bindings(&self, missing: &BTreeSet<String>) -> Option<Candidate> {
        let hunks = self.difference.hunks().iter().enumerate();
        let lost = hunks.filter(|(_, hunk)| missing.iter().any(|word| self.unbinds(hunk, word)));
        let states = self
            .difference
            .reverted(&lost.map(|(at, _)| at).collect())
            .into_iter();
        let changes = states.map(|(path, state)| {
            let now = FileState::read(self.source(), &path);
            Change::between(path, now, state)
        });
        Candidate::from_changes("the binding that was removed".to_owned(), changes.collect())
    }

    fn unbinds(&self, hunk: &Hunk, word: &str) -> bool {
        let (gone, come) = sides_of(&self.difference, hunk);
        let holds = |lines: &[String]| {
            let mut lines = lines.iter();
            lines.any(|line| words(line.as_bytes(), word).next().is_some())
        };
        if !matches!(hunk.what, What::Lines(..)) || !holds(&gone) || holds(&come) {
            return false;
        }
        let (old, new) = self.facts_of(&hunk.path);
        let binds = |facts: &FileFacts| {
            facts.imports.iter().any(|import| import.binds(word))
                || facts.exports.iter().any(|export| export.name == word)
        };
        binds(&old) && !binds(&new) && defines(&old, word) == defines(&new, word)
    }

    // Keeps the old name of a definition beside the new one, for those outside who use it.
    fn keep_old_name(&self, old: &str) -> Option<Candidate> {
        let mut renamed = self.exchanges.iter().filter(|one| one.old == old);
        let defined = renamed.find(|one| {
            let (before, after) = self.facts_of(&one.path);
            defines(&before, old) && defines(&after, &one.new)
        })?;
        let new = &defined.new;
        let file = LogFile::open(defined.path.clone(), self.source())?;
        let is_exported = |facts: FileFacts| facts.exports.iter().any(|one| one.name == *old);
        let language = Language::of_path(file.path.as_str())?;
        let alias = if !language.declares_exports {
            format!("\n\n{old} = {new}\n")
        } else if is_exported(self.facts_of(&file.path).0) && file.text.contains("export ") {
            format!("\nexport {{ {new} as {old} }};\n")
        } else {
            return None;
        };
        let after = format!("{}\n{alias}", file.text.trim_end());
        file.make_candidate(&format!("`{old}` as another name of `{new}`"), &after)
    }

    fn facts_of(&self, path: &RepoPath) -> (FileFacts, FileFacts) {
        let [old, new] = [&self.before as &dyn Source, self.source()].map(|source| {
            let bytes = source.read(path).unwrap_or_default();
            facts(path, &bytes)
        });
        (old, new)
    }

    fn source(&self) -> &'q dyn Source {
        self.question.graph.source()
    }
}

fn defines(facts: &FileFacts, name: &str) -> bool {
    facts.definitions.iter().any(|one| one.name == name)
}

fn only_one<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let names: BTreeSet<&str> = names.collect();
    let mut names = names.into_iter();
    names.next().filter(|_| names.next().is_none())
}

// The lines that a hunk removes and those that it adds.
fn sides_of(difference: &Difference, hunk: &Hunk) -> (Vec<String>, Vec<String>) {
    let text = difference.diff(hunk, MAX_LINES);
    let side = |mark: char| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(mark));
        lines.map(str::to_owned).collect()
    };
    (side('-'), side('+'))
}

fn exchanges_of(difference: &Difference, hunk: &Hunk) -> Vec<Exchange> {
    let What::Lines(_, after) = &hunk.what else {
        return Vec::new();
    };
    let (gone, come) = sides_of(difference, hunk);
    let come = come.iter().enumerate();
    let pairs = come.flat_map(|(at, new)| gone.iter().map(move |old| (at, old, new)));
    let exchanges = pairs.filter_map(|(at, old, new)| {
        let (old, new) = exchanged_word(old, new)?;
        Some(Exchange {
            path: hunk.path.clone(),
            line: after.start + at + 1,
            old: old.to_owned(),
            new: new.to_owned(),
        })
    });
    exchanges.collect()
}

// The first words in which two lines differ, when the same stands before and behind them. A signature may have
// changed after its name.
fn exchanged_word<'l>(old: &'l str, new: &'l str) -> Option<(&'l str, &'l str)> {
    let both = old.bytes().zip(new.bytes());
    let same = both.take_while(|(a, b)| a == b).count();
    let head = old.as_bytes().get(..same)?;
    let start = same - head.iter().rev().take_while(|byte| is_word(**byte)).count();
    let word = |line: &'l str| {
        let tail = line.get(start..)?;
        let end = tail.bytes().position(|byte| !is_word(byte));
        let end = end.unwrap_or(tail.len());
        Some((tail.get(..end)?, tail.as_bytes().get(end)))
    };
    let ((old, behind_old), (new, behind_new)) = (word(old)?, word(new)?);
    let is_exchange = !old.is_empty() && !new.is_empty() && behind_old == behind_new;
    is_exchange.then_some((old, new))
}

#[cfg(test)]
mod tests {
    use super::exchanged_word;

    #[test]
    fn exchanged_word_has_same_surroundings() {
        for (old, new, expected) in [
            (
                "def total(rows):",
                "def add_up(rows, tax):",
                Some(("total", "add_up")),
            ),
            (
                "    go(job.attempts)",
                "    go(job.attemps)",
                Some(("attempts", "attemps")),
            ),
            ("import { a, b } from 'x'", "import { a } from 'x'", None),
            ("same", "same", None),
        ] {
            assert_eq!(exchanged_word(old, new), expected, "{old}");
        }
    }
}
