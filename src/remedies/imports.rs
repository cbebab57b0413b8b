use std::collections::BTreeMap;

use super::candidate::Candidate;
use super::list::MAX_TRIES;
use super::log_file::LogFile;
use crate::graph::Graph;
use crate::hint::{Answer, Ask, Fix, Wanted, answers, fix, suggest, undefined};
use crate::languages::uses;
use crate::model::{HintSource, RepoPath, Suggestion};
use crate::policy::{is_test, is_test_text};
use crate::source::Source;

/// Files that are told one by one.
const MAX_TOLD: usize = 3;

/// What may mend imports.
#[derive(Default)]
pub(super) struct Imports {
    pub(super) answers: Vec<Answer>,
    /// What is certain, in one change, as one missing name hides the next.
    pub(super) certain: Vec<Candidate>,
    /// What may be tried: where a module may have gone, an export with a similar name, the only import that is
    /// known for a name.
    pub(super) tries: Vec<Candidate>,
}

/// What may mend the imports of files that lack something. Of what looks at names alone any import is right, so
/// none is tried.
pub(super) fn imports(
    graph: &Graph<'_>,
    ask: &Ask<'_>,
    wanted: &BTreeMap<RepoPath, Wanted>,
    looks_at_names: bool,
    allows: &dyn Fn(&[u8]) -> bool,
) -> Imports {
    if wanted.is_empty() {
        return Imports::default();
    }
    let source = graph.source();
    let mut answers = answers(graph, wanted, ask);
    answers.retain(|it| (ask.may_read)(&it.file));
    let mut tries: Vec<Candidate> = Vec::new();
    let mut settled: Vec<(RepoPath, Vec<Suggestion>)> = Vec::new();
    for answer in &answers {
        let found = answer.suggestions.iter().cloned();
        let (mut certain, open): (Vec<_>, Vec<_>) = found.partition(|one| one.certain);
        certain.extend(hidden(source, graph, ask, answer));
        let found = tries_of(source, graph, &answer.file, &certain, &open);
        for (is_new, one) in found {
            let is_idle = is_new && looks_at_names;
            if !is_idle && !tries.contains(&one) {
                tries.push(one);
            }
        }
        settled.push((answer.file.clone(), certain));
    }
    let fixes = settled
        .iter()
        .filter_map(|(file, found)| Some((file.clone(), fix(graph, file, found)?)));
    let mut fixes: Vec<(RepoPath, Fix)> = fixes.collect();
    // Nothing is certain that policy would refuse.
    for (file, _) in fixes.extract_if(.., |(_, it)| !allows(it.patch.as_bytes())) {
        let of_file = answers.iter_mut().filter(|it| it.file == file);
        for one in of_file.flat_map(|it| &mut it.suggestions) {
            one.certain = false;
        }
        settled.retain(|it| it.0 != file);
    }
    let mut texts: Vec<String> = fixes
        .iter()
        .map(|(file, fixed)| format!("{} in {file}", written(file, fixed, &settled)))
        .collect();
    let more = texts.len().saturating_sub(MAX_TOLD);
    texts.truncate(MAX_TOLD);
    if more > 0 {
        texts.push(format!("the same in {more} more"));
    }
    let imports = settled.iter().flat_map(|(_, found)| found);
    let imports = imports.map(|one| (one.name.clone(), one.import_statement.clone()));
    let certain = (!texts.is_empty()).then(|| Candidate {
        certain: true,
        ..Candidate::of(texts.join("; "), fixes, imports.collect())
    });
    Imports {
        answers,
        certain: certain.into_iter().collect(),
        tries,
    }
}

// Of the answers for a file that are not certain, those that may be tried under the tests, and whether each is a
// new import. None of them changes a test: that would hide what it does not mend.
fn tries_of(
    source: &dyn Source,
    graph: &Graph<'_>,
    file: &RepoPath,
    certain: &[Suggestion],
    open: &[Suggestion],
) -> Vec<(bool, Candidate)> {
    let mut found = Vec::new();
    let text = source.read(file).unwrap_or_default();
    // What only has to be there, as a word of the standard library, passes nearly any test.
    let is_put_to_use = |one: &Suggestion| {
        let used = uses(file, &text, &one.name);
        one.replaces.is_some() || used.is_some_and(|it| it.called || !it.members.is_empty())
    };
    let (spellings, imports): (Vec<_>, Vec<_>) = may_be_tried(certain, open)
        .into_iter()
        .partition(|one| one.import_statement.is_empty());
    let respelled = respelled(source, file, &spellings).filter(|_| !is_test(file.as_str()));
    found.extend(respelled.map(|one| (false, one)));
    for one in imports {
        if found.len() >= MAX_TRIES {
            break;
        }
        let outside = matches!(one.source, HintSource::Stdlib | HintSource::Manifest);
        if outside && !is_put_to_use(one) {
            continue;
        }
        let text = source.read(file).unwrap_or_default();
        if is_test(file.as_str()) || is_test_text(file.as_str(), &text) {
            continue;
        }
        if let Some(fixed) = fix(graph, file, std::slice::from_ref(one)) {
            let what = format!("{} in {file}", one.import_statement);
            let rivals = open.iter().filter(|it| it.name == one.name).count() > 1;
            let imports = [(one.name.clone(), one.import_statement.clone())];
            let candidate = Candidate {
                must_fix: one.source == HintSource::Similar || rivals,
                ..Candidate::of(what, vec![(file.clone(), fixed)], imports.into())
            };
            found.push((one.replaces.is_none(), candidate));
        }
    }
    found
}

// All at once: the commands pass only when none of them is left.
fn respelled(source: &dyn Source, file: &RepoPath, all: &[&Suggestion]) -> Option<Candidate> {
    let place = LogFile::of(file.clone(), source)?;
    let mut after = place.text.clone();
    for one in all {
        after = place.respelled(&after, &one.name, &one.imported)?;
    }
    let rows = all
        .iter()
        .map(|it| format!("`{}` for `{}`", it.imported, it.name));
    let one = place.heal(&rows.collect::<Vec<_>>().join(", "), &after, true)?;
    let names = all.iter().map(|it| (it.name.clone(), String::new()));
    Some(Candidate {
        imports: names.collect(),
        ..one
    })
}

// What a fix binds, each by its statement.
fn written(file: &RepoPath, fixed: &Fix, settled: &[(RepoPath, Vec<Suggestion>)]) -> String {
    let rows = settled.iter().filter(|(path, _)| path == file);
    let rows = rows.flat_map(|(_, found)| found);
    let named = rows.filter(|it| fixed.names.contains(&it.name));
    let mut imports: Vec<&str> = named.map(|it| it.import_statement.as_str()).collect();
    imports.sort_unstable();
    imports.dedup();
    imports.join(", ")
}

// Certain imports of names that are missing behind those that the failure names.
fn hidden(
    source: &dyn Source,
    graph: &Graph<'_>,
    ask: &Ask<'_>,
    answer: &Answer,
) -> Vec<Suggestion> {
    let lacks = &answer.wanted.names;
    if lacks.is_empty() {
        return Vec::new();
    }
    let bytes = source.read(&answer.file).unwrap_or_default();
    let mut names = undefined(&answer.file, &bytes);
    names.retain(|name| !lacks.contains(name));
    let query = ask.query(&answer.file, &names);
    let mut found = suggest(graph, &query);
    found.retain(|one| one.certain);
    found
}

// Of names for which nothing is certain. Where two definitions bear the name, only a person or a
// model can tell which is meant: tests that pass with one may pass with the other.
fn may_be_tried<'s>(certain: &[Suggestion], open: &'s [Suggestion]) -> Vec<&'s Suggestion> {
    let settled = |one: &Suggestion| certain.iter().any(|it| it.name == one.name);
    let rivals = |one: &Suggestion| {
        open.iter()
            .filter(|it| it.name == one.name && it.source != HintSource::Similar)
            .filter(|it| it.replaces.is_none() && it.path != one.path)
            .count()
    };
    // An export that is gone, and of which two files have one by the name.
    let has_rival = |one: &Suggestion| {
        let same = |other: &&Suggestion| {
            (&other.name, &other.imported, &other.replaces)
                == (&one.name, &one.imported, &one.replaces)
        };
        let mut others = open.iter().filter(same);
        one.imported != "*" && others.any(|it| it.path != one.path)
    };
    open.iter()
        .filter(|one| !settled(one))
        .filter(|one| match (&one.replaces, one.source) {
            // A file next door in place of an alias would hide that the alias is wrong.
            (Some(alias), _) => {
                let kind = alias.starts_with('.') || !one.module.starts_with('.');
                kind && !has_rival(one)
            }
            // Of two names at hand that are as near, neither is meant more.
            (None, HintSource::Similar) => {
                let mut like = open.iter().filter(|it| it.name == one.name);
                one.import_statement.is_empty()
                    && like.next() == Some(*one)
                    && like.all(|it| !it.import_statement.is_empty())
            }
            (None, _) => rivals(one) == 0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::imports;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::graph::Graph;
    use crate::hint::{Ask, lacked};
    use crate::source::{Installed, Memory, Source};

    // The lines that the tries for a log about one file would add.
    fn tried(path: &str, text: &str, log: &str) -> Vec<String> {
        let core = "def helper(x):\n    return x\n";
        let files = [(path, text), ("pkg/core.py", core), ("pkg/__init__.py", "")];
        let source = Memory::named(files);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        let ask = Ask {
            known: &[],
            installed: &Installed::default(),
            may_read: &|_| true,
        };
        let wanted = lacked(&source, &diagnosis);
        let graph = Graph::new(&source);
        let tries = imports(&graph, &ask, &wanted, false, &|_| true).tries;
        let added = tries.iter().map(|heal| {
            assert!(heal.must_fix, "{}", heal.what);
            let added = heal.added();
            added
                .iter()
                .map(|it| it.trim())
                .collect::<Vec<_>>()
                .join("|")
        });
        added.collect()
    }

    #[test]
    fn a_spelling_that_the_file_has_at_hand_is_tried_and_never_in_a_test() {
        let missing = |path: &str, name: &str| {
            format!("E   NameError: name '{name}' is not defined\n\n{path}:5: NameError\n")
        };
        let use_of = |name: &str| {
            format!(
                "from .core import helper\n\n\ndef run(rows):\n    return {name}(rows), {name}\n"
            )
        };
        for (path, name, expected) in [
            ("pkg/use.py", "helpr", &["return helper(rows), helper"][..]),
            ("pkg/use.py", "sm", &["return sum(rows), sum"]),
            ("pkg/use.py", "rws", &["return rows(rows), rows"]),
            ("tests/test_use.py", "helpr", &[]),
            ("pkg/use.py", "frobnicate", &[]),
        ] {
            let found = tried(path, &use_of(name), &missing(path, name));
            assert_eq!(found, expected, "{path} {name}");
        }
        let both = "from .core import helper\n\n\ndef run(rows):\n    return helpr(sm(rows))\n";
        let log = ["helpr", "sm"]
            .map(|name| missing("pkg/use.py", name))
            .concat();
        assert_eq!(
            tried("pkg/use.py", both, &log),
            ["return helper(sum(rows))"]
        );
        let two = "from .core import helper, helpes\n\n\ndef run(y):\n    return helpe(y)\n";
        let found = tried("pkg/use.py", two, &missing("pkg/use.py", "helpe"));
        assert!(found.is_empty(), "{found:?}");
    }
}
